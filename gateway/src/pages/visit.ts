// Requests for pages and other public documents, which anyone may make, but not without end.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { observed, pageResponse, textPage } from '@partner-loyalty/runtime/pages/layout.ts';
import type { Limiter } from '../budget/limiter.ts';

const TOO_MANY_REQUESTS = textPage('Too many requests', 'Please wait a minute, then try again.');

type VisitParts = {
  limiter: Pick<Limiter, 'consumePage'>;
  log: Pick<Log, 'infoJson' | 'refused'>;
};

export type Visit = (
  request: HttpRequest,
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
) => Promise<HttpResponse>;

/**
 * Returns a function that counts a request by its client address and handles it, or answers with
 * 429 if the address has made too many. If the URL has a secret, it is in no referrer. Rejects as
 * `admit` and `handle` do.
 */
export function createVisit({ limiter, log }: VisitParts): Visit {
  return async (request, handle) => {
    const verdict = await limiter.consumePage(request.address);
    // A form is in progress when it is complete.
    if (verdict.allowed && request.method !== 'POST') await request.admit(undefined);
    const response = verdict.allowed
      ? await handle(request)
      : await observed(request, async () => tooMany(request, `${verdict.resetSeconds}`), log);
    const { 'referrer-policy': policy, ...headers } = response.headers;
    if (policy === undefined || !hasSecret(request)) return response;
    return { ...response, headers: { ...headers, 'referrer-policy': 'no-referrer' } };
  };
}

/** A mailed token, or the ID of an authorization in progress. */
function hasSecret({ path, search }: HttpRequest): boolean {
  return /^\/(sign-in|oauth)\/./.test(path) || new URLSearchParams(search).has('token');
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
