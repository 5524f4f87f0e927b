// Issues the ID tokens of the built-in identity provider (OpenID Connect Core, section 2).
import { importJWK, SignJWT } from 'jose';
import type { SigningKeyStore } from './signingkey.ts';

export const ID_TOKEN_LIFETIME_MS = 60 * 60_000;

/** Whose token it is. `azp` is the partner through whose hands it goes: it then shows that partner's standing alone. */
export type IdTokenClaims = { memberId: string; email: string; azp?: string };

export type IdToken = { idToken: string; expiresAt: Date };

/**
 * A token of one hour, signed with the key in use. `issuer` is the environment's base address, and the audience too. Rejects where there is
 * no key yet (ensureSigningKey).
 */
export async function issueIdToken(
  keys: SigningKeyStore,
  claims: IdTokenClaims,
  issuer: string,
  now: Date,
): Promise<IdToken> {
  const signer = await openSigner(keys);
  return signer(claims, issuer, now);
}

/** Fetches the key in use, for what must not fail once it has begun. */
export async function openSigner(
  keys: SigningKeyStore,
): Promise<(claims: IdTokenClaims, issuer: string, now: Date) => Promise<IdToken>> {
  const current = (await keys.keys()).find((key) => key.state === 'current');
  if (current?.state !== 'current') throw new Error('there is no signing key');
  const { kid, privateKey } = current;
  const key = await importJWK(privateKey, 'ES256');
  return async ({ memberId, email, azp }, issuer, now) => {
    const issuedAt = Math.floor(now.getTime() / 1_000);
    const expiresAt = issuedAt + ID_TOKEN_LIFETIME_MS / 1_000;
    const idToken = await new SignJWT({ email, ...(azp !== undefined && { azp }) })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(memberId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(key);
    return { idToken, expiresAt: new Date(expiresAt * 1_000) };
  };
}
