// Handles the requests that the gateway forwards, with oidc-provider and the pages before it.
import { text as readText } from 'node:stream/consumers';
import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import {
  type IdentityRequest,
  type IdentityResponse,
  SESSION_PATH,
  USERINFO_PATH,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import type { KoaContextWithOIDC as Context, Provider } from 'oidc-provider';
import { createAuthorizations, secretsOf, withoutCookies } from './authorizations.ts';
import { userinfoOf } from './claims.ts';
import { createGrants } from './grants.ts';
import { createPages, redirect } from './pages.ts';
import { createProvider } from './provider.ts';
import { Outgoing, outgoingOf, say } from './render.ts';
import { createSessions, type Sessions } from './sessions.ts';

export type Identity = (request: IdentityRequest) => Promise<IdentityResponse>;

export function createIdentity(parts: Omit<MembersCore, 'settings'>): Identity {
  const { store, issuer } = parts;
  const { pathname, host, protocol } = new URL(issuer);
  const basePath = pathname === '/' ? '' : pathname;
  const grants = createGrants(parts);
  const sessions = createSessions(parts, grants);
  const shared = { ...parts, sessions, grants, basePath };
  const pages = createPages(shared);
  let open: { kids: string; provider: Provider } | undefined;

  /** Made again when the signing keys have changed. */
  async function providerNow(): Promise<Provider> {
    const keys = await store.signingKeys.keys();
    const kids = keys.map(({ kid, state }) => `${kid} ${state}`).join('\n');
    if (open?.kids !== kids) {
      const secrets = await secretsOf(keys, store.signingKeys.unseal);
      const authorizations = createAuthorizations(secrets, store.payloads, sessions);
      const provider = await createProvider({ ...shared, authorizations }, keys);
      for (const one of [
        pagesOnly(parts.log),
        counting(store),
        signedOut(sessions),
        authorizing(basePath),
        pages(provider, authorizations),
      ])
        provider.use(one);
      open = { kids, provider };
    }
    return open.provider;
  }

  return async (request) => {
    if (request.path === USERINFO_PATH) {
      const body = await userinfoOf(store, request.body);
      return { status: body === undefined ? 401 : 200, headers: {}, body };
    }
    if (request.path === SESSION_PATH)
      return { status: 200, headers: {}, owner: await sessions.personOf(request.body) };
    const provider = await providerNow();
    const outgoing = new Outgoing(request, basePath, {
      host,
      'x-forwarded-proto': protocol.slice(0, -1),
      'x-forwarded-for': request.clientAddress,
    });
    await provider.callback()(outgoing.req, outgoing);
    const { statusCode: status, content: body, result } = outgoing;
    return { status, headers: outgoing.getHeaders(), body, ...result };
  };
}

type Next = () => Promise<void>;

/** oidc-provider also takes capitals and a slash at the end, which nobody would count. */
const PATHS = /^\/(?!oauth\/)|^\/oauth\/([a-z-]+(\/[a-z-]+)?|authorize\/[\w-]+)$/;
/** What a posted request may have, which becomes a URL. */
const MAX_CHARACTERS = 4_096;

/** Makes a page of ours of whatever fails, is not found, or is a page of oidc-provider's own. */
const pagesOnly = (log: Log) => async (ctx: Context, next: Next) => {
  try {
    if (PATHS.test(ctx.path)) await next();
    if (ctx.status === 404 && !ctx.body) say(ctx, 404, 'invalidLink');
    else if (ctx.type === 'text/html' && !outgoingOf(ctx).isPage && !ctx.response.get('location'))
      say(ctx, 400, 'expired');
  } catch (err) {
    log.error({ err }, 'a sign-in request failed');
    say(ctx, 500, 'unavailable');
  }
};

/**
 * Apps may post these requests (OpenID Connect Core, 3.1.2.1, and RP-Initiated Logout, 2), but only
 * a GET has the cookies.
 */
const POSTED = ['/oauth/authorize', '/oauth/end-session'];

const authorizing = (basePath: string) => async (ctx: Context, next: Next) => {
  if (/^\/oauth\/authorize(\/|$)/.test(ctx.path)) withoutCookies(ctx);
  if (POSTED.includes(ctx.path) && ctx.method === 'POST') {
    const query = `${new URLSearchParams(await readText(ctx.req))}`;
    return query.length > MAX_CHARACTERS
      ? say(ctx, 400, 'appRefused', `It is longer than ${MAX_CHARACTERS} characters.`)
      : redirect(ctx, `${basePath}${ctx.path}?${query}`);
  }
  if (ctx.path !== '/oauth/authorize') return next();
  // In others that oidc-provider knows, it answers with a page of its own, to an error too.
  if ((ctx.query.response_mode ?? 'query') !== 'query')
    ctx.query = { ...ctx.query, response_mode: 'unsupported' };
  await next();
};

/** What a request of an app counts as: with a valid secret, nothing is refused. */
const counting = (store: MembersCore['store']) => async (ctx: Context, next: Next) => {
  await next();
  if (ctx.path !== '/oauth/token' && ctx.path !== '/oauth/revoke') return;
  const { client, entities = {} } = ctx.oidc ?? {};
  // Cast: an error of oidc-provider.
  const { error } = (ctx.body ?? {}) as { error?: string };
  const isAuthenticated =
    client !== undefined && client.clientAuthMethod !== 'none' && error !== 'invalid_client';
  const isFound = entities.RefreshToken !== undefined || entities.AuthorizationCode !== undefined;
  const isServed = error === undefined || error === 'temporarily_unavailable';
  const app = isAuthenticated ? await store.apps.find(client.clientId) : undefined;
  const { result } = outgoingOf(ctx);
  result.owner = app?.partnerId;
  result.clientId = app?.clientId;
  if (isAuthenticated || (isFound && isServed)) result.counts = 'valid';
  else if (error === 'invalid_client' || error === 'invalid_grant' || error === undefined)
    result.counts = 'refused';
};

/** Who is not signed in has nothing to confirm, so the browser goes on at once. */
const signedOut = (sessions: Sessions) => async (ctx: Context, next: Next) => {
  await next();
  if (ctx.path === '/oauth/end-session/confirm') sessions.forgetForms(ctx);
  const { accountId, state } = ctx.oidc?.session ?? {};
  if (ctx.path !== '/oauth/end-session' || ctx.status !== 200 || accountId || !state) return;
  if (typeof state.postLogoutRedirectUri !== 'string') return say(ctx, 200, 'signedOut');
  const url = new URL(state.postLogoutRedirectUri);
  if (typeof state.state === 'string') url.searchParams.set('state', state.state);
  redirect(ctx, url.href);
};
