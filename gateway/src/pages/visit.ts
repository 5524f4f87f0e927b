// Requests for pages and other public documents, which anyone may make, but not without end.
import { hash } from 'node:crypto';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import { addressSite } from '@partner-loyalty/runtime/http/address.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { errorResponse, type HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { observed, pageResponse, textPage } from '@partner-loyalty/runtime/pages/layout.ts';
import { LRUCache } from 'lru-cache';
import type { Limiter } from '../budget/limiter.ts';
import type { Cookies } from './forms.ts';

const TOO_MANY_REQUESTS = textPage('Too many requests', 'Please wait a minute, then try again.');

/** Who is signed in, by hashes of cookies. A session that has ended gives nothing but a share. */
const PEOPLE = { ttl: 600_000, max: 10_000 };
/** For how long nobody looks whether a session has ended. */
const FRESH_MS = 60_000;

/** What a form counts: 120 changes a minute, as at the API. */
const PAGES_OF_FORM = 5;

/** Pages that are made at the same time for members who are signed in. Sites take turns. */
const PLACES = { places: 2, waitMs: 10_000 };

/** Sessions of browsers, by a cookie of this name. */
export type BrowserSessions = {
  cookie: string;
  /** Who is signed in with what the browser holds; undefined if nobody is. */
  personOf(held: string, request: HttpRequest): Promise<string | undefined>;
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
  /** False if `handle` gives places itself. */
  takesPlace?: boolean,
) => Promise<HttpResponse>;

/**
 * Returns a function that counts a request by its client address and handles it, or answers with
 * 429 if the address has made too many. A browser that has shown a live session counts as whoever
 * is signed in instead. If the URL has a secret, it is in no referrer. Rejects as `admit` and
 * `handle` do.
 */
export function createVisit({ limiter, cookies, sessions, log }: VisitParts): Visit {
  const place = createPlaces(PLACES);
  const people = new LRUCache<string, { person: string; foundAt: number }>(PEOPLE);

  const sessionsOf = (request: HttpRequest) =>
    sessions().flatMap(({ cookie, personOf }) => {
      const held = cookies.read(request, cookie);
      const find = () => personOf(held, request);
      return SESSION.test(held) ? { key: hash('sha256', `${cookie}=${held}`), find } : [];
    });

  async function findPerson(held: ReturnType<typeof sessionsOf>): Promise<string | undefined> {
    for (const { key, find } of held) {
      const person = await find().catch(() => undefined);
      people.set(key, person === undefined ? undefined : { person, foundAt: performance.now() });
      if (person !== undefined) return person;
    }
    return undefined;
  }

  async function inPlace(request: HttpRequest, handle: Parameters<Visit>[1]) {
    // Anybody's page is small, and a form has the place of its partner or at the provider.
    if (request.person === undefined || request.method === 'POST') return handle(request);
    const leave = await place({ part: addressSite(request.address), signal: request.signal });
    try {
      await request.turn();
      return await handle(request);
    } finally {
      leave();
    }
  }

  return async (request, handle, takesPlace = true) => {
    const held = sessionsOf(request);
    const known = held.map(({ key }) => people.get(key)).find((found) => found !== undefined);
    const verdict = await (known === undefined
      ? limiter.consumePage(request.address)
      : limiter.consumeSession(known.person, request.method === 'POST' ? PAGES_OF_FORM : 1));
    request.isCounted = true;
    const isFresh = known !== undefined && performance.now() - known.foundAt < FRESH_MS;
    if (verdict.allowed) request.person = isFresh ? known.person : await findPerson(held);
    // A form is in progress when it is complete.
    if (verdict.allowed && request.method !== 'POST') await request.admit(undefined);
    const response = verdict.allowed
      ? await (takesPlace ? inPlace(request, handle) : handle(request))
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

export function tooMany({ headers, requestId }: HttpRequest, retryAfter: string): HttpResponse {
  const wait = { 'retry-after': retryAfter };
  return headers.accept?.includes('text/html')
    ? pageResponse(429, TOO_MANY_REQUESTS, wait)
    : errorResponse('RATE_LIMITED', requestId, wait);
}

/** Whether a request is one to the API, which counts it whatever its path is. */
export function hasCredential({ headers }: HttpRequest): boolean {
  return headers['x-partner-api-key'] !== undefined || headers.authorization !== undefined;
}
