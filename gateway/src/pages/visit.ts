// Requests for pages and other public documents, which anyone may make, but not without end.
import { hash } from 'node:crypto';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { observed, pageResponse, textPage } from '@partner-loyalty/runtime/pages/layout.ts';
import { LRUCache } from 'lru-cache';
import type { Limiter } from '../budget/limiter.ts';
import type { Cookies } from './forms.ts';

const TOO_MANY_REQUESTS = textPage('Too many requests', 'Please wait a minute, then try again.');

/** Who is signed in, by hashes of cookies. A session that has ended gives nothing but a share. */
const OWNERS = { ttl: 600_000, max: 10_000 };
/** For how long nobody looks whether a session has ended. */
const FRESH_MS = 60_000;

/** Sessions of browsers, by a cookie of this name. */
export type BrowserSessions = {
  cookie: string;
  /** Who is signed in with what the browser holds; undefined if nobody is. */
  ownerOf(held: string, request: HttpRequest): Promise<string | undefined>;
};

type VisitParts = {
  limiter: Pick<Limiter, 'consumePage' | 'consumeSession'>;
  cookies: Cookies;
  sessions(): readonly BrowserSessions[];
  log: Pick<Log, 'infoJson' | 'refused'>;
};

export type Visit = (
  request: HttpRequest,
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
) => Promise<HttpResponse>;

/**
 * Returns a function that counts a request by its client address and handles it, or answers with
 * 429 if the address has made too many. A browser that has shown a live session counts as whoever
 * is signed in instead. If the URL has a secret, it is in no referrer. Rejects as `admit` and
 * `handle` do.
 */
export function createVisit({ limiter, cookies, sessions, log }: VisitParts): Visit {
  const owners = new LRUCache<string, { owner: string; foundAt: number }>(OWNERS);

  const sessionsOf = (request: HttpRequest) =>
    sessions().flatMap(({ cookie, ownerOf }) => {
      const held = cookies.read(request, cookie);
      const find = () => ownerOf(held, request);
      return SESSION.test(held) ? { key: hash('sha256', `${cookie}=${held}`), find } : [];
    });

  async function findOwner(held: ReturnType<typeof sessionsOf>): Promise<string | undefined> {
    for (const { key, find } of held) {
      const owner = await find().catch(() => undefined);
      owners.set(key, owner === undefined ? undefined : { owner, foundAt: performance.now() });
      if (owner !== undefined) return owner;
    }
    return undefined;
  }

  return async (request, handle) => {
    const held = sessionsOf(request);
    const known = held.map(({ key }) => owners.get(key)).find((found) => found !== undefined);
    const verdict = await (known === undefined
      ? limiter.consumePage(request.address)
      : limiter.consumeSession(known.owner));
    const isFresh = known !== undefined && performance.now() - known.foundAt < FRESH_MS;
    if (verdict.allowed) request.owner = isFresh ? known.owner : await findOwner(held);
    // A form is in progress when it is complete.
    if (verdict.allowed && request.method !== 'POST') await request.admit(request.owner);
    const response = verdict.allowed
      ? await handle(request)
      : await observed(request, async () => tooMany(request, `${verdict.resetSeconds}`), log);
    const { 'referrer-policy': policy, ...headers } = response.headers;
    if (policy === undefined || !hasSecret(request)) return response;
    return { ...response, headers: { ...headers, 'referrer-policy': 'no-referrer' } };
  };
}

const SESSION = /^[\w-]{32,64}$/;

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
