// Verifies members' tokens (docs/callers/openid.md, Member tokens), and caches valid ones.
import { hash } from 'node:crypto';
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError, fail } from '@partner-loyalty/runtime/errors.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { type CompactVerifyGetKey, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Jwks } from './jwks.ts';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const TOLERANCE_SECONDS = 30;
const MAX_LIFETIME_SECONDS = 24 * 3_600;
const MAX_TOKEN_LENGTH = 8_192;
const MAX_ID_LENGTH = 128;
/** Measured (test/memory), with IDs of 128 characters. */
const BYTES_PER_TOKEN = 1_536;

/** The claims of a valid token. */
export type MemberToken = {
  memberId: string;
  /** The partner that holds it, itself or by its app. */
  partnerId?: string | undefined;
  /** The partner of a first-party app: it holds the token, and sees all that the member does. */
  firstPartyOf?: string | undefined;
  /** The app of the built-in provider that it was issued to. */
  clientId?: string | undefined;
  /** The session of the built-in provider that it belongs to. */
  sid?: string | undefined;
  /**
   * The scopes of a partner's app that may not see all fields, separated by spaces. Undefined for
   * tokens that show all.
   */
  scopes?: string | undefined;
  /** Whether it is an app's ID token: libraries put it into URLs, so it is only for queries. */
  isIdOfApp?: boolean | undefined;
  expiresAt: Date;
};

/** What a token of the built-in provider belongs to; `issuedAt` is in milliseconds. */
export type IssuedToken = Pick<MemberToken, 'memberId' | 'clientId' | 'partnerId' | 'sid'> & {
  issuedAt: number;
};

/** Why a token or a key is not valid; `unknown` is also a token that nobody here has issued. */
export type TokenRefusal = 'unknown' | 'malformed' | 'revoked' | 'expired' | 'unverified';

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;

export type TokenRules = {
  issuer: string;
  /** Each `aud` of a token has to be one of them. */
  audiences: readonly string[];
  keys: Jwks;
  memberClaim: string;
  /**
   * Whether an `azp` or `client_id` of an external provider names a partner. It is the ID of an
   * OAuth client there, which restricts the token only if a partner has the same ID. A token is
   * checked once, until the provider's keys change, so creating such a partner does not restrict
   * tokens already in use. Undefined for the built-in provider, whose `azp` is always a partner.
   */
  isPartner?: ((clientId: string) => MaybePromise<boolean>) | undefined;
  /**
   * Whether nothing that a token belongs to has ended, asked each time it is used, after the keys.
   * The built-in provider can end sessions; its tokens live 24 hours at most.
   */
  isCurrent?: ((token: IssuedToken) => boolean) | undefined;
  caches: Caches;
  /** The time in milliseconds since 1970. */
  now?: () => number;
};

/** JWS Compact Serialization (RFC 7515, section 7.1). Decoders also take blanks. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * The verifier takes keys only from `keys` and ignores what a token's header says about its key
 * (jku, x5u, jwk, x5c).
 */
export function createTokenVerifier(rules: TokenRules) {
  const { caches, keys, isCurrent = () => true, now = Date.now } = rules;
  const cache = caches.open<Verified>(() => BYTES_PER_TOKEN);

  async function verifyUncached(token: string, digest: string) {
    const verified = await verifiedToken(token, rules, now());
    if (typeof verified === 'string') return verified;
    cache.set(digest, verified);
    return currentClaims(verified);
  }

  function currentClaims({ claims, issuedAt }: Verified): MemberToken | TokenRefusal {
    return isCurrent({ ...claims, issuedAt }) ? claims : 'revoked';
  }

  return {
    /**
     * The claims of a token, or why it is not valid. Returns the plain value if the token has been
     * verified before, and the provider's keys have not changed since. Rejects with
     * SERVICE_UNAVAILABLE if the provider's keys or the partners cannot be read. If it would have
     * to be verified first, `mayVerify` decides.
     */
    verify(token: string, mayVerify = () => true): MaybePromise<MemberToken | TokenRefusal> {
      if (token.length > MAX_TOKEN_LENGTH || !COMPACT.test(token)) return 'malformed';
      const digest = hash('sha256', token, 'base64');
      const cached = cache.get(digest);
      if (cached === undefined || cached.claims.expiresAt.getTime() <= now())
        return mayVerify() ? verifyUncached(token, digest) : 'unverified';
      return mapMaybe(keys.latest(), (latest) =>
        latest === cached.keys ? currentClaims(cached) : verifyUncached(token, digest),
      );
    },
  };
}

type Verified = {
  claims: MemberToken;
  /** In milliseconds since 1970, for tokens of the built-in provider. */
  issuedAt: number;
  /** The keys that it was verified with. */
  keys: object;
};

async function verifiedToken(
  token: string,
  rules: TokenRules,
  now: number,
): Promise<Verified | TokenRefusal> {
  const { issuer, keys, isPartner } = rules;
  // If newer keys are fetched meanwhile, the token is verified again when it is used again.
  let latest: object = {};
  const find: CompactVerifyGetKey = async (header, jws) => {
    latest = await keys.latest();
    return keys.find(header, jws);
  };
  try {
    const { payload, protectedHeader } = await jwtVerify(token, find, {
      algorithms: ALGORITHMS,
      issuer,
      requiredClaims: ['aud', 'exp', 'iat', 'sub'],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    const { iat = 0, exp = 0, iat_ms } = payload;
    const kind = TYPES.get(protectedHeader.typ?.toLowerCase() ?? 'jwt');
    if (kind === undefined || !isIssued(payload, now)) return 'unknown';
    if (rules.isCurrent !== undefined && exp - iat > MAX_LIFETIME_SECONDS) return 'unknown';
    const holder = isPartner
      ? await externalHolder(payload, rules.audiences, isPartner)
      : ownHolder(payload, kind, issuer);
    const memberId = Object.hasOwn(payload, rules.memberClaim) && payload[rules.memberClaim];
    if (holder === undefined || !isId(memberId)) return 'unknown';
    const claims = { memberId, ...holder, expiresAt: new Date(exp * 1_000) };
    const issuedAt = typeof iat_ms === 'number' ? iat_ms : iat * 1_000;
    return { claims, issuedAt, keys: latest };
  } catch (error) {
    // An ApiError is about the provider's keys; any other error is about the token and refuses it.
    if (error instanceof ApiError) throw error;
    if (error instanceof errors.JWTExpired) return 'expired';
    return error instanceof errors.JWSInvalid ? 'malformed' : 'unknown';
  }
}

/** A provider's other tokens, such as those for logout, have a `typ` of their own. */
const TYPES: ReadonlyMap<string, 'id' | 'access'> = new Map([
  ['jwt', 'id'],
  ['at+jwt', 'access'],
  ['application/at+jwt', 'access'],
]);

/** Checks what jose leaves open: an `iat` that is not in the future, a `sub` that is not empty. */
function isIssued({ iat, sub }: JWTPayload, now: number): boolean {
  const issuedInTime = typeof iat === 'number' && iat <= now / 1_000 + TOLERANCE_SECONDS;
  return issuedInTime && typeof sub === 'string' && sub !== '';
}

type Holder = Omit<MemberToken, 'memberId' | 'expiresAt'>;

/**
 * Who holds a token of the built-in provider: an access token is for this service, and names its
 * app; an ID token is for its app, or for this service. Undefined if it is none of them.
 */
function ownHolder(
  { aud, azp, client_id, scope, partner_id: partnerId, first_party_of, sid }: JWTPayload,
  kind: 'id' | 'access',
  issuer: string,
): Holder | undefined {
  const [audience, ...others] = [aud].flat();
  if (!isId(audience) || others.length > 0) return undefined;
  if (kind === 'id' && audience === issuer)
    return isIdIfGiven(azp) ? { partnerId: azp } : undefined;
  if (kind === 'access' && audience !== issuer) return undefined;
  const clientId = kind === 'id' ? audience : client_id;
  const firstPartyOf = first_party_of;
  if (!isId(clientId) || !isId(sid) || !isIdIfGiven(partnerId) || !isIdIfGiven(firstPartyOf))
    return undefined;
  // An app is a partner's, in one way or the other.
  if ((partnerId === undefined) === (firstPartyOf === undefined)) return undefined;
  const scopes = firstPartyOf === undefined ? limitOf(scope) : undefined;
  return { clientId, sid, partnerId, firstPartyOf, scopes, isIdOfApp: kind === 'id' };
}

/** The scopes that stand for fields (docs/callers/openid.md, Apps). */
const FIELD_SCOPES = ['profile', 'email'];

/** What a scope allows if that is less than all; without one, what `openid` allows. */
function limitOf(scope: unknown): string | undefined {
  const given = typeof scope === 'string' ? scope.split(' ') : [];
  const allowed = FIELD_SCOPES.filter((one) => given.includes(one));
  return allowed.length === FIELD_SCOPES.length ? undefined : ['openid', ...allowed].join(' ');
}

/** No audience but this service's is allowed (OpenID Connect Core, section 3.1.3.7). */
async function externalHolder(
  { aud, azp, client_id }: JWTPayload,
  audiences: readonly string[],
  isPartner: (clientId: string) => MaybePromise<boolean>,
): Promise<Holder | undefined> {
  const given = [aud].flat();
  if (given.length === 0 || !given.every((each) => each && audiences.includes(each)))
    return undefined;
  for (const clientId of [azp, client_id]) {
    if (clientId !== undefined && typeof clientId !== 'string') return undefined;
    if (clientId !== undefined && (await namesPartner(clientId, isPartner)))
      return { partnerId: clientId };
  }
  return {};
}

async function namesPartner(
  clientId: string,
  isPartner: (clientId: string) => MaybePromise<boolean>,
): Promise<boolean> {
  try {
    return await isPartner(clientId);
  } catch (error) {
    return fail('SERVICE_UNAVAILABLE', undefined, { cause: error });
  }
}

function isIdIfGiven(value: unknown): value is string | undefined {
  return value === undefined || isId(value);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_LENGTH;
}
