// Another identity provider: members read profiles with ID tokens of the package oidc-provider.
import { createHash, randomBytes } from 'node:crypto';
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { programArgs } from '../support/programs/programs.ts';
import { freePort, type ServerProcess, startProcess } from '../support/servers/process.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
type Given = { path?: string; account?: string; ID_TOKEN_MEMBER_CLAIM?: string };
const REDIRECT = 'http://127.0.0.1/signed-in';
const PROFILE =
  'query ($id: ID!) { memberProfile(id: $id) { memberId partnerStandings { partnerId } } }';

let issuer: string;
let provider: ServerProcess;
/** What it had printed before the test. */
let printed: number;

beforeAll(async () => {
  issuer = `http://127.0.0.1:${await freePort()}`;
  const keys = await Promise.all(
    ALGORITHMS.map(async (alg) => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true });
      return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `first-${alg}` };
    }),
  );
  const program = programArgs('test/support/servers/oidc.ts');
  const args = [...program, new URL(issuer).port, JSON.stringify({ keys })];
  provider = await startProcess({ command: process.execPath, args });
  await provider.wrote(/^listening$/m);
});
afterAll(() => provider.stop());
beforeEach(() => {
  printed = provider.output().length;
});

/**
 * Signs an account in at the provider as a browser does, with the authorization code flow and PKCE.
 * Resolves with the ID token.
 */
async function signIn(account: string, alg: Algorithm): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const client = `loyalty-${alg}`;
  const jar = new Map<string, string>();
  let url = new URL('/auth', issuer);
  url.search = new URLSearchParams({
    client_id: client,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    login_hint: account,
    nonce: 'n',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  while (!url.href.startsWith(REDIRECT)) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
    }
    const location = reply.headers.get('location');
    if (location === null) throw new Error(`${reply.status} ${await reply.text()}`);
    url = new URL(location, url);
  }
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: url.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
    code_verifier: verifier,
  });
  const authorization = `Basic ${Buffer.from(`${client}:${encodeURIComponent('a secret that the test knows')}`).toString('base64')}`;
  const reply = await fetch(new URL('/token', issuer), {
    method: 'POST',
    headers: { authorization },
    body,
  });
  const tokens = Object(await reply.json());
  if (typeof tokens.id_token !== 'string') throw new Error(JSON.stringify(tokens));
  return tokens.id_token;
}

const readProfile = (service: InProcessService, token: string, id = 'm-both') =>
  service.send({ query: PROFILE, variables: { id }, token });
const requestsTo = (path: string) =>
  provider
    .output()
    .slice(printed)
    .split('\n')
    .filter((line) => line === `GET ${path}`).length;

test.each([
  ...ALGORITHMS.map((alg): [Algorithm, string, Given] => [alg, 'from discovery', {}]),
  ['ES256', 'from ID_TOKEN_JWKS_URL', { path: '/jwks' }] satisfies [Algorithm, string, Given],
  [
    'ES256',
    'from discovery, by ID_TOKEN_MEMBER_CLAIM',
    { account: 'account-m-both', ID_TOKEN_MEMBER_CLAIM: 'loyalty_id' },
  ] satisfies [Algorithm, string, Given],
])(
  "an ID token signed with %s reads its member's profile, verified with keys %s",
  async (alg, _, { path, account = 'm-both', ...env }: Given) => {
    const service = await startInProcess({
      env: {
        ID_TOKEN_ISSUER: issuer,
        ID_TOKEN_AUDIENCE: `loyalty-${alg}`,
        ID_TOKEN_JWKS_URL: path === undefined ? '' : issuer + path,
        ...env,
      },
    });
    const token = await signIn(account, alg);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg, kid: `first-${alg}` });
    expect((await readProfile(service, token)).body).toEqual({
      data: {
        memberProfile: {
          memberId: 'm-both',
          partnerStandings: [{ partnerId: 'alpha' }, { partnerId: 'beta' }],
        },
      },
    });
    expect((await readProfile(service, token, 'm-beta')).code).toBe('MEMBER_NOT_FOUND');
    expect(requestsTo('/.well-known/openid-configuration')).toBe(path === undefined ? 1 : 0);
    expect(requestsTo('/jwks')).toBe(1);
    await service.close();
  },
);
