// The OpenID Provider of this service: oidc-provider, set up for its apps, members and keys.

import { createPublicKey } from 'node:crypto';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import {
  type Client,
  type Context,
  ExternalSigningKey,
  errors,
  type GrantSource,
  interactionPolicy,
  Provider,
  type RefreshToken,
  type RequestContext,
} from 'oidc-provider';
import { ALGORITHM, type SigningKey } from '../signingkeys/signingkey.ts';
import type { MembersStore } from '../store/store.ts';
import { SESSION_MS } from '../tables/access.ts';
import { createAdapter } from './adapter.ts';
import { CLAIMS, claimsOf, holderOf, SCOPES } from './claims.ts';
import { hasSecret } from './clientsecret.ts';
import { digest } from './digest.ts';
import type { Endings } from './endings.ts';
import { asksEachTime, createGrants } from './grants.ts';
import { isRegistered, originOf } from './redirects.ts';
import { show, showError, showSignedOut } from './render.ts';
import type { Sessions } from './sessions.ts';

export type ProviderParts = {
  store: MembersStore;
  endings: Endings;
  sessions: Sessions;
  /** The base address of the service, which may have a path. */
  issuer: string;
  log: Log;
};

const DAY = 24 * 3_600;
const YEAR = 365 * DAY;
const MONTH = SESSION_MS / 1_000;
const now = () => Math.floor(Date.now() / 1_000);

/** In seconds. A family of tokens lasts a year, and a refresh token 30 days from its last use. */
const LIFETIMES = {
  AccessToken: 600,
  AuthorizationCode: 60,
  Grant: YEAR,
  IdToken: 3_600,
  Interaction: 1_800,
  Session: MONTH,
  RefreshToken: (_ctx: unknown, { iiat }: RefreshToken) =>
    Math.max(1, Math.min(MONTH, iiat + YEAR - now())),
};

type Authorization = Context & { oidc: RequestContext };

export async function createProvider(
  parts: ProviderParts,
  keys: readonly SigningKey[],
): Promise<Provider> {
  const { store, endings, sessions, issuer, log } = parts;
  const grants = createGrants(parts);
  const { pathname } = new URL(issuer);
  const basePath = pathname === '/' ? '' : pathname;

  const policy = interactionPolicy.base();
  const { checks } = policy.get('consent');
  checks.remove('native_client_prompt');
  const isUnasked = ({ oidc }: Authorization) =>
    oidc.client !== undefined && asksEachTime(oidc.client) && oidc.result?.consent === undefined;
  checks.add(
    new interactionPolicy.Check('each_time', 'not agreed', 'interaction_required', isUnasked),
  );

  const provider: Provider = new Provider(issuer, {
    adapter: createAdapter({
      store,
      endings,
      resumeUrl: `${issuer}/oauth/authorize/`,
      AlreadyUsed: errors.InvalidGrant,
    }),
    claims: CLAIMS,
    scopes: SCOPES,
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientBasedCORS: (_ctx: Context, origin: string, client: Client) =>
      client.origins.includes(origin),
    conformIdTokenClaims: false,
    cookies: {
      names: { session: sessions.name, interaction: 'interaction', resume: 'authorization' },
      long: { httpOnly: true, sameSite: 'lax', path: '/' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    enabledJWA: { idTokenSigningAlgValues: [ALGORITHM] },
    expiresWithSession: () => false,
    extraClientMetadata: { properties: ['origins', 'partner_id', 'is_first_party'] },
    extraTokenClaims: ({ oidc: { client } }: Authorization, { grantId }: GrantSource) => ({
      sid: digest(grantId),
      ...(client && holderOf(client)),
    }),
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      externalSigningSupport: { enabled: true, ack: 'experimental-01' },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx: Context, resource: string) {
          if (resource !== issuer) throw new errors.InvalidTarget();
          return {
            scope: SCOPES.join(' '),
            audience: issuer,
            accessTokenFormat: 'jwt',
            accessTokenTTL: LIFETIMES.AccessToken,
            jwt: { sign: { alg: ALGORITHM } },
          };
        },
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx: Context, client: Client, token: { clientId: string }) =>
          token.clientId === client.clientId,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx: Authorization) =>
          show(ctx, 200, {
            name: 'signOut',
            action: `${basePath}/oauth/end-session/confirm`,
            xsrf: ctx.oidc.session?.state?.secret ?? '',
            formOrigins: backOf(ctx),
            ...(ctx.oidc.client && { appName: ctx.oidc.client.clientName }),
          }),
        postLogoutSuccessSource: showSignedOut,
      },
      userinfo: { enabled: false },
    },
    async findAccount(ctx: Authorization, memberId: string, source?: GrantSource) {
      const { client } = ctx.oidc;
      const member = await store.member(memberId);
      if (member === undefined || client === undefined) return undefined;
      if (source === undefined) await sessions.used(ctx, memberId);
      else await endings.settled(memberId, client.clientId);
      const sid = source && digest(source.grantId);
      return { accountId: memberId, claims: async () => claimsOf(member, client, sid) };
    },
    interactions: {
      policy,
      url: (_ctx: Context, { jti }: { jti: string }) => `${basePath}/sign-in/${jti}`,
    },
    issueRefreshToken: () => true,
    jwks: { keys: await jwksOf(keys, store) },
    loadExistingGrant: (ctx: Authorization) => grants.load(provider, ctx),
    pkce: { required: () => true },
    renderError: showError,
    responseTypes: ['code'],
    rotateRefreshToken: true,
    routes: {
      authorization: '/oauth/authorize',
      end_session: '/oauth/end-session',
      jwks: '/.well-known/jwks.json',
      revocation: '/oauth/revoke',
      token: '/oauth/token',
    },
    ttl: LIFETIMES,
  });
  provider.proxy = true;
  provider.on('server_error', (_ctx, err) => log.error({ err }, 'a sign-in request failed'));
  adjustModels(provider, endings);
  return provider;
}

/** Where the app wants the browser after signing out. */
function backOf({ oidc: { session } }: Authorization): string[] {
  const uri = session?.state?.postLogoutRedirectUri;
  return uri === undefined ? [] : originOf(uri);
}

/** What this service does in its own way. */
function adjustModels({ Client, Session }: Provider, endings: Endings): void {
  Client.prototype.compareClientSecret = function compare(given) {
    return this.clientSecret !== undefined && hasSecret(this.clientSecret, given, Date.now());
  };
  Client.prototype.redirectUriAllowed = function isAllowed(uri) {
    return isRegistered(uri, this.redirectUris, this.clientAuthMethod === 'none');
  };
  Client.prototype.postLogoutRedirectUriAllowed = Client.prototype.redirectUriAllowed;
  const { destroy } = Session.prototype;
  Session.prototype.destroy = async function end() {
    if (this.accountId !== undefined) await endings.endSession(this.accountId, digest(this.uid));
    await destroy.call(this);
  };
}

/** The current key with its private half; retired ones verify the ID tokens of sign-outs. */
async function jwksOf(
  keys: readonly SigningKey[],
  { signingKeys }: Pick<MembersStore, 'signingKeys'>,
): Promise<object[]> {
  const usable = keys.filter(({ publicKey, state }) => publicKey.kty === 'RSA' && state !== 'next');
  const ordered = usable.toSorted((one) => (one.state === 'current' ? -1 : 1));
  return Promise.all(
    ordered.map(async (key) => {
      const common = { kid: key.kid, alg: ALGORITHM, use: 'sig' };
      if (key.state === 'current')
        return { ...(await signingKeys.unseal(key.privateKey)), ...common };
      const retired = new ExternalSigningKey();
      retired.kid = key.kid;
      retired.alg = ALGORITHM;
      // Cast: a public JWK as jose and Node both have it.
      const publicKey = createPublicKey({
        key: key.publicKey as import('node:crypto').JsonWebKey,
        format: 'jwk',
      });
      retired.keyObject = () => publicKey;
      return retired;
    }),
  );
}
