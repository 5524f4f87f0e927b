// Answers requests with a handler: what it returns, or the error that it throws.
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';
import type { Log } from '../observe/log.ts';
import type { Connection, Exchange } from './connection.ts';
import { type HttpRequest, NodeRequest, type RequestContext } from './request.ts';
import { errorResponse, type HttpResponse, type ResponseObserver } from './response.ts';
import { writeResponse } from './write.ts';

/** The maximum of a request. A short header takes ten times its bytes in memory. */
export const MAX_HEADERS = 100;
/** In characters, each of which is a byte. */
const MAX_URL = 8_192;

export type Handle = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/**
 * Returns a function that answers a request with a handler, and returns what is to be called when
 * the response is taken or cannot be sent.
 */
export function createResponder(
  handle: Handle,
  parts: { context: RequestContext; isDraining: () => boolean; log: Log },
) {
  const { context, isDraining, log } = parts;

  async function answer(
    request: NodeRequest,
    connection: Connection,
    exchange: Exchange,
  ): Promise<void> {
    const { incoming, outgoing } = exchange;
    const { requestId } = request;
    // Asked before and after the response is written.
    const closing = () => isDraining() || request.awaitsContinue;
    let observer: ResponseObserver | undefined;
    try {
      const refused = isTooLarge(incoming) ? 431 : lacksHost(incoming) ? 400 : undefined;
      // node:http drops what is beyond its limit, such as the body's length.
      if (refused === 431) connection.stop();
      const made =
        refused === undefined
          ? await respond(handle, request, log)
          : { ...errorResponse('BAD_REQUEST', requestId), status: refused };
      request.handled();
      observer = made.observer;
      if (typeof made.body !== 'function') request.takes(made.body.length);
      await writeResponse(connection, exchange, made, requestId, closing);
    } catch (error) {
      log.error({ requestId, err: error }, 'a response failed');
      observer?.ended(0, false);
      if (outgoing.headersSent) outgoing.destroy();
      else {
        const made = errorResponse('INTERNAL_SERVER_ERROR', requestId);
        await writeResponse(connection, exchange, made, requestId, () => true);
      }
    }
  }

  return (connection: Connection, exchange: Exchange): (() => void) => {
    const request = new NodeRequest(exchange, connection, context);
    void answer(request, connection, exchange);
    return () => request.end();
  };
}

/** What the handler returns, or the error that it throws. Never rejects. */
async function respond(handle: Handle, request: HttpRequest, log: Log): Promise<HttpResponse> {
  const { requestId, method } = request;
  try {
    return await handle(request);
  } catch (error) {
    if (error instanceof ApiError)
      return { ...errorResponse(error.code, requestId), status: error.status };
    log.error({ requestId, method, err: error }, 'a request failed');
    return errorResponse('INTERNAL_SERVER_ERROR', requestId);
  }
}

/** `rawHeaders` has names and values. */
function isTooLarge({ rawHeaders, url = '' }: IncomingMessage): boolean {
  return rawHeaders.length > 2 * MAX_HEADERS || url.length > MAX_URL;
}

/** HTTP/1.1 requires `host` (RFC 9112, section 3.2). node:http itself would not answer in JSON. */
function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}
