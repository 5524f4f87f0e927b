// A plain view of node:http's request: path, ID, client address and a bounded body.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../errors.ts';
import { hasSecret } from '../observe/secrets.ts';
import { clientAddress, type createTrust } from './address.ts';
import { readBody } from './body.ts';
import type { RequestHeaders } from './headers.ts';

export type HttpRequest = {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** The query string with its `?`, or empty. */
  readonly search: string;
  readonly headers: RequestHeaders;
  /** The client's address: the socket's, or the one that a trusted proxy reports. */
  readonly address: string;
  /** 1 to 128 characters of `[A-Za-z0-9._-]`, without a key or token. */
  readonly requestId: string;
  /** Aborts if the client goes away before the whole response is sent. */
  readonly signal: AbortSignal;
  /**
   * Reads the whole body; call it once. Rejects with an ApiError: PAYLOAD_TOO_LARGE above
   * `limitBytes`, BAD_REQUEST if the client stops early.
   */
  body(limitBytes: number): Promise<Buffer>;
};

/** What all requests of a server share. */
export type RequestContext = { newId: () => string; trusted: ReturnType<typeof createTrust> };

const CALLER_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Computes the address and the signal on first use: most requests need neither. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: RequestHeaders;
  readonly requestId: string;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
  private readonly incoming: IncomingMessage;
  private readonly outgoing: ServerResponse | undefined;
  private readonly context: RequestContext;
  private controller: AbortController | undefined = undefined;

  /** `outgoing` is undefined for CONNECT: node:http gives it neither a body nor a response. */
  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse | undefined,
    context: RequestContext,
    awaitsContinue: boolean,
  ) {
    const { url = '/', method = '', headers } = incoming;
    const target = url.charCodeAt(0) === 47 ? url : originForm(url);
    const mark = target.indexOf('?');
    const id = headers['x-request-id'];
    this.method = method;
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.search = mark === -1 ? '' : target.slice(mark);
    this.headers = headers;
    this.requestId = typeof id === 'string' && isUsableId(id) ? id : context.newId();
    this.awaitsContinue = awaitsContinue;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.context = context;
  }

  get address(): string {
    const forwardedFor = this.headers['x-forwarded-for'];
    return clientAddress(
      this.incoming.socket.remoteAddress,
      typeof forwardedFor === 'string' ? forwardedFor : undefined,
      this.context.trusted,
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
    if (Number(this.headers['content-length']) > limitBytes)
      return Promise.reject(new ApiError('PAYLOAD_TOO_LARGE'));
    if (this.awaitsContinue) {
      this.awaitsContinue = false;
      outgoing?.writeContinue();
    }
    return outgoing === undefined
      ? Promise.resolve(Buffer.alloc(0))
      : readBody(incoming, limitBytes);
  }
}

/**
 * Path and query of a target that does not start with a slash: an absolute URL (RFC 9112, section
 * 3.2.2), `*`, or the authority of a CONNECT request.
 */
function originForm(target: string): string {
  if (!URL.canParse(target)) return target;
  const { pathname, search } = new URL(target);
  return pathname + search;
}

/** Some callers paste a secret there, which must not be repeated. */
function isUsableId(id: string): boolean {
  return CALLER_ID.test(id) && !hasSecret(id);
}
