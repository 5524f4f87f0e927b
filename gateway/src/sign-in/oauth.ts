// The paths below /oauth/: what apps and the browsers that they send here ask the provider for.
import { hash } from 'node:crypto';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { IdentityResponse } from '@partner-loyalty/runtime/signin/exchange.ts';
import { LRUCache } from 'lru-cache';
import type { Limiter } from '../budget/limiter.ts';
import type { Cors } from '../edge/cors.ts';
import { logMasked } from '../edge/endpoint.ts';
import { observed } from '../pages/layout.ts';
import type { Visit } from '../pages/visit.ts';
import { createFormPage } from './form.ts';
import type { Forms } from './forms.ts';
import { hasTooMany, type Provider } from './provider.ts';

export const OAUTH_PATH = '/oauth/';
const BODY_LIMIT = 64 * 1024;
/** The provider checks a secret each time, so that one that has ended gives nothing. */
const OWNERS = { ttl: 600_000, max: 10_000 };

export type OauthParts = {
  provider: Provider;
  userinfo: (request: HttpRequest) => Promise<HttpResponse>;
  limiter: Pick<Limiter, 'consumeApp' | 'consumePage' | 'consumeRefusal' | 'refusals' | 'pages'>;
  cors: Cors;
  visit: Visit;
  forms: Forms;
  log: Log;
};

/** Handles paths below /oauth/; never rejects. */
export function createOauth(parts: OauthParts): (request: HttpRequest) => Promise<HttpResponse> {
  const { provider, userinfo, cors, visit, log } = parts;
  const exchange = createExchange(parts);

  const authorize = createFormPage({
    ...parts,
    show: async (request) => provider.respond(request, await provider.ask(request, '')),
    // The code that answers an app's request is given once.
    isOnce: ({ path }) => RESUMING.test(path),
    submit: async (request, form) =>
      provider.respond(request, await provider.ask(request, form.toString())),
  });

  function document(request: HttpRequest): Promise<HttpResponse> {
    const answer = request.path === '/oauth/userinfo' ? userinfo : exchange;
    const response = () => answer(request).catch((error) => oauthFailure(error, request, log));
    return observed(request, response, log);
  }

  return (request) =>
    DOCUMENTS.has(request.path)
      ? cors.around(request, () => document(request))
      : visit(request, authorize);
}

/** Where a browser goes on after a question was answered. */
const RESUMING = /^\/oauth\/authorize\/./;
const DOCUMENTS = new Set(['/oauth/token', '/oauth/revoke', '/oauth/userinfo']);

/**
 * The endpoints that apps call themselves. An address over its limit is refused before its body is
 * read, and what shows nothing that can be valid before the provider is asked. A code, a token or a
 * secret takes a place with the provider first: it counts only if it is refused.
 */
function createExchange({ provider, limiter }: OauthParts) {
  const { refusals, pages } = limiter;
  // The apps that used their window up, and when it ends.
  const spent = new Map<string, number>();
  // The partners whose apps showed their secrets, by hashes of them.
  const owners = new LRUCache<string, string>(OWNERS);
  const keyOf = (authorization: string) => hash('sha256', authorization);

  /**
   * For an address over a limit, the seconds that it has to wait. A secret in a header may be
   * valid, however many requests of its address show nothing.
   */
  async function secondsToWait({ address, headers }: HttpRequest): Promise<number | undefined> {
    if (headers.authorization === undefined && pages.isOver(address))
      return pages.secondsLeft(address);
    return refusals.isOver(address) ? countPage(address) : undefined;
  }

  async function countPage(address: string): Promise<number | undefined> {
    const { allowed, resetSeconds } = await limiter.consumePage(address);
    return allowed ? undefined : resetSeconds;
  }

  async function count(
    { address }: HttpRequest,
    { clientId, isCredential }: Shown,
    { counts, status }: IdentityResponse,
  ): Promise<number | undefined> {
    if (status >= 500) return undefined;
    // A token that is valid, but was used too often.
    if (status === 429) return countPage(address);
    if (counts === 'refused' || (counts === undefined && isCredential)) {
      const { allowed, resetSeconds } = await limiter.consumeRefusal(address);
      return allowed ? undefined : resetSeconds;
    }
    if (counts === undefined || clientId === undefined) return undefined;
    const { remaining, resetSeconds } = await limiter.consumeApp(clientId);
    // The next one is refused before the provider uses up its code or token.
    if (remaining === 0) spent.set(clientId, performance.now() + resetSeconds * 1_000);
    return undefined;
  }

  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { address, method } = request;
    if (method !== 'POST') return oauthError(405, 'invalid_request', { allow: 'POST' });
    const { authorization } = request.headers;
    const known = authorization === undefined ? undefined : owners.get(keyOf(authorization));
    const isCharged = known === undefined && refusals.isOver(address);
    const unread = known === undefined ? await secondsToWait(request) : undefined;
    if (unread !== undefined) return { ...tooMany(unread), closes: true };
    const body = (await request.body(BODY_LIMIT)).toString();
    await request.admit(known);
    if (hasTooMany(body)) return oauthError(400, 'invalid_request');
    const shown = shownIn(request, body);
    const { clientId, isCredential } = shown;
    const wait = ((clientId && spent.get(clientId)) || 0) - performance.now();
    if (wait > 0) return tooMany(Math.ceil(wait / 1_000));
    const isPage = known !== undefined || isCharged || !isCredential;
    const uncounted = !isCredential && !isCharged ? await countPage(address) : undefined;
    if (uncounted !== undefined) return { ...tooMany(uncounted), closes: true };
    let seconds: number | undefined;
    const answer = await provider.ask(request, body, {
      owner: known,
      async within(ask) {
        // Others of the address may have been refused while it waited.
        seconds = isPage ? undefined : await secondsToWait(request);
        if (seconds !== undefined) return REFUSED;
        const answered = await ask();
        seconds = await count(request, shown, answered);
        if (authorization && answered.owner) owners.set(keyOf(authorization), answered.owner);
        else if (authorization && answered.counts === 'refused')
          owners.delete(keyOf(authorization));
        return answered;
      },
    });
    return seconds === undefined
      ? provider.respond(request, answer)
      : { ...tooMany(seconds), closes: true };
  };
}
const REFUSED: IdentityResponse = { status: 429, headers: {} };

type Shown = { clientId: string | undefined; isCredential: boolean };

/** Whether it has what only the provider can check, and the app that it names beside a secret. */
function shownIn(request: HttpRequest, body: string): Shown {
  const form = new URLSearchParams(body);
  const clientId = clientWithSecret(request, form);
  const name =
    request.path === '/oauth/revoke' ? 'token' : CREDENTIALS.get(form.get('grant_type') ?? '');
  const isCredential = clientId !== undefined || (name !== undefined && !!form.get(name));
  return { clientId, isCredential };
}
const CREDENTIALS = new Map([
  ['authorization_code', 'code'],
  ['refresh_token', 'refresh_token'],
]);

/** The app that a request names beside a secret (RFC 6749, section 2.3.1). */
function clientWithSecret({ headers }: HttpRequest, form: URLSearchParams): string | undefined {
  const basic = /^basic +([\w+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic === undefined)
    return form.has('client_secret') ? (form.get('client_id') ?? '') : undefined;
  const [name = ''] = Buffer.from(basic, 'base64').toString().split(':', 1);
  // Form-encoded; one that is not is no app's.
  return new URLSearchParams(`name=${name}`).get('name') ?? '';
}

function tooMany(seconds: number): HttpResponse {
  return oauthError(429, 'temporarily_unavailable', { 'retry-after': `${seconds}` });
}

/** An error of an endpoint that is no page (RFC 6749, section 5.2; RFC 6750). */
export function oauthError(
  status: number,
  error: string,
  headers: ResponseHeaders = {},
): HttpResponse {
  return { status, headers, body: JSON.stringify({ error }) };
}

/** The response instead of an error; masks what is not an ApiError. */
function oauthFailure(error: unknown, { requestId }: HttpRequest, log: Log): HttpResponse {
  if (error instanceof ApiError && error.code !== 'INTERNAL_SERVER_ERROR')
    return oauthError(
      error.status,
      error.status === 503 ? 'temporarily_unavailable' : 'invalid_request',
    );
  logMasked(log, requestId, error);
  return oauthError(500, 'server_error');
}
