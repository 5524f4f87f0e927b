// An identity provider for tests, a real one (oidc-provider): `oidc.ts PORT KEYS`, its private keys a JWK Set; prints a line per request.
import { createServer } from 'node:http';
// @ts-expect-error: the package brings no types.
import Provider from 'oidc-provider';

const [, , port, keys = '{}'] = process.argv;
const issuer = `http://127.0.0.1:${port}`;
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];

const provider = new Provider(issuer, {
  jwks: JSON.parse(keys),
  // The ID tokens of each client are signed in another way.
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
  // Whoever is hinted at signs in, as the account of that name and the member of that id.
  findAccount: (_: unknown, accountId: string) => ({
    accountId,
    claims: () => ({ sub: accountId, loyalty_id: accountId.replace('account-', '') }),
  }),
});

const answer = provider.callback();
createServer(async (request, response) => {
  console.error(`${request.method} ${request.url?.split('?', 1)[0]}`);
  if (!request.url?.startsWith('/interaction/')) return answer(request, response);
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, {
      login: { accountId: params.login_hint },
    });
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope('openid');
  return provider.interactionFinished(request, response, {
    consent: { grantId: await grant.save() },
  });
}).listen(Number(port), '127.0.0.1', () => console.error('listening'));
