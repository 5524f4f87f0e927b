// A page of this service whose form posts back to it.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { logMasked } from '../edge/endpoint.ts';
import { observed, withoutSlash } from '../pages/layout.ts';
import { type MessageName, messagePage } from './cards.ts';
import { textsOf } from './language.ts';

const FORM_LIMIT = 16 * 1024;

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
    if (!isSameOrigin(request)) return messagePage(403, textsOf(request), 'foreignForm');
    const body = await request.body(FORM_LIMIT);
    await request.admit(undefined);
    return submit(request, new URLSearchParams(body.toString()));
  }

  return createPage(log, async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (request.path.endsWith('/')) return withoutSlash(request);
      return show(request, new URLSearchParams(request.search).get('token') ?? '');
    }
    if (request.method === 'POST') return read(request);
    return wrongMethod(request, 'GET, HEAD, POST');
  });
}

export function wrongMethod(request: HttpRequest, allow: string): HttpResponse {
  const response = messagePage(405, textsOf(request), 'wrongMethod');
  return { ...response, headers: { ...response.headers, allow } };
}

/** As `respond` answers; an error becomes a page, and the log has a line for the request. */
export function createPage(
  log: Log,
  respond: (request: HttpRequest) => Promise<HttpResponse>,
): (request: HttpRequest) => Promise<HttpResponse> {
  return (request) => {
    const response = () => respond(request).catch((error) => errorPage(error, request, log));
    // The rest is the ID of an authorization in progress.
    const path = request.path.replace(/^(\/sign-in|\/oauth\/[^/]*)\/.*/, '$1');
    const { requestId, method } = request;
    return observed({ requestId, method, path }, response, log);
  };
}

function errorPage(error: unknown, request: HttpRequest, log: Log): HttpResponse {
  const say = (status: number, name: MessageName) => messagePage(status, textsOf(request), name);
  const code = error instanceof ApiError ? error.code : 'INTERNAL_SERVER_ERROR';
  if (error instanceof ApiError && error.status === 408) return say(408, 'tooSlow');
  if (code === 'PAYLOAD_TOO_LARGE' || code === 'BAD_REQUEST') return say(400, 'invalidLink');
  if (code === 'INTERNAL_SERVER_ERROR') logMasked(log, request.requestId, error);
  return say(code === 'SERVICE_UNAVAILABLE' ? 503 : 500, 'unavailable');
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
