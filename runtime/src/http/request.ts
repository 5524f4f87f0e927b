// A plain request made of node:http's: path, id, client address and a bounded body.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../errors.ts';
import { clientAddress, type createTrust } from './address.ts';
import { HEADERS } from './headers.ts';

export type HttpRequest = {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** The query string with its `?`, or empty. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** The client's address: the socket's, or what a trusted proxy says it is. */
  readonly address: string;
  readonly requestId: string;
  /** Aborts when the client goes away before the answer is out. */
  readonly signal: AbortSignal;
  /** The whole body. Call it once. Rejects with a Failure: PAYLOAD_TOO_LARGE over `limitBytes`, BAD_REQUEST where the client stops early. */
  body(limitBytes: number): Promise<Buffer>;
};

/** What a server gives to all its requests. */
export type RequestOrigin = { newId: () => string; trusted: ReturnType<typeof createTrust> };

const CALLERS_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Address and signal are made when first asked for: most requests need neither. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** Set where the client waits for a word before it sends the body. */
  awaitsContinue: boolean;
  private readonly incoming: IncomingMessage;
  private readonly outgoing: ServerResponse | undefined;
  private readonly origin: RequestOrigin;
  private controller: AbortController | undefined = undefined;

  /** `outgoing` is undefined for CONNECT, which has neither body nor answer of its own in node:http. */
  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse | undefined,
    origin: RequestOrigin,
    awaitsContinue: boolean,
  ) {
    const { url = '/', method = '', headers } = incoming;
    const target = url.charCodeAt(0) === 47 ? url : originForm(url);
    const mark = target.indexOf('?');
    const id = headers[HEADERS.requestId.name];
    this.method = method;
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.search = mark === -1 ? '' : target.slice(mark);
    this.headers = headers;
    this.requestId = typeof id === 'string' && CALLERS_ID.test(id) ? id : origin.newId();
    this.awaitsContinue = awaitsContinue;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.origin = origin;
  }

  get address(): string {
    const forwardedFor = this.headers[HEADERS.forwardedFor.name];
    return clientAddress(
      this.incoming.socket.remoteAddress,
      typeof forwardedFor === 'string' ? forwardedFor : undefined,
      this.origin.trusted,
    );
  }

  get signal(): AbortSignal {
    if (this.controller !== undefined) return this.controller.signal;
    const { outgoing } = this;
    const controller = new AbortController();
    this.controller = controller;
    if (outgoing?.destroyed) controller.abort();
    outgoing?.once('close', () => {
      if (!outgoing.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  body(limitBytes: number): Promise<Buffer> {
    const { incoming, outgoing } = this;
    if (Number(this.headers[HEADERS.contentLength.name]) > limitBytes)
      return Promise.reject(new ApiError('PAYLOAD_TOO_LARGE'));
    if (this.awaitsContinue) {
      this.awaitsContinue = false;
      outgoing?.writeContinue();
    }
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      let length = 0;
      incoming.on('data', (piece: Buffer) => {
        length += piece.length;
        if (length <= limitBytes) pieces.push(piece);
        else reject(new ApiError('PAYLOAD_TOO_LARGE'));
      });
      incoming.on('end', () =>
        resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)),
      );
      incoming.on('error', () => reject(new ApiError('BAD_REQUEST')));
      if (outgoing === undefined) resolve(Buffer.alloc(0));
    });
  }
}

/** Path and query of a target that does not start with a slash: an absolute address (RFC 9112, 3.2.2), `*`, or what CONNECT sends. */
function originForm(target: string): string {
  if (!URL.canParse(target)) return target;
  const { pathname, search } = new URL(target);
  return pathname + search;
}
