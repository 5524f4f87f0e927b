// A page of this service whose form posts back to it.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { type MessageName, messagePage } from '@partner-loyalty/runtime/pages/cards.ts';
import { textsOf } from '@partner-loyalty/runtime/pages/language.ts';
import { observed, withoutSlash } from '@partner-loyalty/runtime/pages/layout.ts';
import { logMasked } from '../edge/endpoint.ts';
import type { Forms } from './forms.ts';

const FORM_LIMIT = 16 * 1024;

export type FormPage = {
  /**
   * Answers GET and HEAD with the token in the query, or an empty string. Must change nothing,
   * unless `isOnce` says that it does.
   */
  show(request: HttpRequest, token: string): HttpResponse | Promise<HttpResponse>;
  /** Whether a GET changes something. A known browser that sends it twice is answered once. */
  isOnce?(request: HttpRequest, token: string): boolean;
  /** Whether pages of other origins may send a form too. */
  isForApps?(request: HttpRequest): boolean;
  /**
   * Answers POST from a page of this origin. If the browser is known, there is `sent`, and the same
   * form is answered once, unless that is an error.
   */
  submit(request: HttpRequest, form: URLSearchParams, sent?: Sent): Promise<HttpResponse>;
  forms: Forms;
  log: Log;
};

/** `isAgain` says that the form was sent before, and that nobody knows what became of it. */
export type Sent = { formId: string; isAgain: boolean };

/** Handles requests for the page. Never rejects: an error becomes a page too. */
export function createFormPage({
  show,
  isOnce,
  isForApps,
  submit,
  forms,
  log,
}: FormPage): (request: HttpRequest) => Promise<HttpResponse> {
  async function read(request: HttpRequest): Promise<HttpResponse> {
    const foreign = () => messagePage(403, textsOf(request), 'foreignForm');
    const isAccepted = isForApps?.(request) || forms.isAccepted(request);
    if (isAccepted === false) return foreign();
    const body = await request.body(FORM_LIMIT);
    await request.admit(undefined);
    const form = new URLSearchParams(body.toString());
    const sent = forms.sent(request, form);
    if (sent === undefined) return isAccepted ? submit(request, form) : foreign();
    const { formId } = sent;
    return forms.once(sent, (isAgain) => submit(lasting(request), form, { formId, isAgain }));
  }

  async function respond(request: HttpRequest): Promise<HttpResponse> {
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (request.path.endsWith('/')) return withoutSlash(request);
      const token = new URLSearchParams(request.search).get('token') ?? '';
      const isOnceOnly = request.method === 'GET' && isOnce?.(request, token);
      const sent = isOnceOnly ? forms.followed(request) : undefined;
      if (sent === undefined) return show(request, token);
      return forms.once(sent, async () => show(lasting(request), token));
    }
    if (request.method === 'POST') return read(request);
    const response = messagePage(405, textsOf(request), 'wrongMethod');
    return { ...response, headers: { ...response.headers, allow: 'GET, HEAD, POST' } };
  }

  return (request) => {
    const response = async () => {
      const made = await respond(request).catch((error) => errorPage(error, request, log));
      return forms.bound(request, made);
    };
    return observed(request, response, log);
  };
}

/** Goes on when the browser goes away, which may ask again. */
function lasting(request: HttpRequest): HttpRequest {
  const free = { value: () => undefined };
  const signal = { value: new AbortController().signal };
  return Object.create(request, { signal, admit: free, turn: free, reserve: free });
}

function errorPage(error: unknown, request: HttpRequest, log: Log): HttpResponse {
  const say = (status: number, name: MessageName) => messagePage(status, textsOf(request), name);
  const code = error instanceof ApiError ? error.code : 'INTERNAL_SERVER_ERROR';
  if (error instanceof ApiError && error.status === 408) return say(408, 'tooSlow');
  if (code === 'PAYLOAD_TOO_LARGE' || code === 'BAD_REQUEST') return say(400, 'invalidLink');
  if (code === 'UNSUPPORTED_MEDIA_TYPE') return say(415, 'invalidLink');
  if (code === 'INTERNAL_SERVER_ERROR') logMasked(log, request.requestId, error);
  return say(code === 'SERVICE_UNAVAILABLE' ? 503 : 500, 'unavailable');
}
