// Answers requests with what the handler returns, and failures with an error.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Drain } from './connections.ts';
import type { Overload } from './overload.ts';
import type { PendingResponses } from './pending.ts';
import { type HttpRequest, NodeRequest, type RequestContext } from './request.ts';
import { errorResponse, type HttpResponse, type ResponseObserver } from './response.ts';
import { writeRawResponse, writeResponse } from './write.ts';

export type Handle = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** Turns node:http's events into calls of a handler. */
export type Responder = {
  /** `awaitsContinue`: the client sends the body only after `100 Continue`. */
  request(incoming: IncomingMessage, outgoing: ServerResponse, awaitsContinue: boolean): void;
  connect(incoming: IncomingMessage, socket: Duplex): void;
};

export function createResponder(
  handle: Handle,
  parts: {
    context: RequestContext;
    drain: Drain;
    pending: PendingResponses;
    /** Undefined if this server serves every request, even under overload. */
    overload: Overload | undefined;
    metrics: Pick<Metrics, 'shed'> | undefined;
    log: Log;
  },
): Responder {
  const { context, drain, pending, overload, metrics, log } = parts;
  const respond = createRespond(handle, log);

  async function answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    awaitsContinue: boolean,
  ): Promise<void> {
    const request = new NodeRequest(incoming, outgoing, context, awaitsContinue);
    const { requestId } = request;
    // Asked before and after the response is written.
    const closing = () => drain.begun() || request.awaitsContinue;
    drain.used(incoming.socket);
    if (overload?.sheds()) {
      metrics?.shed();
      log.outage({ reason: 'overload' }, 'a request was refused');
      const made = errorResponse('SERVICE_UNAVAILABLE', requestId);
      return writeResponse(incoming, outgoing, made, requestId, closing);
    }
    overload?.begin();
    let observer: ResponseObserver | undefined;
    try {
      const made = lacksHost(incoming)
        ? errorResponse('BAD_REQUEST', requestId)
        : await respond(request);
      observer = made.observer;
      if (typeof made.body !== 'function') pending.wrote(made.body.length);
      await writeResponse(incoming, outgoing, made, requestId, closing);
    } catch (error) {
      log.error({ requestId, err: error }, 'a response failed');
      observer?.ended(0, false);
      if (outgoing.headersSent) outgoing.destroy();
      else {
        const made = errorResponse('INTERNAL_SERVER_ERROR', requestId);
        await writeResponse(incoming, outgoing, made, requestId, () => true);
      }
    } finally {
      overload?.end();
    }
  }

  async function respondToConnect(incoming: IncomingMessage, socket: Duplex): Promise<void> {
    const request = new NodeRequest(incoming, undefined, context, false);
    const made = await respond(request);
    const body = typeof made.body === 'function' ? '' : String(made.body);
    writeRawResponse(socket, { ...made, body }, request.requestId);
  }

  return {
    request: (incoming, outgoing, awaitsContinue) =>
      void answer(incoming, outgoing, awaitsContinue),
    connect: (incoming, socket) => void respondToConnect(incoming, socket),
  };
}

/** Calls the handler, and turns what it throws into an error. Never rejects. */
function createRespond(handle: Handle, log: Log): (request: HttpRequest) => Promise<HttpResponse> {
  return async (request) => {
    const { requestId, method } = request;
    try {
      return await handle(request);
    } catch (error) {
      if (error instanceof ApiError) return errorResponse(error.code, requestId);
      log.error({ requestId, method, err: error }, 'a request failed');
      return errorResponse('INTERNAL_SERVER_ERROR', requestId);
    }
  };
}

/** HTTP/1.1 requires `host` (RFC 9112, section 3.2). node:http itself would not answer in JSON. */
function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}
