// node:http on one side, plain request and reply on the other: request ids, limits, client addresses, and answers to hostile HTTP.
import type { IncomingHttpHeaders } from 'node:http';
import { ERRORS, type ErrorCode } from './errors.ts';
import type { Log } from './log.ts';

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
  /** Aborts when the client goes away before the answer is out. Made when first asked for. */
  readonly signal: AbortSignal;
  /** The whole body. Call it once. Rejects with a Failure: PAYLOAD_TOO_LARGE over `limitBytes`, BAD_REQUEST where the client stops early. */
  body(limitBytes: number): Promise<Buffer>;
};

export type HttpReply = {
  status: number;
  /** Lower-case names. content-length and x-request-id are added; content-type (JSON), cache-control and nosniff where they are missing. */
  headers: Record<string, string>;
  /** The whole body, or a function that writes it piece by piece and resolves when it is done. */
  body: string | Buffer | ((write: (piece: string) => void) => Promise<void>);
};

export type HttpServer = {
  port: number;
  /** Stops accepting, lets what runs finish, resolves when every connection is closed. */
  drain(): Promise<void>;
  /** Closes every connection at once. */
  close(): Promise<void>;
};

/** Listens, and answers each request with what `handle` returns. A throwing handler makes a 500. Rejects where the port is taken. */
export async function serveHttp(_options: {
  port: number;
  host: string;
  handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>;
  /** CIDR ranges whose x-forwarded-for is believed. */
  trustedProxies: readonly string[];
  log: Log;
}): Promise<HttpServer> {
  throw new Error('not written yet');
}

/** The body of a refusal, in GraphQL's shape. `extra` stands at the top level and in `extensions`. */
export function errorBody(
  code: ErrorCode,
  requestId: string,
  extra?: Record<string, unknown>,
  message: string = ERRORS[code].message,
): string {
  return JSON.stringify({ errors: [{ message, extensions: { code, requestId, ...extra } }], ...extra });
}

/** A refusal with the status and text of its code. `headers` are sent too. */
export function errorReply(code: ErrorCode, requestId: string, headers: Record<string, string> = {}): HttpReply {
  return { status: ERRORS[code].status, headers, body: errorBody(code, requestId) };
}
