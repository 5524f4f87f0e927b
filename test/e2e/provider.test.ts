// Members of another identity provider: a real one from npm, from a real flow in which it issues an ID token to the profile that the token reads.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
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
import { freePort } from '../support/servers/port.ts';
import { type ServerProcess, startProcess } from '../support/servers/process.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';
import { until } from '../support/until.ts';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
const REDIRECT = 'http://127.0.0.1/signed-in';
const PROFILE =
  'query ($id: ID!) { memberProfile(id: $id) { memberId partnerStandings { partnerId } } }';

let issuer: string;
let keys: JSONWebKeySet;
let provider: ServerProcess;
let opened: Stage[] = [];

beforeAll(async () => {
  issuer = `http://127.0.0.1:${await freePort()}`;
  keys = await newKeys('first');
});
beforeEach(async () => {
  provider = await startOidc(keys);
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const stage of opened) await stage.close();
  opened = [];
  await provider.stop();
});

async function newKeys(name: string): Promise<JSONWebKeySet> {
  const made = ALGORITHMS.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `${name}-${alg}` };
  });
  return { keys: await Promise.all(made) };
}

async function startOidc(set: JSONWebKeySet): Promise<ServerProcess> {
  const main = join(import.meta.dirname, '../support/servers/oidc.ts');
  const args = ['--import', 'tsx', main, new URL(issuer).port, JSON.stringify(set)];
  const started = await startProcess({ command: process.execPath, args });
  await started.wrote(/^listening$/m);
  return started;
}

/** The service, with this provider. */
async function open(alg: Algorithm, env: Record<string, string> = {}): Promise<Stage> {
  const settings = {
    ID_TOKEN_ISSUER: issuer,
    ID_TOKEN_AUDIENCE: `loyalty-${alg}`,
    ID_TOKEN_JWKS_URL: '',
    TRUSTED_PROXIES: '127.0.0.1',
    ...env,
  };
  const stage = await startInProcess({ env: settings });
  opened.push(stage);
  return stage;
}

/** Signs an account in at the provider as a browser would, by the authorization code flow with PKCE, and gives the ID token. */
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
  const answered = Object(await reply.json());
  if (typeof answered.id_token !== 'string') throw new Error(JSON.stringify(answered));
  return answered.id_token;
}

/** A token as the provider would sign it, for what it would not say by itself. */
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
    .setProtectedHeader({ alg, kid: jwk.kid })
    .sign(await importJWK(jwk, alg));
}

let visitors = 0;
function ask(stage: Stage, token: string, id = 'm-both') {
  visitors += 1;
  return stage.ask({
    query: PROFILE,
    variables: { id },
    token,
    headers: { 'x-forwarded-for': `2001:db8:${visitors.toString(16)}::1` },
  });
}
const reads = async (stage: Stage, token: string) =>
  (await ask(stage, token)).body.data?.memberProfile !== undefined;
const visits = (path: string) =>
  provider
    .output()
    .split('\n')
    .filter((line) => line === `GET ${path}`).length;

const uptime = performance.now.bind(performance);
/** Has the service's clock of intervals run ahead of the true one by so much. */
function runAhead(ms: number): void {
  jest.spyOn(performance, 'now').mockImplementation(() => uptime() + ms);
}

describe.each(ALGORITHMS)('an ID token that is signed with %s', (alg) => {
  test.each([
    ['found by discovery', ''],
    ['where ID_TOKEN_JWKS_URL says', '/jwks'],
  ])('reads its own profile, with keys %s', async (_, path) => {
    const stage = await open(alg, { ID_TOKEN_JWKS_URL: path && issuer + path });
    const token = await signIn('m-both', alg);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg, kid: `first-${alg}` });
    expect((await ask(stage, token)).body).toEqual({
      data: {
        memberProfile: {
          memberId: 'm-both',
          partnerStandings: [{ partnerId: 'alpha' }, { partnerId: 'beta' }],
        },
      },
    });
    expect((await ask(stage, token, 'm-beta')).code).toBe('MEMBER_NOT_FOUND');
    expect(visits('/.well-known/openid-configuration')).toBe(path === '' ? 1 : 0);
    expect(visits('/jwks')).toBe(1);
  });
});

test('ID_TOKEN_MEMBER_CLAIM says which claim is the member', async () => {
  const token = await signIn('account-m-both', 'ES256');
  expect(decodeJwt(token)).toMatchObject({ sub: 'account-m-both', loyalty_id: 'm-both' });
  expect(await reads(await open('ES256', { ID_TOKEN_MEMBER_CLAIM: 'loyalty_id' }), token)).toBe(
    true,
  );
  expect((await ask(await open('ES256'), token)).code).toBe('MEMBER_NOT_FOUND');
  expect(
    await ask(await open('ES256', { ID_TOKEN_MEMBER_CLAIM: 'employee' }), token),
  ).toMatchObject({ status: 401 });
});

test('a token for another client of the provider, or of another issuer at the same keys: 401', async () => {
  const stage = await open('ES256');
  expect(await ask(stage, await signIn('m-both', 'RS256'))).toMatchObject({
    status: 401,
    code: 'UNAUTHENTICATED',
  });
  expect(await ask(stage, await sign('ES256', { iss: `${issuer}/` }))).toMatchObject({
    status: 401,
    code: 'UNAUTHENTICATED',
  });
  expect(await ask(stage, await sign('ES256', { aud: ['loyalty-ES256', 'other'] }))).toMatchObject({
    status: 401,
  });
});

test('an azp restricts a token only where it names a partner', async () => {
  const stage = await open('ES256');
  const shown = async (azp: string) =>
    (await ask(stage, await sign('ES256', { azp }))).body.data?.memberProfile;
  expect(await shown('loyalty-ES256')).toMatchObject({
    partnerStandings: [{ partnerId: 'alpha' }, { partnerId: 'beta' }],
  });
  expect(await shown('beta')).toMatchObject({ partnerStandings: [{ partnerId: 'beta' }] });
});

test('when the provider rotates its keys, tokens of the new one are taken soon, and of the old one as long as it is published', async () => {
  const stage = await open('ES256');
  const old = await signIn('m-both', 'ES256');
  expect(await reads(stage, old)).toBe(true);
  const next = await newKeys('second');
  await provider.stop();
  provider = await startOidc({ keys: [...next.keys, ...keys.keys] });
  const fresh = await signIn('m-both', 'ES256');
  expect(decodeProtectedHeader(fresh).kid).toBe('second-ES256');
  runAhead(31_000);
  expect(await reads(stage, fresh)).toBe(true);
  expect(await reads(stage, await sign('ES256', { jti: 'of the old key' }))).toBe(true);

  await provider.stop();
  provider = await startOidc(next);
  runAhead(11 * 60_000);
  expect(await reads(stage, await signIn('m-both', 'ES256'))).toBe(true);
  let tries = 0;
  await until(async () => {
    tries += 1;
    return (
      (await ask(stage, await sign('ES256', { jti: `of the key that is gone, ${tries}` })))
        .status === 401
    );
  });
});

test('while the provider is down its keys go on for a day; without any, 503 and no verdict on the token', async () => {
  const [stage, late] = [await open('ES256'), await open('ES256')];
  expect(await reads(stage, await signIn('m-both', 'ES256'))).toBe(true);
  await provider.stop();
  for (const hours of [1, 23]) {
    runAhead(hours * 3_600_000);
    expect(await reads(stage, await sign('ES256', { jti: `after ${hours} hours` }))).toBe(true);
  }
  runAhead(25 * 3_600_000);
  expect(await ask(stage, await sign('ES256', { jti: 'after a day' }))).toMatchObject({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  });
  expect(await ask(late, await sign('ES256'))).toMatchObject({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  });
  // What needs no provider is answered all the same.
  expect(
    (await late.ask({ query: '{ memberByEmail(email: "both@example.com") { memberId } }' })).status,
  ).toBe(200);

  provider = await startOidc(keys);
  runAhead(26 * 3_600_000);
  expect(await reads(stage, await signIn('m-both', 'ES256'))).toBe(true);
});

test('a flood of unknown kids does not reach the provider', async () => {
  const stage = await open('ES256');
  expect(await reads(stage, await signIn('m-both', 'ES256'))).toBe(true);
  const strangers = await newKeys('stranger');
  const flood = Array.from({ length: 50 }, async (_, index) => {
    const set = { keys: strangers.keys.map((key) => ({ ...key, kid: `${key.kid}-${index}` })) };
    return ask(stage, await sign('ES256', {}, set));
  });
  for (const answer of await Promise.all(flood))
    expect([answer.status, answer.code]).toEqual([401, 'UNAUTHENTICATED']);
  expect(visits('/jwks')).toBe(1);
  expect(await reads(stage, await signIn('m-both', 'ES256'))).toBe(true);
});
