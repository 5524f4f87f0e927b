// The OpenID Provider of this service: oidc-provider, set up for its apps, members and keys.
import { createPublicKey, hash, timingSafeEqual } from 'node:crypto';
import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import {
  ALGORITHM,
  type KeyVault,
  type SigningKey,
} from '@partner-loyalty/members/signingkeys/signingkey.ts';
import { digest, SESSION_MS } from '@partner-loyalty/members/tables/access.ts';
import type { App } from '@partner-loyalty/members/tables/apps.ts';
import {
  type AccessToken,
  type KoaContextWithOIDC as Context,
  ExternalSigningKey,
  errors,
  interactionPolicy,
  Provider,
  type RefreshToken,
} from 'oidc-provider';
import { createAdapter } from './adapter.ts';
import {
  AUTHORIZATION_SECONDS,
  type Authorizations,
  isTooLong,
  NO_COOKIES,
} from './authorizations.ts';
import { CLAIMS, claimsOf, holderOf, SCOPES, viewOf } from './claims.ts';
import type { Grants } from './grants.ts';
import { isRegistered, originOf } from './redirects.ts';
import { nextToken } from './refreshtokens.ts';
import { say, show, showError, signOutPage, textsOf } from './render.ts';
import type { Sessions } from './sessions.ts';

type ProviderParts = Pick<MembersCore, 'store' | 'issuer' | 'log'> & {
  grants: Grants;
  sessions: Sessions;
  authorizations: Authorizations;
  /** The path of the issuer, or an empty text. */
  basePath: string;
};

const DAY = 24 * 3_600;
const YEAR = 365 * DAY;
const MONTH = SESSION_MS / 1_000;
const now = () => Math.floor(Date.now() / 1_000);

/** In seconds. A family of tokens lasts a year, and a refresh token 30 days from its last use. */
const LIFETIMES = {
  AccessToken: 600,
  Grant: YEAR,
  IdToken: 3_600,
  Interaction: AUTHORIZATION_SECONDS,
  Session: MONTH,
  RefreshToken: (_ctx: unknown, { iiat = now() }: RefreshToken) =>
    Math.max(1, Math.min(MONTH, iiat + YEAR - now())),
};

export async function createProvider(
  parts: ProviderParts,
  keys: readonly SigningKey[],
): Promise<Provider> {
  const { store, grants, sessions, authorizations, issuer, basePath, log } = parts;
  const appOf = ({ oidc: { client } }: Context) => store.apps.find(client?.clientId ?? '');

  const policy = interactionPolicy.base();
  policy.get('login')?.checks.add(new interactionPolicy.Check('size', 'too long', isTooLong));
  // Without a grant, members are asked anyway.
  policy.get('consent')?.checks.remove('native_client_prompt');
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('session_of_another_partner', 'sign in again', async (ctx) => {
      const { session } = ctx.oidc;
      if (session?.accountId === undefined || ctx.oidc.result?.login !== undefined) return false;
      const found = await sessions.find(session.accountId, session);
      if (found === undefined) return true;
      if (found.limitedTo === undefined) return false;
      const app = await appOf(ctx);
      return app === undefined || viewOf(app) !== found.limitedTo;
    }),
  );

  const provider: Provider = new Provider(issuer, {
    adapter: createAdapter(parts),
    claims: CLAIMS,
    scopes: SCOPES,
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    conformIdTokenClaims: false,
    cookies: {
      names: { session: sessions.name, ...NO_COOKIES },
      long: { httpOnly: true, sameSite: 'lax', path: '/' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    enabledJWA: { idTokenSigningAlgValues: [ALGORITHM] },
    expiresWithSession: () => false,
    async extraTokenClaims(ctx, token) {
      const app = await appOf(ctx);
      // Cast: no other tokens are issued, and all by a grant.
      return { sid: digest((token as AccessToken).grantId), ...(app && holderOf(app)) };
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      externalSigningSupport: { enabled: true, ack: 'experimental-01' },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, resource) {
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
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource(ctx) {
          const { secret, postLogoutRedirectUri: uri } = ctx.oidc.session?.state ?? {};
          const action = `${basePath}/oauth/end-session/confirm`;
          const text = signOutPage(action, String(secret), textsOf(ctx));
          show(ctx, 200, text, typeof uri === 'string' ? originOf(uri) : []);
        },
        postLogoutSuccessSource: (ctx) => say(ctx, 200, 'signedOut'),
      },
      userinfo: { enabled: false },
    },
    async findAccount(ctx, memberId, token) {
      // Before anything is read: what ends later is dated later.
      const now = Date.now();
      const [member, app] = [await store.member(memberId), await appOf(ctx)];
      if (member === undefined || app === undefined) return undefined;
      const sid = token && digest(token.grantId ?? '');
      if (sid !== undefined) await store.access.useGrant(memberId, sid);
      else if (!(await sessions.used(ctx, memberId)))
        throw new errors.AccessDenied('the session has ended');
      const time = sid && (await grants.timeOfTokens(memberId, app.clientId, now));
      // An end after this covers the time; one before has taken the grant away.
      if (sid !== undefined && !(await store.access.has(memberId, 'Grant', sid))) return undefined;
      return {
        accountId: memberId,
        time,
        claims: async (_use, scope) => ({
          ...claimsOf(member, app, sid, scope),
          ...(time && { iat_ms: time }),
        }),
      };
    },
    formats: {
      customizers: {
        jwt({ oidc: { account } }, _token, { payload }) {
          Object.assign(payload, { iat_ms: account?.time });
        },
      },
    },
    interactions: {
      policy,
      url: async (ctx, interaction) =>
        `${basePath}/sign-in/${await authorizations.seal(ctx, interaction)}`,
    },
    issueRefreshToken: () => true,
    jwks: { keys: await jwksOf(keys, store.signingKeys.unseal) },
    loadExistingGrant: (ctx) => grants.load(provider, ctx),
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
  adjustModels(provider, grants);
  return provider;
}

/** What this service does in its own way. */
function adjustModels({ Client, RefreshToken, Session }: Provider, grants: Grants): void {
  Client.prototype.compareClientSecret = function compare(given) {
    return this.clientSecret !== undefined && hasSecret(this.clientSecret, given, Date.now());
  };
  Client.prototype.redirectUriAllowed = function isAllowed(uri) {
    return isRegistered(uri, this.redirectUris ?? [], this.clientAuthMethod === 'none');
  };
  Client.prototype.postLogoutRedirectUriAllowed = Client.prototype.redirectUriAllowed;
  const { destroy } = Session.prototype;
  Session.prototype.destroy = async function end() {
    if (this.accountId !== undefined) await grants.endSession(this.accountId, digest(this.uid));
    await destroy.call(this);
  };
  const { save } = RefreshToken.prototype;
  RefreshToken.prototype.save = function store() {
    const used = Provider.ctx?.oidc.entities.RotatedRefreshToken;
    this.jti ||= nextToken(this.grantId ?? '', used?.jti);
    return save.call(this);
  };
}

/** The current key with its private half; retired ones verify the ID tokens of sign-outs. */
async function jwksOf(keys: readonly SigningKey[], unseal: KeyVault['unseal']): Promise<object[]> {
  const usable = keys.filter(({ publicKey, state }) => publicKey.kty === 'RSA' && state !== 'next');
  const ordered = usable.toSorted((one) => (one.state === 'current' ? -1 : 1));
  return Promise.all(
    ordered.map(async (key) => {
      const common = { kid: key.kid, alg: ALGORITHM, use: 'sig' };
      if (key.state === 'current') return { ...(await unseal(key.privateKey)), ...common };
      // Cast: a public JWK as jose and Node both have it.
      const publicKey = key.publicKey as import('node:crypto').JsonWebKey;
      const keyObject = () => createPublicKey({ key: publicKey, format: 'jwk' });
      return Object.assign(new ExternalSigningKey(), { kid: key.kid, alg: ALGORITHM, keyObject });
    }),
  );
}

/** Whether it is one of the secrets in JSON. Takes the same time for all. */
function hasSecret(secrets: string, given: string, now: number): boolean {
  const digest = Buffer.from(hash('sha256', given));
  // Cast: the app's secrets as it is stored.
  const valid = (JSON.parse(secrets) as NonNullable<App['secrets']>).filter(
    ({ until = now + 1 }) => until > now,
  );
  return valid.map((one) => timingSafeEqual(digest, Buffer.from(one.hash))).includes(true);
}
