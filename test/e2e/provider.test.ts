// Another identity provider: members read profiles with ID tokens of the package oidc-provider.
import { createHash, randomBytes } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
} from 'jose';
import { programArgs } from '../support/programs/programs.ts';
import { freePort, type ServerProcess, startProcess } from '../support/servers/process.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
const REDIRECT = 'http://127.0.0.1/signed-in';
const PROFILE =
  'query ($id: ID!) { memberProfile(id: $id) { memberId partnerStandings { partnerId } } }';

let issuer: string;
let keys: JSONWebKeySet;
let provider: ServerProcess;
/** What it had printed before the test. */
let printed: number;
let opened: InProcessService[] = [];

beforeAll(async () => {
  issuer = `http://127.0.0.1:${await freePort()}`;
  keys = await newKeys('first');
  provider = await startOidc(keys);
});
afterAll(() => provider.stop());
beforeEach(() => {
  printed = provider.output().length;
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const service of opened) await service.close();
  opened = [];
});

async function newKeys(
  name: string,
  algorithms: readonly Algorithm[] = ALGORITHMS,
): Promise<JSONWebKeySet> {
  const made = algorithms.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `${name}-${alg}` };
  });
  return { keys: await Promise.all(made) };
}

async function startOidc(set: JSONWebKeySet): Promise<ServerProcess> {
  const program = programArgs('test/support/servers/oidc.ts');
  const args = [...program, new URL(issuer).port, JSON.stringify(set)];
  const started = await startProcess({ command: process.execPath, args });
  await started.wrote(/^listening$/m);
  return started;
}

/** Starts the service with this provider. */
async function open(alg: Algorithm, env: Record<string, string> = {}): Promise<InProcessService> {
  const settings = {
    ID_TOKEN_ISSUER: issuer,
    ID_TOKEN_AUDIENCE: `loyalty-${alg}`,
    ID_TOKEN_JWKS_URL: '',
    TRUSTED_PROXIES: '127.0.0.1',
    ...env,
  };
  const service = await startInProcess({ env: settings });
  opened.push(service);
  return service;
}

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

let visitors = 0;
function readProfile(service: InProcessService, token: string, id = 'm-both') {
  visitors += 1;
  return service.send({
    query: PROFILE,
    variables: { id },
    token,
    headers: { 'x-forwarded-for': `2001:db8:${visitors.toString(16)}::1` },
  });
}
const canRead = async (service: InProcessService, token: string) =>
  (await readProfile(service, token)).body.data?.memberProfile !== undefined;
const requestsTo = (path: string) =>
  provider
    .output()
    .slice(printed)
    .split('\n')
    .filter((line) => line === `GET ${path}`).length;

test.each([
  ...ALGORITHMS.map((alg) => [alg, 'from discovery', ''] as const),
  ['ES256', 'from ID_TOKEN_JWKS_URL', '/jwks'] as const,
])(
  "an ID token signed with %s reads its member's profile, verified with keys %s",
  async (alg, _, path) => {
    const service = await open(alg, { ID_TOKEN_JWKS_URL: path && issuer + path });
    const token = await signIn('m-both', alg);
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
    expect(requestsTo('/.well-known/openid-configuration')).toBe(path === '' ? 1 : 0);
    expect(requestsTo('/jwks')).toBe(1);
  },
);

test('ID_TOKEN_MEMBER_CLAIM names the claim that contains the member id', async () => {
  const token = await signIn('account-m-both', 'ES256');
  expect(decodeJwt(token)).toMatchObject({ sub: 'account-m-both', loyalty_id: 'm-both' });
  expect(await canRead(await open('ES256', { ID_TOKEN_MEMBER_CLAIM: 'loyalty_id' }), token)).toBe(
    true,
  );
  expect((await readProfile(await open('ES256'), token)).code).toBe('MEMBER_NOT_FOUND');
  expect(
    await readProfile(await open('ES256', { ID_TOKEN_MEMBER_CLAIM: 'employee' }), token),
  ).toMatchObject({ status: 401 });
});
