// Plain HTTP responses, and errors in GraphQL form.

import { ERRORS, type ErrorCode, extensionsOf } from '../errors.ts';
import type { ResponseHeaders } from './headers.ts';

export type HttpResponse = {
  status: number;
  /**
   * Lower-case names. content-length and x-request-id are added; so are content-type (JSON),
   * cache-control (no-store) and x-content-type-options (nosniff) if they are missing.
   */
  headers: Readonly<ResponseHeaders>;
  /** The whole body, or a function that writes it in pieces and resolves after the last one. */
  body: string | Buffer | ((write: (piece: string) => void) => Promise<void>);
  /**
   * Whether the connection ends with it: what arrives is discarded, and the requests behind this
   * one get no response. It goes on if it is a trusted proxy's, which other clients share.
   */
  closes?: boolean;
  /** Whether the connection is closed instead, without a response. */
  isDropped?: boolean | undefined;
  /** Called once, when the response is sent or cannot be sent any more. */
  observer?: ResponseObserver;
};

export type ResponseObserver = {
  /**
   * `bytes` is the length of the body that was handed over to the socket. `isWhole` is false if the
   * client had closed the connection before all of the response was.
   */
  ended(bytes: number, isWhole: boolean): void;
};

/** The body of an error in GraphQL form. */
export function errorBody(code: ErrorCode, requestId: string, retryAfter?: number): string {
  const { message } = ERRORS[code];
  const extensions = extensionsOf(code, requestId, { retryAfter });
  return JSON.stringify({ errors: [{ message, extensions }] });
}

/** An error with the status and message of its code. `headers` are sent too. */
export function errorResponse(
  code: ErrorCode,
  requestId: string,
  headers: ResponseHeaders = {},
): HttpResponse {
  const body = errorBody(code, requestId, Number(headers['retry-after'] ?? 1));
  return { status: ERRORS[code].status, headers, body };
}
