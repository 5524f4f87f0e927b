// Runs a request at an endpoint to its response: the result or a refusal, and the headers.
import { ApiError, extensionsOf } from '@partner-loyalty/runtime/errors.ts';
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { outageOf } from '@partner-loyalty/runtime/store/outage.ts';
import Negotiator from 'negotiator';
import { type BudgetLimiter, charge } from '../budget/budget.ts';
import { rateLimitHeaders } from '../budget/limiter.ts';
import { serialize } from '../document/responsesize.ts';
import { GraphqlRequestError } from '../document/validation.ts';
import type { AddDeprecation } from '../schema/dates.ts';
import type { RequestState } from '../state.ts';
import type { Cors } from './cors.ts';
import type { ObserveRequest } from './requestline.ts';
import { shortMessage } from './response.ts';

export type EndpointContext = {
  limiter: BudgetLimiter;
  cors: Cors;
  /** Undefined if responses have no such headers. */
  addDeprecation?: AddDeprecation | undefined;
  /** The URL of the other environment's endpoint, for callers with one of its keys. */
  correctEndpoint: string;
  observe: ObserveRequest;
  log: Log;
};

export type ResponseForm = {
  refusal(refusal: ApiError, extensions: RefusalExtensions, state: RequestState): object;
  mediaType(request: HttpRequest): string;
  /** The methods in `allow`, with 405. */
  allow: string;
  /** The scheme in `www-authenticate`, with 401. */
  challenge: string;
};

type RefusalExtensions = ReturnType<typeof extensionsOf> & { correctEndpoint?: string };

/**
 * The response to a request: what `execute` resolves with, or why it was refused; no body if it
 * resolves with undefined. The request is logged when the response ends. Masks what is not an
 * ApiError. Never rejects.
 */
export async function respond(
  context: EndpointContext,
  form: ResponseForm,
  request: HttpRequest,
  state: RequestState,
  execute: () => Promise<object | undefined>,
): Promise<HttpResponse> {
  let body: object | undefined;
  try {
    body = await execute();
  } catch (error) {
    // Refused before its cost was known, the request of a principal costs 1.
    if (state.principal !== undefined) await charge(context.limiter, request, state);
    body = refuse(context, form, error, request, state);
  }
  try {
    state.trace?.phase('respond');
    const headers = headersOf(context, form, request, state);
    const text = body === undefined ? '' : serializeWithin(context, form, body, request, state);
    const closes = state.codes[0] === 'RATE_LIMITED' && state.principal === undefined;
    const observer = context.observe(request, state);
    const { status, isDropped } = state;
    return { status, headers, body: text, closes, isDropped, observer };
  } finally {
    state.releaseSlot?.();
  }
}

/** Escapes and characters beyond ASCII can take a response over the limit at the very end. */
function serializeWithin(
  context: EndpointContext,
  form: ResponseForm,
  body: object,
  request: HttpRequest,
  state: RequestState,
): string {
  try {
    return serialize(body);
  } catch (error) {
    return JSON.stringify(refuse(context, form, error, request, state));
  }
}

/** Sets the request's status and codes. */
function refuse(
  { correctEndpoint, log }: EndpointContext,
  form: ResponseForm,
  error: unknown,
  { requestId }: HttpRequest,
  state: RequestState,
): object {
  const refusal = error instanceof ApiError ? error : new ApiError('INTERNAL_SERVER_ERROR');
  if (refusal !== error) logMasked(log, requestId, error);
  const { code } = refusal;
  state.codes = [code];
  state.status = refusal.status;
  const wait = code === 'RATE_LIMITED' &&
    state.verdict !== undefined && { retryAfter: state.verdict.resetSeconds };
  const extensions = extensionsOf(code, requestId, { ...refusal.details, ...wait });
  return form.refusal(
    refusal,
    code === 'KEY_ENVIRONMENT_MISMATCH' ? { ...extensions, correctEndpoint } : extensions,
    state,
  );
}

function headersOf(
  { cors, addDeprecation }: EndpointContext,
  { mediaType, allow, challenge }: ResponseForm,
  request: HttpRequest,
  state: RequestState,
): ResponseHeaders {
  const { codes, principal, verdict, deprecation } = state;
  const headers: ResponseHeaders = { 'content-type': mediaType(request) };
  const [code] = codes;
  // A GET is only refused for a mutation.
  if (code === 'METHOD_NOT_ALLOWED') headers.allow = request.method === 'GET' ? 'POST' : allow;
  cors.expose(request, headers);
  if (code === 'UNAUTHENTICATED') headers['www-authenticate'] = challenge;
  if (principal !== undefined && verdict !== undefined)
    Object.assign(headers, rateLimitHeaders(verdict));
  if (deprecation !== undefined) addDeprecation?.(headers, deprecation);
  if (code === 'RATE_LIMITED' && verdict !== undefined)
    headers['retry-after'] = String(verdict.resetSeconds);
  return headers;
}

/** Errors of GraphQL (GraphQL over HTTP, section 6.3). */
export const GRAPHQL_FORM: ResponseForm = {
  refusal(refusal, extensions) {
    const faults =
      refusal instanceof GraphqlRequestError
        ? refusal.errors
        : [{ message: refusal.message, locations: undefined, extensions: {} }];
    const errors = faults.map(({ message, locations, extensions: details }) => ({
      message: shortMessage(message),
      locations,
      extensions: { ...extensions, ...details },
    }));
    const { correctEndpoint } = extensions;
    return correctEndpoint === undefined ? { errors } : { errors, correctEndpoint };
  },
  mediaType: ({ headers }) => mediaTypeFor(headers.accept),
  allow: 'GET, POST',
  challenge: 'Bearer',
};

/** Logs an error that the caller gets to see as INTERNAL_SERVER_ERROR. */
export function logMasked(
  log: Pick<Log, 'error' | 'outage'>,
  requestId: string,
  err: unknown,
): void {
  if (outageOf(err) === undefined) log.error({ requestId, err }, 'masked an error');
  else log.outage({ requestId, err }, 'masked an error');
}

export const JSON_TYPE = 'application/json; charset=utf-8';
const GRAPHQL_TYPE = 'application/graphql-response+json; charset=utf-8';

/** GraphQL's own media type if the caller prefers it; otherwise JSON, even if not accepted. */
function mediaTypeFor(accept: string | undefined): string {
  if (accept === undefined || !accept.includes('graphql-response')) return JSON_TYPE;
  const preferred = new Negotiator({ headers: { accept } }).mediaType([
    'application/graphql-response+json',
    'application/json',
  ]);
  return preferred === 'application/graphql-response+json' ? GRAPHQL_TYPE : JSON_TYPE;
}
