// The paths below /oauth/: what apps and the browsers that they send here ask the provider for.
import { hash } from 'node:crypto';
import type { Cors } from '@partner-loyalty/gateway/edge/cors.ts';
import { logMasked } from '@partner-loyalty/gateway/edge/endpoint.ts';
import { createFormPage } from '@partner-loyalty/gateway/pages/formpage.ts';
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import { ApiError, fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { observed } from '@partner-loyalty/runtime/pages/layout.ts';
import type { IdentityResponse } from '@partner-loyalty/runtime/signin/exchange.ts';
import { LRUCache } from 'lru-cache';
import { hasTooMany, type Provider } from './provider.ts';
import { oauthError, userinfo } from './userinfo.ts';

const BODY_LIMIT = 64 * 1024;
/** The provider checks a secret each time, so that one that has ended gives nothing. */
const APPS = { ttl: 600_000, max: 10_000 };

type OauthParts = Core & {
  provider: Provider;
  cors: Cors;
};

/** Handles paths below /oauth/; never rejects. */
export function createOauth(parts: OauthParts): (request: HttpRequest) => Promise<HttpResponse> {
  const { provider, limiter, cors, visit, log } = parts;
  const exchange = createExchange(parts);

  const authorize = createFormPage({
    ...parts,
    show: async (request) => provider.respond(request, await provider.ask(request, '')),
    // The code that answers an app's request is given once.
    isOnce: ({ path }) => RESUMING.test(path),
    isForApps: ({ path }) => path !== CONFIRMING,
    submit: async (request, form) =>
      provider.respond(request, await provider.ask(request, form.toString())),
  });

  /** A request that cannot be read shows nothing, so it counts like a page of its address. */
  async function respond(request: HttpRequest): Promise<HttpResponse> {
    const allow = DOCUMENTS.get(request.path) ?? '';
    let response: HttpResponse;
    try {
      if (allow.split(', ').includes(request.method))
        return request.path === '/oauth/userinfo'
          ? await userinfo(parts, request)
          : await exchange(request);
      response = oauthError(405, 'invalid_request', { allow });
    } catch (error) {
      response = oauthFailure(error, request, log);
      if (response.status >= 500) return response;
    }
    const { allowed, resetSeconds } = await limiter.consumePage(request.address);
    return allowed ? response : { ...tooMany(resetSeconds), closes: true };
  }

  return (request) =>
    DOCUMENTS.has(request.path)
      ? cors.around(request, () => observed(request, () => respond(request), log))
      : visit(request, authorize);
}

/** Where a browser goes on after a question was answered. */
const RESUMING = /^\/oauth\/authorize\/./;
/** The member's own answer; apps may post requests (OpenID Connect Core, 3.1.2.1). */
const CONFIRMING = '/oauth/end-session/confirm';
/** The endpoints that apps call themselves, and their methods. */
const DOCUMENTS = new Map([
  ['/oauth/token', 'POST'],
  ['/oauth/revoke', 'POST'],
  ['/oauth/userinfo', 'GET, POST'],
]);

/**
 * The endpoints that apps call themselves. An address over its limit is refused before its body is
 * read, a request without code, token or secret before the provider is asked. An app whose secret
 * is known has a window of its own instead, which is charged first. Any other code, token or secret
 * takes a place with the provider first: it counts only if it is refused.
 */
function createExchange({ provider, limiter }: OauthParts) {
  const { refusals, pages } = limiter;
  // The apps that showed their secrets, by hashes of them.
  const apps = new LRUCache<string, App>(APPS);

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

  async function countApp({ clientId }: Pick<App, 'clientId'>): Promise<number | undefined> {
    const { allowed, resetSeconds } = await limiter.consumeApp(clientId);
    return allowed ? undefined : resetSeconds;
  }

  /** Counts what the provider has found, and remembers the app. */
  async function count(
    { address }: HttpRequest,
    { secret, known }: Shown,
    { counts, status, owner, clientId }: IdentityResponse,
  ): Promise<number | undefined> {
    if (status >= 500) return undefined;
    if (secret !== undefined && counts === 'valid') {
      if (clientId === undefined) return undefined;
      apps.set(secret, { clientId, owner });
      if (known === undefined) await countApp({ clientId });
      return undefined;
    }
    if (secret !== undefined && counts === 'refused') apps.delete(secret);
    // A token that is valid, but was used too often.
    if (status === 429) return countPage(address);
    if (counts === 'valid') return undefined;
    const { allowed, resetSeconds } = await limiter.consumeRefusal(address);
    return allowed ? undefined : resetSeconds;
  }

  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { address } = request;
    const inHeader = basicOf(request);
    const isKnown = inHeader !== undefined && apps.has(inHeader);
    const isCharged = !isKnown && refusals.isOver(address);
    const unread = isKnown ? undefined : await secondsToWait(request);
    if (unread !== undefined) return { ...tooMany(unread), closes: true };
    const body = (await request.body(BODY_LIMIT)).toString();
    const isTooMuch = hasTooMany(body) || hasTooMany(request.search);
    const form = new URLSearchParams(isTooMuch ? '' : body);
    const isRefused = isTooMuch || ONCE.some((name) => form.getAll(name).length > 1);
    const secret = isRefused ? undefined : (inHeader ?? postedIn(form));
    const known = secret === undefined ? undefined : apps.get(secret);
    await request.admit(known?.owner);
    if (isRefused) fail('BAD_REQUEST');
    const spent = known && (await countApp(known));
    if (spent !== undefined) return tooMany(spent);
    const missing = secret === undefined ? missingIn(request, form) : undefined;
    if (missing !== undefined) {
      const uncounted = isCharged ? undefined : await countPage(address);
      return uncounted === undefined
        ? oauthError(400, missing)
        : { ...tooMany(uncounted), closes: true };
    }
    let seconds: number | undefined;
    // The provider reads the same form, since its parser would read others in another way.
    const answer = await provider.ask(request, form.toString(), {
      owner: known?.owner,
      async within(ask) {
        // Others of the address may have been refused while it waited.
        seconds = known || isCharged ? undefined : await secondsToWait(request);
        if (seconds !== undefined) return REFUSED;
        const answered = await ask();
        seconds = await count(request, { secret, known }, answered);
        return answered;
      },
    });
    return seconds === undefined
      ? provider.respond(request, answer)
      : { ...tooMany(seconds), closes: true };
  };
}
const REFUSED: IdentityResponse = { status: 429, headers: {} };

/** The app that the provider has authenticated, and its partner. */
type App = Pick<IdentityResponse, 'owner'> & { clientId: string };
/** `secret` is a hash of an app's ID with its secret. */
type Shown = { secret: string | undefined; known: App | undefined };

/** What a request may have only once, so that everyone who reads it finds the same. */
const ONCE = ['client_id', 'client_secret', 'grant_type'];

/** The error of a request without a code or token, which only the provider can check. */
function missingIn({ path }: HttpRequest, form: URLSearchParams): string | undefined {
  const grant = form.get('grant_type');
  const name = path === '/oauth/revoke' ? 'token' : CREDENTIALS.get(grant ?? '');
  if (name === undefined) return grant ? 'unsupported_grant_type' : 'invalid_request';
  return form.get(name) ? undefined : 'invalid_request';
}
const CREDENTIALS = new Map([
  ['authorization_code', 'code'],
  ['refresh_token', 'refresh_token'],
]);

/** The secret in the header, which is form-encoded (RFC 6749, section 2.3.1). */
function basicOf({ headers }: HttpRequest): string | undefined {
  const basic = /^basic +([\w+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic === undefined) return undefined;
  const [id, ...rest] = Buffer.from(basic, 'base64').toString().split(':');
  return postedIn(new URLSearchParams(`client_id=${id}&client_secret=${rest.join(':')}`));
}

function postedIn(form: URLSearchParams): string | undefined {
  const [clientId, secret] = [form.get('client_id') ?? '', form.get('client_secret')];
  // The provider takes an empty one for none.
  return !secret ? undefined : hash('sha256', `${clientId}\n${secret}`);
}

function tooMany(seconds: number): HttpResponse {
  return oauthError(429, 'temporarily_unavailable', { 'retry-after': `${seconds}` });
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
