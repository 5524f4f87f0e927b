// Requests for pages and other public documents, which anyone may make, but not without end.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { type Limiter, rateLimitHeaders } from '../budget/limiter.ts';
import { pageResponse, textPage } from './layout.ts';

const TOO_MANY_REQUESTS = textPage('Too many requests', 'Please wait a minute, then try again.');

export type Visit = (
  request: HttpRequest,
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
) => Promise<HttpResponse>;

/**
 * Returns a function that counts a request by its client address and handles it, or answers with
 * 429 if the address has made too many. Never rejects if `handle` does not.
 */
export function createVisit(limiter: Pick<Limiter, 'consumePage'>): Visit {
  return async (request, handle) => {
    const verdict = await limiter.consumePage(request.address);
    if (!verdict.allowed) return tooMany(request, rateLimitHeaders(verdict)['retry-after']);
    try {
      // A form is in progress when it is complete.
      if (request.method !== 'POST') await request.admit(undefined);
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 'INTERNAL_SERVER_ERROR';
      return errorResponse(code, request.requestId);
    }
    return handle(request);
  };
}

function tooMany({ headers, requestId }: HttpRequest, retryAfter = '60'): HttpResponse {
  const wait = { 'retry-after': retryAfter };
  return headers.accept?.includes('text/html')
    ? pageResponse(429, TOO_MANY_REQUESTS, wait)
    : errorResponse('RATE_LIMITED', requestId, wait);
}

/** Whether a request is one to the API, which counts it whatever its path is. */
export function hasCredential({ headers }: HttpRequest): boolean {
  return headers['x-partner-api-key'] !== undefined || headers.authorization !== undefined;
}
