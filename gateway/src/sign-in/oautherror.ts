// Errors of the provider's endpoints that are no pages (RFC 6749, section 5.2; RFC 6750).
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { logMasked } from '../edge/endpoint.ts';

export function oauthError(
  status: number,
  error: string,
  headers: ResponseHeaders = {},
): HttpResponse {
  return { status, headers, body: JSON.stringify({ error }) };
}

/** The response instead of an error; masks what is not an ApiError. */
export function oauthFailure(error: unknown, { requestId }: HttpRequest, log: Log): HttpResponse {
  if (error instanceof ApiError && error.code !== 'INTERNAL_SERVER_ERROR')
    return oauthError(
      error.status,
      error.status === 503 ? 'temporarily_unavailable' : 'invalid_request',
    );
  logMasked(log, requestId, error);
  return oauthError(500, 'server_error');
}
