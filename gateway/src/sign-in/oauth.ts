// The paths below /oauth/: what apps and the browsers that they send here ask the provider for.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { IdentityResponse } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { Limiter, Verdict } from '../budget/limiter.ts';
import type { Cors } from '../edge/cors.ts';
import { logMasked } from '../edge/endpoint.ts';
import { observed } from '../pages/layout.ts';
import type { Visit } from '../pages/visit.ts';
import { createFormPage } from './form.ts';
import type { Forms } from './forms.ts';
import type { Provider } from './provider.ts';

export const OAUTH_PATH = '/oauth/';
const BODY_LIMIT = 64 * 1024;

export type OauthParts = {
  provider: Provider;
  userinfo: (request: HttpRequest) => Promise<HttpResponse>;
  limiter: Pick<Limiter, 'consumeApp' | 'consumePage' | 'consumeRefusal' | 'refusals'>;
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
 * The endpoints that apps call themselves: who shows nothing valid is counted, like a visitor of a
 * page or, for a wrong secret, code or token, like a refused credential.
 */
function createExchange({ provider, limiter }: OauthParts) {
  // The apps that used their window up, and when it ends.
  const spent = new Map<string, number>();

  async function count(
    request: HttpRequest,
    clientId: string | undefined,
    { counts }: IdentityResponse,
  ): Promise<Verdict | undefined> {
    if (counts === 'refused') return limiter.consumeRefusal(request.address);
    if (counts === undefined) return limiter.consumePage(request.address);
    if (clientId === undefined) return undefined;
    const { remaining, resetSeconds } = await limiter.consumeApp(clientId);
    // The next one is refused before the provider uses up its code or token.
    if (remaining === 0) spent.set(clientId, performance.now() + resetSeconds * 1_000);
    return undefined;
  }

  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { address, method } = request;
    if (method !== 'POST') return oauthError(405, 'invalid_request', { allow: 'POST' });
    // Others behind this address may still have valid ones, for as long as it is no flood.
    const page = limiter.refusals.isOver(address) ? await limiter.consumePage(address) : undefined;
    if (page?.allowed === false) return tooMany(page.resetSeconds);
    const body = await readBody(request);
    const clientId = clientWithSecret(request, body);
    const wait = ((clientId && spent.get(clientId)) || 0) - performance.now();
    if (wait > 0) return tooMany(Math.ceil(wait / 1_000));
    const answer = await provider.ask(request, body);
    const verdict = await count(request, clientId, answer);
    return verdict?.allowed === false
      ? tooMany(verdict.resetSeconds)
      : provider.respond(request, answer);
  };
}

/** The app that a request names beside a secret (RFC 6749, section 2.3.1). */
function clientWithSecret({ headers }: HttpRequest, body: string): string | undefined {
  const form = new URLSearchParams(body);
  const basic = /^basic +([\w+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic === undefined)
    return form.has('client_secret') ? (form.get('client_id') ?? '') : undefined;
  const [name = ''] = Buffer.from(basic, 'base64').toString().split(':', 1);
  // Form-encoded; one that is not is no app's.
  return new URLSearchParams(`name=${name}`).get('name') ?? '';
}

async function readBody(request: HttpRequest): Promise<string> {
  const body = await request.body(BODY_LIMIT);
  await request.admit(undefined);
  return body.toString();
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
