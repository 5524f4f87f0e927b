// Issues the ID tokens of the built-in identity provider (OpenID Connect Core, section 2).
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { importJWK, SignJWT } from 'jose';
import { type EndedSessionsStore, timeOfToken } from './endedsessions.ts';
import { ALGORITHM, ID_TOKEN_LIFETIME_MS, type SigningKeyStore } from './signingkey.ts';

type IdTokenStore = {
  signingKeys: Pick<SigningKeyStore, 'keys' | 'unseal'>;
  endedSessions: Pick<EndedSessionsStore, 'find'>;
};

/**
 * `azp` is the partner that the token is handed to; the token then shows that partner's standing
 * only.
 */
type IdTokenClaims = { memberId: string; email: string; azp?: string | undefined };

type IdToken = { idToken: string; expiresAt: Date };

/**
 * Issues a token for one hour, signed with the current key. `issuer` is the environment's base
 * address, and is the audience too.
 */
type IssueIdToken = (claims: IdTokenClaims, issuer: string, now: Date) => Promise<IdToken>;

/** Issues one token. Rejects if there is no key yet (ensureSigningKey). */
export async function issueIdToken(store: IdTokenStore, ...args: Parameters<IssueIdToken>) {
  return (await openIssuer(store))(...args);
}

/**
 * Reads the current key first, for callers that must not fail once they have begun. Rejects if
 * there is no key yet.
 */
export async function openIssuer({
  signingKeys,
  endedSessions,
}: IdTokenStore): Promise<IssueIdToken> {
  const current = (await signingKeys.keys()).find((key) => key.state === 'current');
  if (current?.state !== 'current') throw new Error('there is no signing key');
  const { kid, privateKey } = current;
  const key = await importJWK(await signingKeys.unseal(privateKey), ALGORITHM);
  return async ({ memberId, email, azp }, issuer, now) => {
    const endedAt = await endedSessions.find(memberId);
    const time = await timeOfToken(endedAt, now.getTime(), () => fail('INVALID_TOKEN'));
    const issuedAt = Math.floor(time / 1_000);
    const expiresAt = issuedAt + ID_TOKEN_LIFETIME_MS / 1_000;
    const idToken = await new SignJWT({ email, iat_ms: time, ...(azp !== undefined && { azp }) })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(memberId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(key);
    return { idToken, expiresAt: new Date(expiresAt * 1_000) };
  };
}
