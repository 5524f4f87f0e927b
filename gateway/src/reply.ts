// Ends a call at /graphql: the body of a refusal, the headers, the log line and the metric.
import {
  ApiError,
  ERRORS,
  HEADERS,
  type HttpReply,
  type HttpRequest,
  type Log,
  type Metrics,
} from '@partner-loyalty/runtime';
import type { Cors } from './http/cors.ts';
import { shortMessage } from './http/errors.ts';
import { mediaTypeFor } from './http/mediatype.ts';
import type { Authenticated, Principal } from './identity/authenticate.ts';
import { type Limiter, rateLimitHeaders, type Verdict } from './limits/limiter.ts';
import { GraphqlRequestError } from './operation/requesterror.ts';
import { serialize } from './operation/responsesize.ts';

/** The caller's credential, or why it could not be checked. */
export type Credential = Authenticated | { kind: 'unavailable'; error: unknown };

/** What is known of a request so far. The reply is built from it. */
export type Call = {
  /** On performance.now()'s clock. */
  startedAt: number;
  credential: Credential;
  principal?: Principal | undefined;
  /** The decision on the caller's budget; undefined until the cost is known. */
  verdict?: Verdict;
  /** Set if the client address is over the limit on refused credentials. */
  refusal?: Verdict;
  /** The cost of the operation, in root fields. */
  cost: number;
  status: number;
  /** Of the first error. */
  code?: string | undefined;
};

export type ReplyParts = {
  limiter: Limiter;
  cors: Cors;
  /** The URL of the other environment's endpoint, for callers with one of its keys. */
  correctEndpoint: string;
  log: Log;
  metrics: Metrics;
};

export type Replies = {
  /** The body of a refusal; sets the call's status and code. Masks what is not an ApiError. */
  refuse(error: unknown, request: HttpRequest, call: Call): object;
  /** The reply to a call. Counts a refused credential, writes the log line and the metric. */
  finish(request: HttpRequest, call: Call, body: object): Promise<HttpReply>;
};

export function beginCall(): Call {
  return { startedAt: performance.now(), credential: { kind: 'none' }, cost: 1, status: 200 };
}

export function createReplies(parts: ReplyParts): Replies {
  const { limiter, log, metrics } = parts;
  const refuse = createRefuse(parts);
  const headersOf = createHeaders(parts);

  // A missing credential is counted when nothing else is wrong with the request.
  async function countMissing(request: HttpRequest, call: Call): Promise<object | undefined> {
    const verdict = await limiter.consumeRefusal(request.address);
    if (verdict.allowed) return undefined;
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

  return {
    refuse,
    async finish(request, call, body) {
      const isMissing = call.code === 'UNAUTHENTICATED' && call.credential.kind === 'none';
      const counted = isMissing ? ((await countMissing(request, call)) ?? body) : body;
      const headers = await headersOf(request, call);
      const text = serializeWithin(counted, request, call);
      record(request, call, log, metrics);
      return { status: call.status, headers, body: text };
    },
  };
}

function createRefuse({ correctEndpoint, log }: ReplyParts): Replies['refuse'] {
  return (error, { requestId }, call) => {
    const refusal = error instanceof ApiError ? error : new ApiError('INTERNAL_SERVER_ERROR');
    if (refusal !== error) log.error({ requestId, err: error }, 'masked an error');
    const { code } = refusal;
    call.code = code;
    call.status = ERRORS[code].status;
    const extra = code === 'KEY_ENVIRONMENT_MISMATCH' ? { correctEndpoint } : {};
    const extensions = { code, requestId, ...extra };
    const faults =
      refusal instanceof GraphqlRequestError
        ? refusal.errors
        : [{ message: refusal.message, locations: undefined }];
    const errors = faults.map(({ message, locations }) => ({
      message: shortMessage(message),
      locations,
      extensions,
    }));
    return { errors, ...extra };
  };
}

/** Builds the headers. A request that was refused before its cost was known costs 1. */
function createHeaders({ limiter, cors }: ReplyParts) {
  return async (request: HttpRequest, call: Call): Promise<Record<string, string>> => {
    const headers: Record<string, string> = {
      [HEADERS.contentType.name]: mediaTypeFor(request.headers.accept),
    };
    if (call.code === 'METHOD_NOT_ALLOWED') headers[HEADERS.allow.name] = 'POST';
    cors.expose(request, headers);
    if (call.code === 'UNAUTHENTICATED') headers[HEADERS.wwwAuthenticate.name] = 'Bearer';
    if (call.principal !== undefined) {
      const { policy, id, budget } = call.principal;
      call.verdict ??= await limiter.consume(policy, id, 1, budget);
      Object.assign(headers, rateLimitHeaders(call.verdict));
    }
    const limit = call.refusal ?? call.verdict;
    if (call.code === 'RATE_LIMITED' && limit)
      headers[HEADERS.retryAfter.name] = String(limit.resetSeconds);
    return headers;
  };
}

function record({ requestId }: HttpRequest, call: Call, log: Log, metrics: Metrics): void {
  const { status, code, principal, cost } = call;
  // Whole microseconds: shorter numbers make the line 10 % cheaper to write.
  const durationMs = Math.round((performance.now() - call.startedAt) * 1000) / 1000;
  const surface = principal?.surface;
  log.info({ requestId, status, code, surface, cost, durationMs }, 'request');
  metrics.request(status, code ?? 'OK', durationMs);
}
