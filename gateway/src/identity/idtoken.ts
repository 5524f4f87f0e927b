// Verifies members' ID tokens (docs/api.md, Member tokens) and caches those that are valid.
import { hash } from 'node:crypto';
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError, fail } from '@partner-loyalty/runtime/errors.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { type CompactVerifyGetKey, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Jwks } from './jwks.ts';
import type { IssuedToken } from './ownprovider.ts';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const TOLERANCE_SECONDS = 30;
const MAX_LIFETIME_SECONDS = 24 * 3_600;
const MAX_TOKEN_LENGTH = 8_192;
const MAX_ID_LENGTH = 128;
/** Measured (test/memory), with IDs of 128 characters of a member and a partner. */
const BYTES_PER_TOKEN = 1_024;

/** The claims of a valid token. `partnerId` is the partner that its `azp` names as its holder. */
export type MemberToken = {
  memberId: string;
  partnerId?: string | undefined;
  expiresAt: Date;
};

/** Why a token or a key is not valid; `unknown` is also a token that nobody here has issued. */
export type TokenRefusal = 'unknown' | 'malformed' | 'revoked' | 'expired';

export type TokenVerifier = {
  /**
   * The claims of a token, or why it is not valid. Returns the plain value if the token has been
   * verified before, and the provider's keys have not changed since. Rejects with
   * SERVICE_UNAVAILABLE if the provider's keys or the partners cannot be read.
   */
  verify(token: string): MaybePromise<MemberToken | TokenRefusal>;
};

export type TokenRules = {
  issuer: string;
  audience: string;
  keys: Jwks;
  memberClaim: string;
  /**
   * Whether an `azp` names a partner. It always does if the service is its own provider. An
   * external provider writes the id of an OAuth client there, which restricts the token only if a
   * partner has the same id. A token is checked once, until the provider's keys change, so creating
   * such a partner does not restrict tokens already in use.
   */
  isPartner(azp: string): MaybePromise<boolean>;
  /**
   * Whether the session of a token has not ended, asked each time it is used, after the keys. The
   * built-in provider can end sessions; its tokens live 24 hours at most.
   */
  isCurrent?: ((token: IssuedToken) => boolean) | undefined;
  caches: Caches;
  /** The time in milliseconds since 1970. */
  now?: () => number;
};

/**
 * The verifier takes keys from `keys` alone and ignores what a token's header says about its key
 * (jku, x5u, jwk, x5c).
 */
export function createTokenVerifier(rules: TokenRules): TokenVerifier {
  const { caches, keys, isCurrent = () => true, now = Date.now } = rules;
  const cache = caches.open<Verified>(() => BYTES_PER_TOKEN);

  async function verifyUncached(token: string, digest: string) {
    const verified = await verifiedToken(token, rules, now());
    if (typeof verified === 'string') return verified;
    cache.set(digest, verified);
    return currentClaims(verified);
  }

  function currentClaims({ claims, issued }: Verified): MemberToken | TokenRefusal {
    return isCurrent(issued) ? claims : 'revoked';
  }

  return {
    verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) return 'malformed';
      const digest = hash('sha256', token, 'base64');
      const cached = cache.get(digest);
      if (cached === undefined || cached.claims.expiresAt.getTime() <= now())
        return verifyUncached(token, digest);
      return mapMaybe(keys.latest(), (latest) =>
        latest === cached.keys ? currentClaims(cached) : verifyUncached(token, digest),
      );
    },
  };
}

type Verified = {
  claims: MemberToken;
  issued: IssuedToken;
  /** Those that it was verified with. */
  keys: object;
};

async function verifiedToken(
  token: string,
  rules: TokenRules,
  now: number,
): Promise<Verified | TokenRefusal> {
  const { issuer, audience, keys } = rules;
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
      audience,
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    if (!isIdToken(protectedHeader.typ) || !isIssuedFor(audience, payload, now)) return 'unknown';
    const { iat = 0, exp = 0 } = payload;
    if (rules.isCurrent !== undefined && exp - iat > MAX_LIFETIME_SECONDS) return 'unknown';
    const claims = await memberToken(payload, rules);
    if (claims === undefined) return 'unknown';
    return { claims, issued: { memberId: claims.memberId, issuedAt: iat }, keys: latest };
  } catch (error) {
    // An ApiError is about the provider's keys; any other error is about the token and refuses it.
    if (error instanceof ApiError) throw error;
    if (error instanceof errors.JWTExpired) return 'expired';
    return error instanceof errors.JWSInvalid ? 'malformed' : 'unknown';
  }
}

/** A provider's other tokens, for access or logout, have a `typ` of their own. */
function isIdToken(typ: string | undefined): boolean {
  return typ === undefined || typ.toUpperCase() === 'JWT';
}

/**
 * Checks what jose leaves open: no audience but this service (OpenID Connect Core, section
 * 3.1.3.7), an `iat` that is not in the future, a `sub` that is not empty.
 */
function isIssuedFor(audience: string, { aud, iat, sub }: JWTPayload, now: number): boolean {
  const audiences = Array.isArray(aud) ? aud : [aud];
  const issuedInTime = typeof iat === 'number' && iat <= now / 1_000 + TOLERANCE_SECONDS;
  return (
    audiences.every((each) => each === audience) &&
    issuedInTime &&
    typeof sub === 'string' &&
    sub !== ''
  );
}

async function memberToken(
  payload: JWTPayload,
  { memberClaim, isPartner }: TokenRules,
): Promise<MemberToken | undefined> {
  const { azp, exp = 0 } = payload;
  const memberId = Object.hasOwn(payload, memberClaim) ? payload[memberClaim] : undefined;
  if (!isId(memberId) || (azp !== undefined && typeof azp !== 'string')) return undefined;
  const partnerId = azp !== undefined && (await namesPartner(azp, isPartner)) ? azp : undefined;
  return { memberId, partnerId, expiresAt: new Date(exp * 1_000) };
}

async function namesPartner(azp: string, isPartner: TokenRules['isPartner']): Promise<boolean> {
  try {
    return await isPartner(azp);
  } catch (error) {
    return fail('SERVICE_UNAVAILABLE', undefined, { cause: error });
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_LENGTH;
}
