// Ends a call: the body of a refusal, and the headers.

import { ApiError, ERRORS, type ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpReply } from '@partner-loyalty/runtime/http/reply.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { outageOf } from '@partner-loyalty/runtime/store/outage.ts';
import type { Call } from './call.ts';
import { serialize } from './document/responsesize.ts';
import { GraphqlRequestError } from './document/validation.ts';
import type { Cors } from './http/cors.ts';
import { shortMessage } from './http/errors.ts';
import { mediaTypeFor } from './http/mediatype.ts';
import { type Limiter, rateLimitHeaders } from './limits/limiter.ts';
import { createRecorder, type RecordParts } from './record.ts';
import type { AddDeprecation } from './schema/dates.ts';

export type ReplyParts = RecordParts & {
  limiter: Limiter;
  cors: Cors;
  /** Undefined if responses have no such headers. */
  addDeprecation?: AddDeprecation | undefined;
  /** The URL of the other environment's endpoint, for callers with one of its keys. */
  correctEndpoint: string;
  log: Log;
  metrics: Metrics;
};

/** What an endpoint's replies look like. */
export type ReplyForm = {
  /** The body of a refusal. */
  refusal(refusal: ApiError, extensions: RefusalExtensions, call: Call): object;
  mediaType(request: HttpRequest): string;
  /** The scheme in `www-authenticate`, with 401. */
  challenge: string;
};

export type RefusalExtensions = { code: ErrorCode; requestId: string; correctEndpoint?: string };

/**
 * The reply to a call: what `execute` resolves with, or why it was refused; no body if it resolves
 * with undefined. The call is recorded when the reply ends. Counts a missing credential, and masks
 * what is not an ApiError. Never rejects.
 */
export type Reply = (
  request: HttpRequest,
  call: Call,
  execute: (request: HttpRequest, call: Call) => Promise<object | undefined>,
) => Promise<HttpReply>;

/** Errors of GraphQL (GraphQL over HTTP, section 6.3). */
export const GRAPHQL_FORM: ReplyForm = {
  refusal(refusal, extensions) {
    const faults =
      refusal instanceof GraphqlRequestError
        ? refusal.errors
        : [{ message: refusal.message, locations: undefined, extensions: refusal.details }];
    const errors = faults.map(({ message, locations, extensions: details }) => ({
      message: shortMessage(message),
      locations,
      extensions: { ...extensions, ...details },
    }));
    const { correctEndpoint } = extensions;
    return correctEndpoint === undefined ? { errors } : { errors, correctEndpoint };
  },
  mediaType: ({ headers }) => mediaTypeFor(headers.accept),
  challenge: 'Bearer',
};

export function createReplies(parts: ReplyParts, form: ReplyForm): Reply {
  const { limiter } = parts;
  const refuse = createRefuse(parts, form);
  const headersOf = createHeaders(parts, form);
  const record = createRecorder(parts);

  // A missing credential is counted when nothing else is wrong with the request. A request that
  // was refused before its cost was known costs 1.
  async function countRefused(
    request: HttpRequest,
    call: Call,
    body: object | undefined,
  ): Promise<object | undefined> {
    if (call.principal !== undefined) {
      const { policy, id, budget } = call.principal;
      call.verdict = await limiter.consume(policy, id, 1, budget);
    }
    const isMissing = call.codes[0] === 'UNAUTHENTICATED' && call.credential.kind === 'none';
    if (!isMissing) return body;
    const verdict = await limiter.consumeRefusal(request.address);
    if (verdict.allowed) return body;
    call.refusal = verdict;
    return refuse(new ApiError('RATE_LIMITED'), request, call);
  }

  // Escapes and characters beyond ASCII can take a response over the limit at the very end.
  function serializeWithin(body: object, request: HttpRequest, call: Call): string {
    try {
      return serialize(body);
    } catch (error) {
      return JSON.stringify(refuse(error, request, call));
    }
  }

  function replyWith(request: HttpRequest, call: Call, body: object | undefined): HttpReply {
    const headers = headersOf(request, call);
    const text = body === undefined ? '' : serializeWithin(body, request, call);
    return { status: call.status, headers, body: text, observer: record(request, call) };
  }

  // Most calls are counted already and need not wait.
  function finish(
    request: HttpRequest,
    call: Call,
    body: object | undefined,
  ): MaybePromise<HttpReply> {
    call.trace?.phase('respond');
    return call.verdict === undefined
      ? countRefused(request, call, body).then((counted) => replyWith(request, call, counted))
      : replyWith(request, call, body);
  }

  return async function reply(request, call, execute) {
    let body: object | undefined;
    try {
      body = await execute(request, call);
    } catch (error) {
      body = refuse(error, request, call);
    }
    try {
      return await finish(request, call, body);
    } finally {
      call.releaseSlot?.();
    }
  };
}

type Refuse = (error: unknown, request: HttpRequest, call: Call) => object;

/** Sets the call's status and codes. */
function createRefuse({ correctEndpoint, log }: ReplyParts, form: ReplyForm): Refuse {
  return (error, { requestId }, call) => {
    const refusal = error instanceof ApiError ? error : new ApiError('INTERNAL_SERVER_ERROR');
    if (refusal !== error) logMasked(log, requestId, error);
    const { code } = refusal;
    call.codes = [code];
    call.status = ERRORS[code].status;
    const extensions = { code, requestId };
    return form.refusal(
      refusal,
      code === 'KEY_ENVIRONMENT_MISMATCH' ? { ...extensions, correctEndpoint } : extensions,
      call,
    );
  };
}

function createHeaders({ cors, addDeprecation }: ReplyParts, { mediaType, challenge }: ReplyForm) {
  return (request: HttpRequest, call: Call) => {
    const { codes, principal, verdict, refusal, deprecation } = call;
    const headers: ResponseHeaders = { 'content-type': mediaType(request) };
    const [code] = codes;
    if (code === 'METHOD_NOT_ALLOWED') headers.allow = 'POST';
    cors.expose(request, headers);
    if (code === 'UNAUTHENTICATED') headers['www-authenticate'] = challenge;
    if (principal !== undefined && verdict !== undefined)
      Object.assign(headers, rateLimitHeaders(verdict));
    if (deprecation !== undefined) addDeprecation?.(headers, deprecation);
    const limit = refusal ?? verdict;
    if (code === 'RATE_LIMITED' && limit) headers['retry-after'] = String(limit.resetSeconds);
    return headers;
  };
}

/** Logs an error that the caller gets to see as INTERNAL_SERVER_ERROR. */
export function logMasked(
  log: Pick<Log, 'error' | 'outage'>,
  requestId: string,
  err: unknown,
): void {
  if (outageOf(err) === undefined) log.error({ requestId, err }, 'masked an error');
  else log.outage({ requestId, err }, 'masked an error');
}
