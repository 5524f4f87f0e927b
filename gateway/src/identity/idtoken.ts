// Verifies members' ID tokens (docs/api.md, Member tokens) and caches those that are valid.
import { hash } from 'node:crypto';
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError, fail } from '@partner-loyalty/runtime/errors.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { type JWTPayload, jwtVerify } from 'jose';
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

export type TokenVerifier = {
  /**
   * The claims of a token; undefined if it is not valid. Returns the plain value if the token has
   * been verified before. Rejects with SERVICE_UNAVAILABLE if the provider's keys or the partners
   * cannot be read.
   */
  verify(token: string): MaybePromise<MemberToken | undefined>;
};

export type TokenRules = {
  issuer: string;
  audience: string;
  keys: Pick<Jwks, 'find'>;
  /** The claim that contains the member's id. */
  memberClaim: string;
  /**
   * Whether an `azp` names a partner. It always does if the service is its own provider. An
   * external provider writes the id of an OAuth client there, which restricts the token only if a
   * partner has the same id. Each token is checked once, so creating such a partner does not
   * restrict tokens already in use.
   */
  isPartner(azp: string): MaybePromise<boolean>;
  /**
   * Whether a token that was verified once is still valid, asked each time it is used. The built-in
   * provider can revoke keys and end sessions; its tokens live 24 hours at most.
   */
  isCurrent?: ((token: IssuedToken) => MaybePromise<boolean>) | undefined;
  caches: Caches;
  /** The time in milliseconds since 1970. */
  now?: () => number;
};

/**
 * The verifier takes keys from `keys` alone and ignores what a token's header says about its key
 * (jku, x5u, jwk, x5c).
 */
export function createTokenVerifier(rules: TokenRules): TokenVerifier {
  const { caches, isCurrent, now = Date.now } = rules;
  const cache = caches.open<Verified>(() => BYTES_PER_TOKEN);

  async function verifyUncached(token: string, digest: string): Promise<Verified | undefined> {
    const verified = await verifiedToken(token, rules, now());
    if (verified) cache.set(digest, verified);
    return verified;
  }

  /** The claims of a token whose signature and claims are right, if it has not been revoked. */
  function currentClaims(verified: Verified | undefined): MaybePromise<MemberToken | undefined> {
    if (verified === undefined || isCurrent === undefined) return verified?.claims;
    return mapMaybe(isCurrent(verified.issued), (current) =>
      current ? verified.claims : undefined,
    );
  }

  return {
    verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      const digest = hash('sha256', token, 'base64');
      const cached = cache.get(digest);
      return cached && cached.claims.expiresAt.getTime() > now()
        ? currentClaims(cached)
        : verifyUncached(token, digest).then(currentClaims);
    },
  };
}

type Verified = { claims: MemberToken; issued: IssuedToken };

async function verifiedToken(
  token: string,
  rules: TokenRules,
  now: number,
): Promise<Verified | undefined> {
  const { issuer, audience, keys } = rules;
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    if (!isIdToken(protectedHeader.typ) || !isIssuedFor(audience, payload, now)) return undefined;
    if (rules.isCurrent !== undefined && livesTooLong(payload)) return undefined;
    const claims = await memberToken(payload, rules);
    const { kid } = protectedHeader;
    return (
      claims && {
        claims,
        issued: { kid, memberId: claims.memberId, issuedAt: issuedAtOf(payload) },
      }
    );
  } catch (error) {
    // An ApiError is about the provider's keys; any other error is about the token and refuses it.
    if (error instanceof ApiError) throw error;
    return undefined;
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

function livesTooLong(payload: JWTPayload): boolean {
  return (payload.exp ?? 0) - issuedAtOf(payload) > MAX_LIFETIME_SECONDS;
}

function issuedAtOf({ iat }: JWTPayload): number {
  return iat ?? 0;
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
