// A page of this service whose form posts back to it.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { logMasked } from '../edge/endpoint.ts';
import { observed, pageResponse, textPage, UNAVAILABLE } from '../pages/layout.ts';
import { FOREIGN_FORM, INVALID_LINK, WRONG_METHOD } from './cards.ts';

const FORM_LIMIT = 16 * 1024;
const TOO_SLOW = textPage('That took too long', 'Please go back, and send the form again.');

export type FormPage = {
  /** Answers GET and HEAD with the token in the query, or an empty string. Must change nothing. */
  show(request: HttpRequest, token: string): HttpResponse | Promise<HttpResponse>;
  /** Answers POST from a page of this origin. */
  submit(request: HttpRequest, form: URLSearchParams): Promise<HttpResponse>;
  log: Log;
};

/** Handles requests for the page. Never rejects: an error becomes a page too. */
export function createFormPage({
  show,
  submit,
  log,
}: FormPage): (request: HttpRequest) => Promise<HttpResponse> {
  async function read(request: HttpRequest): Promise<HttpResponse> {
    if (!isSameOrigin(request)) return pageResponse(403, FOREIGN_FORM);
    const body = await request.body(FORM_LIMIT);
    await request.admit(undefined);
    return submit(request, new URLSearchParams(body.toString()));
  }

  async function respond(request: HttpRequest): Promise<HttpResponse> {
    try {
      if (request.method === 'GET' || request.method === 'HEAD')
        return await show(request, new URLSearchParams(request.search).get('token') ?? '');
      if (request.method === 'POST') return await read(request);
      return pageResponse(405, WRONG_METHOD, { allow: 'GET, HEAD, POST' });
    } catch (error) {
      return errorPage(error, request, log);
    }
  }

  return async (request) => {
    const startedAt = performance.now();
    return observed(await respond(request), request, startedAt, log);
  };
}

function errorPage(error: unknown, { requestId }: HttpRequest, log: Log): HttpResponse {
  const code = error instanceof ApiError ? error.code : 'INTERNAL_SERVER_ERROR';
  if (error instanceof ApiError && error.status === 408) return pageResponse(408, TOO_SLOW);
  if (code === 'PAYLOAD_TOO_LARGE' || code === 'BAD_REQUEST')
    return pageResponse(400, INVALID_LINK);
  if (code === 'INTERNAL_SERVER_ERROR') logMasked(log, requestId, error);
  return pageResponse(code === 'SERVICE_UNAVAILABLE' ? 503 : 500, UNAVAILABLE);
}

// Because of `no-referrer`, browsers send `Origin: null` with the form. Sec-Fetch-Site still says
// whether the form comes from this site.
function isSameOrigin({ headers }: HttpRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = headers.origin;
  const host = headers.host;
  return host !== undefined && (origin === `https://${host}` || origin === `http://${host}`);
}
