// Verifies members' ID tokens (contract, section 4, Member tokens) and remembers which ones it has verified.
import { hash } from 'node:crypto';
import { ApiError, fail, type MaybePromise } from '@partner-loyalty/runtime';
import { type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Jwks } from './jwks.ts';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const TOLERANCE_SECONDS = 30;
const MAX_TOKEN_LENGTH = 8_192;
const MAX_ID_LENGTH = 128;
const MAX_TOKENS = 10_000;

/** What a valid token says. `partnerId` is set where its `azp` names a partner, through whose hands it has been. */
export type MemberToken = { memberId: string; partnerId?: string; expiresAt: Date };

export type TokenVerifier = {
  /**
   * What the token says, undefined where it is not valid; the plain value where it has been verified before. Rejects with
   * SERVICE_UNAVAILABLE where the keys or the partners cannot be had.
   */
  verify(token: string): MaybePromise<MemberToken | undefined>;
};

export type TokenRules = {
  issuer: string;
  audience: string;
  keys: Jwks;
  /** The claim that is the member's id. */
  memberClaim: string;
  /**
   * Whether an `azp` names a partner. With the service's own provider it always does. An external one writes the id of an OAuth client
   * there, which restricts the token only where a partner has the same id; it is asked once per token, so that creating such a partner
   * does not restrict tokens that are already in use.
   */
  isPartner(azp: string): MaybePromise<boolean>;
  /** The time in milliseconds since 1970. */
  now?: () => number;
};

/** A verifier that takes keys from `keys` alone: what a token's header says about where its key is (jku, x5u, jwk, x5c) is ignored. */
export function createTokenVerifier({
  issuer,
  audience,
  keys,
  memberClaim,
  isPartner,
  now = Date.now,
}: TokenRules): TokenVerifier {
  const verified = new LRUCache<string, MemberToken>({ max: MAX_TOKENS });

  async function verifyAnew(token: string, digest: string): Promise<MemberToken | undefined> {
    const payload = await verifiedPayload(token);
    if (payload === undefined || !isIdTokenFor(audience, payload, now())) return undefined;
    const memberId = Object.hasOwn(payload, memberClaim) ? payload[memberClaim] : undefined;
    if (!isId(memberId)) return undefined;
    const { azp, exp = 0 } = payload;
    if (azp !== undefined && typeof azp !== 'string') return undefined;
    const partnerId = azp !== undefined && (await namesPartner(azp)) ? azp : undefined;
    const found = { memberId, partnerId, expiresAt: new Date(exp * 1_000) };
    verified.set(digest, found);
    return found;
  }

  async function verifiedPayload(token: string): Promise<JWTPayload | undefined> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        requiredClaims: ['exp', 'iat', 'sub'],
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(now()),
      });
      // A provider's other tokens, for access or logout, say in `typ` that they are no ID token.
      return protectedHeader.typ === undefined || protectedHeader.typ.toUpperCase() === 'JWT'
        ? payload
        : undefined;
    } catch (error) {
      // Whatever is wrong with a token refuses it; only what says nothing about the token goes on.
      if (error instanceof ApiError) throw error;
      return undefined;
    }
  }

  async function namesPartner(azp: string): Promise<boolean> {
    try {
      return await isPartner(azp);
    } catch (error) {
      return fail('SERVICE_UNAVAILABLE', undefined, error);
    }
  }

  return {
    verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      const digest = hash('sha256', token, 'base64');
      const known = verified.get(digest);
      return known && known.expiresAt.getTime() > now() ? known : verifyAnew(token, digest);
    },
  };
}

/** The claims that jose leaves open: an `aud` of this service alone (OpenID Connect Core, 3.1.3.7), an `iat` that is not ahead, a `sub`. */
function isIdTokenFor(audience: string, { aud, iat, sub }: JWTPayload, now: number): boolean {
  const audiences = Array.isArray(aud) ? aud : [aud];
  const issuedInTime = typeof iat === 'number' && iat <= now / 1_000 + TOLERANCE_SECONDS;
  return (
    audiences.every((each) => each === audience) &&
    issuedInTime &&
    typeof sub === 'string' &&
    sub !== ''
  );
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_LENGTH;
}
