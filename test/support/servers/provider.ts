// A minimal identity provider for tests: it can be discovered, has one key, and signs any claims.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export type Provider = {
  /** The settings with which the service trusts this provider. */
  env: Record<string, string>;
  /**
   * A member's ID token, valid for an hour. `claims` add to the usual ones, replace them, or omit
   * them if undefined.
   */
  issue(memberId: string, claims?: JWTPayload): Promise<string>;
  close(): void;
};

/** Starts a provider on a free port of 127.0.0.1. */
export async function startProvider(): Promise<Provider> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = JSON.stringify({
    keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }],
  });
  const server = createServer(({ url }, response) => {
    const discovery = JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` });
    response.setHeader('content-type', 'application/json');
    response.end(url === '/keys' ? keys : discovery);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Cast: a server that listens on a port has an address with a port.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const audience = 'loyalty';
  return {
    env: {
      ID_TOKEN_ISSUER: issuer,
      ID_TOKEN_AUDIENCE: audience,
      ID_TOKEN_MEMBER_CLAIM: 'loyalty_id',
    },
    issue(memberId, claims = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const payload: JWTPayload = {
        iss: issuer,
        aud: audience,
        sub: `account of ${memberId}`,
        loyalty_id: memberId,
        iat: now,
        exp: now + 3_600,
        ...claims,
      };
      return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
