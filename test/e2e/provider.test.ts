// Another identity provider: members read profiles with ID tokens of the package oidc-provider.
import { createHash, randomBytes } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { programArgs } from '../support/programs/programs.ts';
import { freePort, type ServerProcess, startProcess } from '../support/servers/process.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { until } from '../support/until.ts';

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

/** A token with the provider's signature and claims that the provider itself would not issue. */
async function sign(alg: Algorithm, claims: JWTPayload = {}, set = keys): Promise<string> {
  const jwk = set.keys.find((each) => each.alg === alg) ?? {};
  const now = Math.floor(Date.now() / 1_000);
  const payload = {
    iss: issuer,
    aud: `loyalty-${alg}`,
    sub: 'm-both',
    iat: now,
    exp: now + 3_600,
    ...claims,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg, ...(jwk.kid !== undefined && { kid: jwk.kid }) })
    .sign(await importJWK(jwk, alg));
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

const uptime = performance.now.bind(performance);
/** Sets the clock with which the service measures intervals ahead by this much. */
function setAhead(ms: number): void {
  jest.spyOn(performance, 'now').mockImplementation(() => uptime() + ms);
}

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

test('401 for a token of another client of the provider, or of another issuer with the same keys', async () => {
  const service = await open('ES256');
  expect(await readProfile(service, await signIn('m-both', 'RS256'))).toMatchObject({
    status: 401,
    code: 'UNAUTHENTICATED',
  });
  expect(await readProfile(service, await sign('ES256', { iss: `${issuer}/` }))).toMatchObject({
    status: 401,
    code: 'UNAUTHENTICATED',
  });
  expect(
    await readProfile(service, await sign('ES256', { aud: ['loyalty-ES256', 'other'] })),
  ).toMatchObject({
    status: 401,
  });
});

test('azp restricts a token only if it names a partner', async () => {
  const service = await open('ES256');
  const shown = async (azp: string) =>
    (await readProfile(service, await sign('ES256', { azp }))).body.data?.memberProfile;
  expect(await shown('loyalty-ES256')).toMatchObject({
    partnerStandings: [{ partnerId: 'alpha' }, { partnerId: 'beta' }],
  });
  expect(await shown('beta')).toMatchObject({ partnerStandings: [{ partnerId: 'beta' }] });
});

test('after a key rotation, the new key is accepted soon, and the old one as long as it is published', async () => {
  const service = await open('ES256');
  const old = await signIn('m-both', 'ES256');
  expect(await canRead(service, old)).toBe(true);
  const next = await newKeys('second');
  await provider.stop();
  provider = await startOidc({ keys: [...next.keys, ...keys.keys] });
  const fresh = await signIn('m-both', 'ES256');
  expect(decodeProtectedHeader(fresh).kid).toBe('second-ES256');
  setAhead(31_000);
  expect(await canRead(service, fresh)).toBe(true);
  expect(await canRead(service, await sign('ES256', { jti: 'of the old key' }))).toBe(true);

  await provider.stop();
  provider = await startOidc(next);
  setAhead(11 * 60_000);
  expect(await canRead(service, await signIn('m-both', 'ES256'))).toBe(true);
  let attempts = 0;
  await until(async () => {
    attempts += 1;
    return (
      (
        await readProfile(
          service,
          await sign('ES256', { jti: `of the key that is gone, ${attempts}` }),
        )
      ).status === 401
    );
  });

  await provider.stop();
  provider = await startOidc(keys);
});

test('while the provider is down, its keys stay valid for a day; without keys, tokens get 503', async () => {
  const [service, late] = [await open('ES256'), await open('ES256')];
  expect(await canRead(service, await signIn('m-both', 'ES256'))).toBe(true);
  await provider.stop();
  for (const hours of [1, 23]) {
    setAhead(hours * 3_600_000);
    expect(await canRead(service, await sign('ES256', { jti: `after ${hours} hours` }))).toBe(true);
  }
  setAhead(25 * 3_600_000);
  expect(await readProfile(service, await sign('ES256', { jti: 'after a day' }))).toMatchObject({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  });
  expect(await readProfile(late, await sign('ES256'))).toMatchObject({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  });
  // A partner's requests do not need the provider.
  expect(
    (await late.send({ query: '{ memberByEmail(email: "both@example.com") { memberId } }' }))
      .status,
  ).toBe(200);

  provider = await startOidc(keys);
  setAhead(26 * 3_600_000);
  expect(await canRead(service, await signIn('m-both', 'ES256'))).toBe(true);
});

test('a flood of unknown key ids does not reach the provider', async () => {
  const service = await open('ES256');
  expect(await canRead(service, await signIn('m-both', 'ES256'))).toBe(true);
  const strangers = await newKeys('stranger', ['ES256']);
  const flood = Array.from({ length: 50 }, async (_, index) => {
    const set = { keys: strangers.keys.map((key) => ({ ...key, kid: `${key.kid}-${index}` })) };
    return readProfile(service, await sign('ES256', {}, set));
  });
  for (const { status, code } of await Promise.all(flood))
    expect([status, code]).toEqual([401, 'UNAUTHENTICATED']);
  expect(requestsTo('/jwks')).toBe(1);
  expect(await canRead(service, await signIn('m-both', 'ES256'))).toBe(true);
});
