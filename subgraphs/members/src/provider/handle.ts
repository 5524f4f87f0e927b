// Handles the requests that the gateway forwards, with oidc-provider and the pages before it.
import {
  type IdentityRequest,
  type IdentityResponse,
  USERINFO_PATH,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import inject from 'light-my-request';
import type { Context, Provider } from 'oidc-provider';
import { createEndings } from './endings.ts';
import { createKnownBrowsers } from './knownbrowsers.ts';
import { COUNTS_HEADER, createPages } from './pages.ts';
import { createProvider, type ProviderParts } from './provider.ts';
import { PAGE_HEADER, say } from './render.ts';
import { createSessions } from './sessions.ts';
import type { SignInParts } from './signin.ts';
import { userinfoOf } from './userinfo.ts';

export type IdentityParts = Pick<ProviderParts, 'store' | 'issuer' | 'log'> &
  Pick<SignInParts, 'metrics' | 'wake'>;

/** Both texts are JSON, as runtime/src/signin/exchange.ts has them. */
export function createIdentity(parts: IdentityParts): (request: string) => Promise<string> {
  const { store, issuer } = parts;
  const { pathname, host, protocol } = new URL(issuer);
  const basePath = pathname === '/' ? '' : pathname;
  const sessions = createSessions(parts);
  const endings = createEndings(store);
  const browsers = createKnownBrowsers(store, sessions);
  const shared = { ...parts, sessions, endings, browsers, basePath };
  const pages = createPages(shared);
  let open: { kids: string; provider: Promise<Provider> } | undefined;

  async function openWith(keys: Parameters<typeof createProvider>[1]): Promise<Provider> {
    const provider = await createProvider(shared, keys);
    return provider.use(counting).use(signedOut).use(pages(provider));
  }

  /** Made again when the signing keys have changed. */
  async function providerNow(): Promise<Provider> {
    const keys = await store.signingKeys.keys();
    const kids = keys.map(({ kid, state }) => `${kid} ${state}`).join('\n');
    if (open?.kids !== kids) {
      const provider = openWith(keys);
      open = { kids, provider };
      provider.catch(() => {
        open = undefined;
      });
    }
    return open.provider;
  }

  return async (text) => {
    // Cast: only the gateway asks, in a signed request.
    const request: IdentityRequest = JSON.parse(text);
    if (request.path === USERINFO_PATH) {
      const body = await userinfoOf(store, request.body);
      return JSON.stringify({ status: body === undefined ? 401 : 200, headers: {}, body });
    }
    const provider = await providerNow();
    const handle = provider.callback();
    const response = await inject(
      (req, res) => {
        // How oidc-provider knows the path that the service is below.
        Object.assign(req, { baseUrl: basePath });
        handle(req, res);
      },
      {
        // Cast: the methods that the gateway forwards.
        method: request.method as 'GET',
        url: `${request.path}${request.search}`,
        headers: {
          ...request.headers,
          host,
          'x-forwarded-proto': protocol.slice(0, -1),
          'x-forwarded-for': request.clientAddress,
          'x-language': request.language,
        },
        ...(request.method === 'POST' && { payload: bodyOf(request) }),
      },
    );
    return JSON.stringify(toResponse(response));
  };
}

/** oidc-provider wants another field of the form that confirms a sign-out. */
function bodyOf({ path, body }: IdentityRequest): string {
  return path === '/oauth/end-session/confirm' ? body.replace('sign-out=', 'logout=') : body;
}

function toResponse({
  statusCode: status,
  headers,
  payload,
}: {
  statusCode: number;
  headers: NodeJS.Dict<string | number | string[]>;
  payload: string;
}): IdentityResponse {
  const { [PAGE_HEADER]: isPage, [COUNTS_HEADER]: counts, ...others } = headers;
  const passed = Object.entries(others).flatMap(([name, value]) => {
    if (value === undefined || UNPASSED.includes(name)) return [];
    return [[name, Array.isArray(value) ? value : String(value)]];
  });
  return {
    status,
    headers: Object.fromEntries(passed),
    ...(isPage === undefined ? { body: payload } : { page: JSON.parse(payload) }),
    // Cast: set below, and in pages.ts.
    ...(counts !== undefined && { counts: counts as 'valid' | 'refused' }),
  };
}

const UNPASSED = ['connection', 'content-length', 'date', 'transfer-encoding'];

type Next = () => Promise<void>;

/** What a request of an app counts as: with a valid secret, nothing is refused. */
async function counting(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.path !== '/oauth/token' && ctx.path !== '/oauth/revoke') return;
  const { client, entities = {} } = ctx.oidc ?? {};
  // Cast: an error of oidc-provider.
  const { error } = (ctx.body ?? {}) as { error?: string };
  const isAuthenticated =
    client !== undefined && client.clientAuthMethod !== 'none' && error !== 'invalid_client';
  const isFound = entities.RefreshToken !== undefined || entities.AuthorizationCode !== undefined;
  if (isAuthenticated || (isFound && error === undefined)) ctx.set(COUNTS_HEADER, 'valid');
  else if (error === 'invalid_client' || error === 'invalid_grant' || error === undefined)
    ctx.set(COUNTS_HEADER, 'refused');
}

/** Who is not signed in has nothing to confirm, so the browser goes on at once. */
async function signedOut(ctx: Context, next: Next): Promise<void> {
  await next();
  const { session } = ctx.oidc ?? {};
  if (ctx.path !== '/oauth/end-session' || ctx.status !== 200 || session?.state === undefined)
    return;
  if (session.accountId !== undefined) return;
  const { postLogoutRedirectUri, state } = session.state;
  if (postLogoutRedirectUri === undefined) return say(ctx, 200, 'signedOut');
  const url = new URL(postLogoutRedirectUri);
  if (state !== undefined) url.searchParams.set('state', state);
  ctx.status = 303;
  ctx.redirect(url.href);
}
