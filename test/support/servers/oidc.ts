// Runs the npm package oidc-provider for tests and prints a line for each request.
// Usage: oidc.ts PORT KEYS, where KEYS is a JWK Set of private keys.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const [, , port, keys = '{}'] = process.argv;
const issuer = `http://127.0.0.1:${port}`;
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

const provider = new Provider(issuer, {
  jwks: JSON.parse(keys),
  // One client for each signing algorithm.
  clients: ALGORITHMS.map((alg) => ({
    client_id: `loyalty-${alg}`,
    client_secret: 'a secret that the test knows',
    redirect_uris: ['http://127.0.0.1/signed-in'],
    id_token_signed_response_alg: alg,
  })),
  enabledJWA: { idTokenSigningAlgValues: ALGORITHMS },
  claims: { openid: ['sub', 'loyalty_id'] },
  conformIdTokenClaims: false,
  cookies: { keys: ['a key of the test'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  // Signs in as the account that login_hint names. Its member id is the name without `account-`.
  findAccount: (_: unknown, accountId: string) => ({
    accountId,
    claims: () => ({ sub: accountId, loyalty_id: accountId.replace('account-', '') }),
  }),
});

const handle = provider.callback();
createServer(async (request, response) => {
  console.error(`${request.method} ${request.url?.split('?', 1)[0]}`);
  if (!request.url?.startsWith('/interaction/')) return handle(request, response);
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, {
      login: { accountId: String(params.login_hint) },
    });
  const grant = new provider.Grant({
    accountId: session?.accountId ?? '',
    clientId: String(params.client_id),
  });
  grant.addOIDCScope('openid');
  return provider.interactionFinished(request, response, {
    consent: { grantId: await grant.save() },
  });
}).listen(Number(port), '127.0.0.1', () => console.error('listening'));
