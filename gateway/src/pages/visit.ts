// Requests for pages and other public documents, which anyone may make, but not without end.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Limiter } from '../budget/limiter.ts';
import { pageResponse, textPage } from './layout.ts';

const TOO_MANY_REQUESTS = textPage('Too many requests', 'Please wait a minute, then try again.');

export type Visit = (
  request: HttpRequest,
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
) => Promise<HttpResponse>;

/**
 * Returns a function that counts a request by its client address and handles it, or answers with
 * 429 if the address has made too many. Rejects as `admit` and `handle` do.
 */
export function createVisit(limiter: Pick<Limiter, 'consumePage'>): Visit {
  return async (request, handle) => {
    const verdict = await limiter.consumePage(request.address);
    if (!verdict.allowed) return tooMany(request, String(verdict.resetSeconds));
    // A form is in progress when it is complete.
    if (request.method !== 'POST') await request.admit(undefined);
    return handle(request);
  };
}

function tooMany({ headers, requestId }: HttpRequest, retryAfter: string): HttpResponse {
  const wait = { 'retry-after': retryAfter };
  return headers.accept?.includes('text/html')
    ? pageResponse(429, TOO_MANY_REQUESTS, wait)
    : errorResponse('RATE_LIMITED', requestId, wait);
}

/** Whether a request is one to the API, which counts it whatever its path is. */
export function hasCredential({ headers }: HttpRequest): boolean {
  return headers['x-partner-api-key'] !== undefined || headers.authorization !== undefined;
}
