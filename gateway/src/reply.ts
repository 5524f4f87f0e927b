// Ends a call at /graphql: the body of a refusal, and the headers.
import {
  ApiError,
  ERRORS,
  HEADERS,
  type HttpReply,
  type HttpRequest,
  type Log,
  type MaybePromise,
  type Metrics,
  outageOf,
} from '@partner-loyalty/runtime';
import type { Call } from './call.ts';
import type { Cors } from './http/cors.ts';
import { shortMessage } from './http/errors.ts';
import { mediaTypeFor } from './http/mediatype.ts';
import { type Limiter, rateLimitHeaders } from './limits/limiter.ts';
import { GraphqlRequestError } from './operation/requesterror.ts';
import { serialize } from './operation/responsesize.ts';
import { createRecorder, type RecordParts } from './record.ts';

export type ReplyParts = RecordParts & {
  limiter: Limiter;
  cors: Cors;
  /** The URL of the other environment's endpoint, for callers with one of its keys. */
  correctEndpoint: string;
  log: Log;
  metrics: Metrics;
};

export type Replies = {
  /** The body of a refusal; sets the call's status and codes. Masks what is not an ApiError. */
  refuse(error: unknown, request: HttpRequest, call: Call): object;
  /**
   * The reply to a call, which is recorded when it ends. Counts a missing credential. A plain value
   * unless something is still to be counted.
   */
  finish(request: HttpRequest, call: Call, body: object): MaybePromise<HttpReply>;
};

export function createReplies(parts: ReplyParts): Replies {
  const { limiter } = parts;
  const refuse = createRefuse(parts);
  const headersOf = createHeaders(parts);
  const record = createRecorder(parts);

  // A missing credential is counted when nothing else is wrong with the request. A request that
  // was refused before its cost was known costs 1.
  async function countRefused(request: HttpRequest, call: Call, body: object): Promise<object> {
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

  function reply(request: HttpRequest, call: Call, body: object): HttpReply {
    const headers = headersOf(request, call);
    const text = serializeWithin(body, request, call);
    return { status: call.status, headers, body: text, observer: record(request, call) };
  }

  return {
    refuse,
    finish(request, call, body) {
      call.trace?.phase('respond');
      // Most calls are counted already, and do not wait.
      return call.verdict === undefined
        ? countRefused(request, call, body).then((counted) => reply(request, call, counted))
        : reply(request, call, body);
    },
  };
}

function createRefuse({ correctEndpoint, log }: ReplyParts): Replies['refuse'] {
  return (error, { requestId }, call) => {
    const refusal = error instanceof ApiError ? error : new ApiError('INTERNAL_SERVER_ERROR');
    if (refusal !== error) logMasked(log, requestId, error);
    const { code } = refusal;
    call.codes = [code];
    call.status = ERRORS[code].status;
    const extra = code === 'KEY_ENVIRONMENT_MISMATCH' ? { correctEndpoint } : {};
    const extensions = { code, requestId, ...extra };
    const faults =
      refusal instanceof GraphqlRequestError
        ? refusal.errors
        : [{ message: refusal.message, locations: undefined, extensions: refusal.details }];
    const errors = faults.map(({ message, locations, extensions: details }) => ({
      message: shortMessage(message),
      locations,
      extensions: { ...extensions, ...details },
    }));
    return { errors, ...extra };
  };
}

function createHeaders({ cors }: ReplyParts) {
  return (request: HttpRequest, { codes, principal, verdict, refusal }: Call) => {
    const headers: Record<string, string> = {
      [HEADERS.contentType.name]: mediaTypeFor(request.headers.accept),
    };
    const [code] = codes;
    if (code === 'METHOD_NOT_ALLOWED') headers[HEADERS.allow.name] = 'POST';
    cors.expose(request, headers);
    if (code === 'UNAUTHENTICATED') headers[HEADERS.wwwAuthenticate.name] = 'Bearer';
    if (principal !== undefined && verdict !== undefined)
      Object.assign(headers, rateLimitHeaders(verdict));
    const limit = refusal ?? verdict;
    if (code === 'RATE_LIMITED' && limit)
      headers[HEADERS.retryAfter.name] = String(limit.resetSeconds);
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
