// What the gateway does around the built-in identity provider: forwarding, counting, pages, tokens.
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Gateway } from '@partner-loyalty/gateway/gateway.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { cardHeaders } from '@partner-loyalty/runtime/pages/layout.ts';
import type {
  Account,
  IdentityRequest,
  IdentityResponse,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { answering, openPlace } from '../../../../gateway/test/gateway.ts';
import { UNSHARED } from '../../../../test/support/requests/unshared.ts';

const ISSUER = 'http://localhost:4000';
const APP = 'https://app.example';
const PROFILE = '{ memberProfile(id: "m") { email } }';
const RENAME = 'mutation { updateProfile(input: { firstName: "A" }) { firstName } }';

let place: Awaited<ReturnType<typeof openPlace>>;
let gateway: Gateway;
let elsewhere: Gateway;
let privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
/** What reached the provider, and what it answers. */
const asked: IdentityRequest[] = [];
let answer: IdentityResponse;
/** The lines of the log. */
const lines: string[] = [];
const refused: object[] = [];

beforeAll(async () => {
  place = await openPlace();
  const { keyStore } = place;
  const at = new Date();
  await keyStore.createPartner({ partnerId: 'inn', name: 'Inn>', createdAt: at });
  await keyStore.createPartner({ partnerId: 'out', name: 'Out', suspendedAt: at, createdAt: at });
  const pair = await generateKeyPair('RS256');
  privateKey = pair.privateKey;
  const subgraph = providerWith({ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'RS256' });
  const log = {
    ...createLog('silent'),
    infoJson: (fields: string) => void lines.push(fields),
    refused: (fields: object) => void refused.push(fields),
  };
  const extensions = [await import('./extension.ts')];
  gateway = await place.open({ subgraph, log, extensions });
  const env = { ID_TOKEN_ISSUER: 'https://id.example', ID_TOKEN_AUDIENCE: 'web, shop' };
  elsewhere = await place.open({ subgraph, log, env, extensions });
});
afterAll(() => place.close());
beforeEach(() => {
  asked.length = 0;
  answer = { status: 200, headers: {}, body: '{}' };
});

const STANDING = {
  ...{ partnerId: 'inn', tier: 'Blue', points: 7 },
  ...{ tierValidUntil: '2031-12-31T23:00:00.000Z', yearEnd: '2030-12-31T23:00:00.000Z' },
};

/** The subgraphs: the provider has one key and one app, and the members have names. */
function providerWith(key: object): Transport {
  const names = { firstName: 'Ann', lastName: null };
  return answering(
    {
      memberProfile: () => ({
        ...{ email: 'a@example.com', ...names, memberId: 'm', activePartnerIds: ['inn'] },
        membershipYearStats: { akinPoints: 1_950, totalStays: 3 },
        standings: [
          { ...STANDING, nextTier: '<i>Gold', pointsToNextTier: 1_993 },
          { ...STANDING, partnerId: 'pub', nextTier: null },
        ],
      }),
      updateProfile: () => names,
      signingKeys: () => JSON.stringify({ keys: [key] }),
      endedSubjects: () => [],
      appOrigins: () => [APP],
    },
    () => {},
    async (forwarded) => {
      asked.push(forwarded);
      await nextTick();
      return answer;
    },
  );
}

let addresses = 0;
type Sent = {
  turn?: () => Promise<void> | undefined;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
  address?: string;
  to?: Gateway;
};

async function send(target: string, { to = gateway, body = '', ...sent }: Sent = {}) {
  addresses += 1;
  const [path = '', query] = target.split('?');
  const { status, headers, observer, ...rest } = await to.handle({
    ...{ method: 'GET', path, search: query === undefined ? '' : `?${query}`, requestId: 'r' },
    ...{ address: `2001:db8:${addresses.toString(16)}::1`, headers: {}, ...UNSHARED, ...sent },
    signal: new AbortController().signal,
    body: async () => Buffer.from(body),
  });
  const text = String(rest.body);
  observer?.ended(text.length, true);
  return { status, headers, text };
}

const ACCESS = { typ: 'at+jwt', aud: ISSUER, client_id: 'c:1', scope: 'openid' };
function tokenOf({
  typ,
  sub = 'm',
  ...claims
}: { typ: string; aud: string; sub?: string } & Record<string, unknown>) {
  return new SignJWT({ sid: 's', partner_id: 'inn', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k', typ })
    .setIssuer(ISSUER)
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
}
const basic = (pair: string) => ({
  authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const graphql = async (token: string, query: string) => {
  const headers = { ...bearer(token), 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify({ query }) };
  const { headers: received, text } = await send('/graphql', sent);
  const { errors } = JSON.parse(text);
  return { code: errors?.[0].extensions.code, left: received['ratelimit-remaining'] };
};

describe('forwarding', () => {
  test('hands over what the provider needs, and no other header', async () => {
    await send('/oauth/authorize?client_id=c', {
      headers: {
        ...{ cookie: 'a=b', 'user-agent': 'x', 'accept-language': 'de', 'x-api-key': 'y' },
        ...{ 'x-forwarded-for': 'z', host: 'evil.example', origin: 'https://page.example' },
      },
      address: '192.0.2.7',
    });
    expect(asked).toEqual([
      {
        ...{ method: 'GET', path: '/oauth/authorize', search: '?client_id=c', body: '' },
        headers: { cookie: 'a=b', 'user-agent': 'x' },
        ...{ clientAddress: '192.0.2.7', language: 'de' },
      },
    ]);
  });

  test('passes each cookie on, and no header that it decides about', async () => {
    answer = {
      status: 303,
      headers: {
        'set-cookie': ['a=b', 'c=d'],
        location: `${APP}/callback?code=c`,
        'access-control-allow-origin': '*',
        'x-powered-by': 'koa',
      },
      body: 'Redirecting',
    };
    const { status, headers, text } = await send('/oauth/authorize');
    expect([status, text]).toEqual([303, '']);
    expect(headers).toEqual({
      'set-cookie': ['a=b', 'c=d'],
      location: `${APP}/callback?code=c`,
    });
  });

  test.each([
    ['/oauth/authorize/3bSLcqpXV0u?code=secret', '/oauth/authorize'],
    ['/sign-in/3bSLcqpXV0u', '/sign-in'],
  ])('logs no ID of an authorization in progress: %s', async (target, path) => {
    await send(target);
    expect(lines.at(-1)).toContain(`"path":"${path}"`);
  });

  test.each(['/oauth/authorize', '/oauth/end-session', '/sign-in', '/account'])(
    'a flood of parameters at %s never reaches the parser of the provider',
    async (path) => {
      const flood = await send(`${path}?${'a&'.repeat(7_000)}`);
      expect([flood.status, asked]).toEqual([400, []]);
      expect((await send(`${path}?${'a&'.repeat(99)}`)).status).toBe(200);
    },
  );

  test.each(['/oauth/../account', '/oauth/%2e%2E/sign-in', '/oauth/x/..\\..\\account'])(
    'a form cannot reach a page around the check for foreign forms: %s',
    async (path) => {
      const sent = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } };
      expect([(await send(path, sent)).status, asked]).toEqual([400, []]);
    },
  );

  test.each([
    ['/oauth/authorize', 'PUT', 405],
    ['/oauth/token', 'GET', 405],
    ['/oauth/userinfo', 'DELETE', 405],
    ['/account', 'DELETE', 405],
  ])('%s by %s is %i, without a question to the provider', async (path, method, status) => {
    expect((await send(path, { method })).status).toBe(status);
    expect(asked).toEqual([]);
  });

  test.each(['/account', '/sign-in', '/sign-in/3bSLcqpXV0u', '/oauth/end-session/confirm'])(
    'a form on a foreign page cannot post to %s (CSRF)',
    async (path) => {
      const headers = { 'sec-fetch-site': 'cross-site', cookie: 'session=s' };
      const posted = await send(path, { method: 'POST', headers, body: 'leave=inn' });
      expect([posted.status, asked]).toEqual([403, []]);
    },
  );

  test.each(['/oauth/authorize', '/oauth/end-session'])('an app can post to %s', async (path) => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: APP };
    await send(path, { method: 'POST', headers, body: 'client_id=c&scope=openid' });
    expect(asked).toEqual([expect.objectContaining({ path, body: 'client_id=c&scope=openid' })]);
  });

  test.each([
    ['/account', 'same-origin'],
    ['/sign-in', 'same-origin'],
    ['/sign-in?token=', 'no-referrer'],
    ['/sign-in?token=ml_xxxxxxxxxxxx', 'no-referrer'],
    ['/sign-in?a=b&%74oken=ec_xxxxxxxxxxxx', 'no-referrer'],
    ['/sign-in/3bSLcqpXV0u', 'no-referrer'],
    ['/oauth/authorize/3bSLcqpXV0u', 'no-referrer'],
    ['/invitation?token=in_x', 'no-referrer'],
  ])('the page at %s has the referrer policy %s', async (path, policy) => {
    answer = { status: 200, headers: cardHeaders([]), body: 'page' };
    const { headers } = await send(path, { headers: { accept: 'text/html' } });
    expect(headers['referrer-policy']).toBe(policy);
  });

  test('whoever shares an address with failed requests signs in, but opens no mailed link', async () => {
    const address = '198.51.108.9';
    answer = { status: 200, headers: cardHeaders([]), body: 'page' };
    const body = JSON.stringify({ query: PROFILE });
    const headers = { 'content-type': 'application/json' };
    for (let n = 0; n < 62; n += 1)
      await send('/graphql', { method: 'POST', address, headers, body });
    const statuses = [];
    for (const path of ['/sign-in', '/account', '/sign-in?token=ml_xxxxxxxxxxxx'])
      statuses.push((await send(path, { address, headers: { accept: 'text/html' } })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('with another provider, /oauth/ and /account are not found, and /sign-in confirms', async () => {
    for (const path of ['/oauth/authorize', '/oauth/token', '/oauth/userinfo', '/account'])
      expect((await send(path, { to: elsewhere })).status).toBe(404);
    const { text } = await send('/.well-known/openid-configuration', { to: elsewhere });
    expect(Object.keys(JSON.parse(text))).not.toContain('token_endpoint');
    expect((await send('/sign-in', { to: elsewhere })).status).toBe(404);
    const link = await send('/sign-in?token=ec_xxxxxxxxxxxx', { to: elsewhere });
    expect([link.status, asked]).toEqual([200, []]);
  });
});

test('a flood of questions: each waits for its turn of the event loop before the provider is asked', async () => {
  const turns: (() => void)[] = [];
  const turn = () => new Promise<void>((resolve) => turns.push(resolve));
  const body = 'grant_type=authorization_code&code=c';
  const responded = send('/oauth/token', { method: 'POST', body, turn });
  await nextTick();
  await nextTick();
  expect(asked).toEqual([]);
  for (const resolve of turns) resolve();
  await responded;
  expect(asked).toHaveLength(1);
});

describe('counting', () => {
  /** A request to /oauth/token, by what the server gives with it. */
  const hand = (more: object) =>
    gateway.handle({
      ...{ method: 'POST', path: '/oauth/token', search: '', requestId: 'r', headers: {} },
      ...{ ...UNSHARED, address: '198.51.100.1', signal: new AbortController().signal },
      body: async () => Buffer.from(REFRESH),
      ...more,
    });
  const REFRESH = 'grant_type=refresh_token&refresh_token=r&client_id=c';
  const VALID = { status: 200, headers: {}, body: '{}', counts: 'valid' as const };
  const post = (address: string, headers = {}, body = REFRESH) =>
    send('/oauth/token', { method: 'POST', body, headers, address });
  const statuses = async (count: number, run: () => Promise<{ status: number }>) => {
    const all: number[] = [];
    for (let n = 0; n < count; n += 1) all.push((await run()).status);
    return all;
  };

  test('guessing codes: a refused one counts like a refused key of its address', async () => {
    const address = '198.51.100.1';
    answer = { status: 400, headers: {}, body: '{}', counts: 'refused' };
    const seen = await statuses(61, () => post(address));
    expect(seen).toEqual([...Array(60).fill(400), 429]);
    const none = await send('/graphql', { method: 'POST', body: '{}', address });
    expect(none.status).toBe(429);
    answer = VALID;
    expect((await post(address)).status).toBe(200);
  });

  test('a valid code or token does not count; what shows nothing counts like a page', async () => {
    answer = VALID;
    const address = '198.51.100.2';
    const valid = await statuses(700, () => post(address));
    expect(new Set(valid)).toEqual(new Set([200]));
    answer = { status: 400, headers: {}, body: '{}' };
    const nothing = await statuses(601, () => post(address, {}, 'grant_type=x&code=c'));
    expect(nothing).toEqual([...Array(600).fill(400), 429]);
    expect((await send('/account', { address })).status).toBe(429);
  });

  test.each([
    ['/oauth/token', '', 'invalid_request'],
    ['/oauth/token', 'grant_type=refresh_token&client_id=c', 'invalid_request'],
    ['/oauth/token', 'grant_type=client_credentials&client_id=c', 'unsupported_grant_type'],
    ['/oauth/revoke', 'client_id=c', 'invalid_request'],
    ['/oauth/revoke', 'client_id=c&client_secret=', 'invalid_request'],
  ])('what shows nothing is refused without the provider: %s %j', async (path, body, error) => {
    const response = await send(path, { method: 'POST', body, address: '198.51.100.3' });
    expect([response.status, response.text, asked]).toEqual([400, JSON.stringify({ error }), []]);
  });

  test.each([
    ['no grant', 'grant_type=x&code=c&refresh_token=r', 600],
    ['a grant without its token', 'grant_type=refresh_token&code=c', 600],
    ['a form of hundreds of parameters', 'a&'.repeat(300), 0],
    ['codes that are guessed', 'grant_type=authorization_code&code=c', 664],
    ['an app that does not exist', 'client_id=x&client_secret=y', 664],
  ])('a flood of %s at once is refused before the provider is asked', async (_, body, most) => {
    const counts = most === 664 ? ('refused' as const) : undefined;
    answer = { status: 400, headers: {}, body: '{}', counts };
    const all = await Promise.all(
      Array.from({ length: 1_400 }, () => post(`198.51.101.${body.length % 250}`, {}, body)),
    );
    expect(asked.length).toBeLessThanOrEqual(counts === undefined ? 0 : most);
    const refused = all.filter(({ status }) => status === 429 || status === 503);
    expect(refused.length).toBeGreaterThanOrEqual(most === 0 ? 0 : 1_400 - most);
    for (const { status, headers } of refused)
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });

  test('beyond its limit, nothing that an address sends is read', async () => {
    const address = '198.51.102.1';
    await statuses(601, () => post(address, {}, 'grant_type=x'));
    const body = () => Promise.reject(new Error('read'));
    const { status, closes } = await hand({ address, body });
    expect([status, closes]).toEqual([429, true]);
  });

  test('an app that showed its secret is its partner, whatever else its address sends', async () => {
    const address = '198.51.103.1';
    await statuses(601, () => post(address, {}, 'grant_type=x'));
    answer = { ...VALID, owner: 'inn', clientId: 'c2' };
    const headers = basic('c2:secret');
    expect((await post(address, headers)).status).toBe(200);
    answer = { status: 401, headers: {}, body: '{}', counts: 'refused' };
    const wrong = basic('c2:wrong');
    expect((await statuses(62, () => post(address, wrong))).at(-1)).toBe(429);
    answer = { ...VALID, owner: 'inn', clientId: 'c2' };
    const owners: unknown[] = [];
    const admit = (owner: unknown) => void owners.push(owner);
    const again = () => hand({ headers, address, admit });
    expect((await again()).status).toBe(200);
    expect(owners).toEqual(['inn']);
    // Its secret has ended since.
    answer = { status: 401, headers: {}, body: '{}', counts: 'refused' };
    for (let n = 0; n < 3; n += 1) await again();
    expect(owners.slice(1)).toEqual(['inn']);
  });

  test.each([
    ['in the header', basic('c%3A4:a%2Bb'), ''],
    ['in the form', {}, '&client_id=c%3A4&client_secret=a%2bb'],
  ])(
    'an app that showed its secret once is its partner with a secret %s',
    async (_, headers, more) => {
      answer = { ...VALID, owner: 'inn', clientId: 'c:4' };
      await post('198.51.104.1', {}, 'client_id=c%3A4&client_secret=a%2Bb');
      const owners: unknown[] = [];
      const admit = (owner: unknown) => void owners.push(owner);
      for (const secret of ['', 'x'])
        await hand({
          ...{ headers, admit, address: '198.51.104.1' },
          body: async () => Buffer.from(`grant_type=refresh_token&refresh_token=r${more}${secret}`),
        });
      expect(owners).toEqual(['inn', more === '' ? 'inn' : undefined]);
    },
  );

  test.each([
    ['client_id', '?client_id=victim&client_id=mine&client_secret=s'],
    ['client_id', 'client_id=victim&%63lient_id=mine&client_secret=s'],
    ['client_secret', 'client_id=mine&client_secret=s&client_secret='],
    ['grant_type', 'client_id=mine&client_secret=s&grant_type=authorization_code'],
  ])('a second %s is refused, so that no reader takes another: %s', async (_, more) => {
    answer = { ...VALID, clientId: 'mine' };
    const body = `${more}&grant_type=refresh_token&refresh_token=r`;
    const { status, text } = await post('198.51.106.1', {}, body);
    expect([status, text, asked]).toEqual([400, '{"error":"invalid_request"}', []]);
  });

  test('the provider reads the form that was counted, in whatever way it was written', async () => {
    answer = { ...VALID, clientId: 'mine' };
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-16le' };
    await post('198.51.106.2', headers, '?client_id=a+b&client_secret=s&grant_type=x\0&\0c');
    expect(asked).toMatchObject([{ body: 'client_id=a+b&client_secret=s&grant_type=x%00&%00c=' }]);
  });

  test.each([
    ['another method', 405, 'PUT', '/oauth/token', async () => Buffer.from('')],
    ['another method', 405, 'PUT', '/oauth/userinfo', async () => Buffer.from('')],
    ['many parameters', 400, 'POST', '/oauth/revoke', async () => Buffer.from('a&'.repeat(300))],
    ['a large body', 413, 'POST', '/oauth/token', async () => fail('PAYLOAD_TOO_LARGE')],
  ])('a flood of requests with %s counts like one of pages: %i', async (...row) => {
    const [, status, method, path, body] = row;
    const address = `198.51.109.${(path.length + status) % 250}`;
    const all = await statuses(601, () => hand({ method, path, body, address }));
    expect(all).toEqual([...Array(600).fill(status), 429]);
    expect(asked).toEqual([]);
  });

  test('a known app whose tokens are used too often leaves the pages of its address alone', async () => {
    answer = { ...VALID, status: 429, headers: { 'retry-after': '7' }, clientId: 'c5' };
    const headers = basic('c5:s');
    const seen = await statuses(601, () => post('198.51.105.1', headers));
    expect(new Set(seen)).toEqual(new Set([429]));
    expect(asked).toHaveLength(601);
    answer = { status: 200, headers: {}, body: '{}' };
    expect((await send('/account', { address: '198.51.105.1' })).status).toBe(200);
  });

  test('an app has 6,000 requests with its secret a minute, and those beyond use up no code', async () => {
    answer = { ...VALID, clientId: 'c1' };
    // What the form says is not what the provider has authenticated.
    const headers = basic('victim:s');
    const seen = [await post('198.51.100.3', headers)];
    // No more at once than the queue holds.
    for (let turn = 0; turn < 50; turn += 1)
      seen.push(
        ...(await Promise.all(Array.from({ length: 128 }, () => post('198.51.100.3', headers)))),
      );
    expect(seen.filter(({ status }) => status === 429)).toHaveLength(401);
    expect(asked).toHaveLength(6_000);
    asked.length = 0;
    const refused = await post('198.51.100.4', headers);
    expect([refused.status, asked]).toEqual([429, []]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const body = 'client_id=victim&client_secret=s';
    const posted = await send('/oauth/revoke', { method: 'POST', body });
    expect(posted.status).toBe(429);
    // A flood of parameters charges no app.
    const flood = await send(`/oauth/token?${'a&'.repeat(200)}`, { method: 'POST', headers });
    expect(flood.status).toBe(400);
    expect((await post('198.51.100.3')).status).toBe(200);
    answer = { ...VALID, clientId: 'victim' };
    const own = basic('victim:own');
    const victim = await statuses(2, () => post('198.51.106.4', own));
    expect(victim).toEqual([200, 200]);
  });
});

describe('CORS', () => {
  const from = (origin: string) => ({ origin });
  const preflight = (origin: string) => ({
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  const PATHS = ['/oauth/token', '/oauth/userinfo', '/oauth/revoke', '/graphql'];
  const DOCUMENTS = ['/.well-known/openid-configuration', '/.well-known/jwks.json'];

  test.each([...PATHS, ...DOCUMENTS])('%s is open to pages of registered apps', async (path) => {
    const allowed = await send(path, preflight(APP));
    expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([204, APP]);
    expect(allowed.headers['access-control-allow-headers']).toContain('authorization');
    const method = PATHS.includes(path) ? 'POST' : 'GET';
    const { headers } = await send(path, { method, headers: from(APP) });
    expect([headers['access-control-allow-origin'], headers.vary]).toEqual([APP, 'origin']);
    expect(Object.keys(headers)).not.toContain('access-control-allow-credentials');
    for (const origin of [`${APP}.evil.example`, 'null']) {
      const refused = await send(path, preflight(origin));
      expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test.each(['/oauth/authorize', '/oauth/end-session', '/account', '/sign-in'])(
    '%s is open to no page',
    async (path) => {
      const { headers } = await send(path, { headers: from(APP) });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    },
  );
});

describe('tokens of an app', () => {
  const idToken = () => tokenOf({ typ: 'JWT', aud: 'c:1' });

  test('an access token reads and changes; an ID token reads alone', async () => {
    const access = await tokenOf(ACCESS);
    expect((await graphql(access, PROFILE)).code).toBeUndefined();
    expect((await graphql(access, RENAME)).code).toBeUndefined();
    expect((await graphql(await idToken(), PROFILE)).code).toBeUndefined();
    expect((await graphql(await idToken(), RENAME)).code).toBe('FORBIDDEN');
  });

  test('waiting for keys: an address over its limit gets no token verified that is new', async () => {
    const address = '198.51.108.1';
    const read = async (token: string, from = address) => {
      const headers = { ...bearer(token), 'content-type': 'application/json' };
      const body = JSON.stringify({ query: PROFILE });
      return (await send('/graphql', { method: 'POST', address: from, headers, body })).status;
    };
    const seen = await tokenOf(ACCESS);
    expect(await read(seen)).toBe(200);
    for (let n = 0; n < 61; n += 1) await read('x');
    const unseen = await tokenOf({ ...ACCESS, client_id: 'c:unseen' });
    expect([await read(unseen), await read(seen)]).toEqual([429, 200]);
    expect([await read(unseen, '198.51.108.2'), await read(unseen)]).toEqual([200, 200]);
  });

  test('of a suspended partner are refused, a first-party one too', async () => {
    for (const claims of [
      { partner_id: 'out' },
      { partner_id: undefined, first_party_of: 'out' },
    ]) {
      const token = await tokenOf({ ...ACCESS, ...claims });
      expect((await graphql(token, PROFILE)).code).toBe('PARTNER_SUSPENDED');
      expect((await send('/oauth/userinfo', { headers: bearer(token) })).status).toBe(403);
    }
  });

  test('have a budget for each member and app, which is not the member', async () => {
    const own = await tokenOf({ typ: 'JWT', aud: ISSUER, sid: undefined, azp: undefined });
    const other = await tokenOf({ ...ACCESS, client_id: 'c:2' });
    expect((await graphql(other, PROFILE)).left).toBe('119');
    expect((await graphql(other, PROFILE)).left).toBe('118');
    expect((await graphql(own, PROFILE)).left).toBe('119');
  });

  test('get their claims from userinfo, by an access token alone', async () => {
    answer = { status: 200, headers: {}, body: '{"sub":"m"}' };
    const headers = bearer(await tokenOf({ ...ACCESS, scope: 'openid email' }));
    expect((await send('/oauth/userinfo', { headers })).text).toBe('{"sub":"m"}');
    const [{ body = '' } = {}] = asked;
    expect(JSON.parse(body)).toEqual({ sub: 'm', client_id: 'c:1', scope: 'openid email' });
    asked.length = 0;
    for (const refusal of [{}, bearer('x'), bearer(await idToken())]) {
      const refused = await send('/oauth/userinfo', { headers: refusal });
      expect([refused.status, JSON.parse(refused.text)]).toEqual([401, { error: 'invalid_token' }]);
      expect(refused.headers['www-authenticate']).toContain('Bearer');
    }
    expect(asked).toEqual([]);
  });

  test('without the scope openid, userinfo has nothing for a token (OpenID Connect Core, 5.3.3)', async () => {
    const headers = bearer(await tokenOf({ ...ACCESS, scope: 'profile email' }));
    const { status, headers: received, text } = await send('/oauth/userinfo', { headers });
    expect([status, JSON.parse(text), asked]).toEqual([403, { error: 'insufficient_scope' }, []]);
    expect(received['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="openid"');
  });
});

describe('pages', () => {
  const account: Account = {
    action: '/account',
    token: '',
    apps: [{ clientId: 'c:1', appName: '<b>App', partnerName: 'Inn', agreedAt: 0 }],
    sessions: [
      { sessionId: 's1', usedAt: 0, browser: 'Firefox', isThis: true },
      { sessionId: 's2', usedAt: 0, browser: 'Chrome', isThis: false },
    ],
    isLimited: false,
    notice: { name: 'linkSent', email: 'b@example.com' },
  };

  test('the account: in the language of the reader, with no script but ours', async () => {
    const token = await tokenOf({ typ: 'JWT', aud: ISSUER, partner_id: undefined });
    const headers = { 'set-cookie': ['a=b'], 'cache-control': 'no-store', ...cardHeaders([APP]) };
    answer = { status: 200, headers, account: { ...account, token } };
    const read = (language: string) =>
      send('/account', { headers: { 'accept-language': language } });
    const [english, german] = [await read('fr, en;q=0.5'), await read('de-AT, en;q=0.5')];
    // What is longer than 1 KiB is ignored.
    const longest = await read(`de${' '.repeat(1_022)}`);
    expect(longest.text).toContain('<html lang="de">');
    expect((await read(`de${' '.repeat(1_023)}`)).text).toContain('<html lang="en">');
    const cookies = ['a=b', expect.stringMatching(/^form=/)];
    expect([english.status, english.headers['set-cookie']]).toEqual([200, cookies]);
    expect(english.headers['cache-control']).toBe('no-store');
    for (const [{ text, headers }, language] of [
      [english, 'en'],
      [german, 'de'],
    ] as const) {
      expect(text).toContain(`<html lang="${language}">`);
      expect(text).toMatch(/value="c:1"/);
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text.replace(/<script>.*?<\/script>/s, '')).not.toMatch(/<b>|src=|undefined|\{\}/);
      expect(headers['content-security-policy']).toMatch(
        /default-src 'none'.*script-src 'sha256-[^' ]+'; form-action 'self';/,
      );
    }
    expect(english.text).not.toBe(german.text);
    const shown = english.text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
    expect(shown).toContain(
      'Inn&gt;: Blue until 2031-12-31 23:00 UTC. 1,993 more points before 2030-12-31 23:00 UTC reach &lt;i&gt;Gold.pub: Blue until 2031-12-31 23:00 UTC. Change',
    );
    expect(shown).toContain('since 1970-01-01 00:00 UTC');
    expect(english.text).toContain('<bdi>Inn&gt;</bdi>: <bdi>Blue</bdi> until');
    const buttons = english.text.match(/<button[^>]*>/g) ?? [];
    expect(buttons.filter((each) => !each.includes('class='))).toEqual([
      '<button name="new-email" value="yes">',
    ]);
  });

  test('429 with Retry-After when the member has no budget left', async () => {
    const token = await tokenOf({ typ: 'JWT', aud: ISSUER, partner_id: undefined, sub: 'busy' });
    answer = { status: 200, headers: {}, account: { ...account, token } };
    const pages = Array.from({ length: 121 }, () => send('/account'));
    const { status, headers } = (await Promise.all(pages)).at(-1) ?? {};
    expect([status, Number(headers?.['retry-after'])]).toEqual([429, expect.any(Number)]);
  });

  test('one that an address asks for too often is logged once a second, without what is secret in its path', async () => {
    const visit = () => send('/oauth/authorize/secret', { address: '198.51.100.9' });
    lines.length = 0;
    refused.length = 0;
    for (let sent = 0; sent < 600; sent += 1) await visit();
    expect([lines.length, refused]).toEqual([600, []]);
    expect((await visit()).status).toBe(429);
    expect(lines).toHaveLength(600);
    expect(refused).toMatchObject([{ path: '/oauth/authorize', status: 429 }]);
  });

  test('whoever is signed in is counted apart from the address, once its session was seen', async () => {
    const session = 's'.repeat(43);
    const visit = (cookie?: string) =>
      send('/sign-in', { address: '198.51.100.10', headers: { ...(cookie && { cookie }) } });
    answer = { status: 200, headers: {}, body: '', owner: 'member m' };
    expect((await visit(`a=b; session=${session}`)).status).toBe(200);
    expect(asked).toMatchObject([{ path: 'session', body: session }, { path: '/sign-in' }]);
    answer = { status: 200, headers: {}, body: '' };
    for (let sent = 1; sent < 600; sent += 1) await visit();
    asked.length = 0;
    const statuses = [];
    for (const cookie of [undefined, `session=${'x'.repeat(43)}`, `session=${session}`])
      statuses.push((await visit(cookie)).status);
    expect([statuses, asked.map(({ path }) => path)]).toEqual([[429, 429, 200], ['/sign-in']]);
    for (let sent = 2; sent < 601; sent += 1) await visit(`session=${session}`);
    expect((await visit(`session=${session}`)).status).toBe(429);
  });

  test('a session that has ended is that of nobody a minute later', async () => {
    const visit = () => send('/sign-in', { headers: { cookie: `session=${'u'.repeat(43)}` } });
    answer = { status: 200, headers: {}, body: '', owner: 'member o' };
    for (let sent = 0; sent < 2; sent += 1) await visit();
    answer = { status: 200, headers: {}, body: '' };
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_001);
    for (let sent = 0; sent < 2; sent += 1) await visit();
    clock.mockRestore();
    const [found, ended] = [
      ['session', '/sign-in', '/sign-in'],
      ['session', '/sign-in'],
    ];
    expect(asked.map(({ path }) => path)).toEqual([...found, ...ended, ...ended]);
  });

  test('whoever is signed in waits for no address of 300 that begin to sign in', async () => {
    const cookie = `session=${'t'.repeat(43)}`;
    answer = { status: 200, headers: {}, body: '', owner: 'member n' };
    await send('/account', { headers: { cookie } });
    answer = { status: 200, headers: {}, body: '' };
    const flood = Array.from({ length: 300 }, () => send('/oauth/authorize?client_id=c'));
    while (asked.length < 10) await nextTick();
    asked.length = 0;
    const account = send('/account', { headers: { cookie } });
    await Promise.all([...flood, account]);
    expect(asked.length).toBeGreaterThan(200);
    expect(asked.findIndex(({ path }) => path === '/account')).toBeLessThan(100);
  });

  test('a newcomer waits for one turn of an IPv6 site, whatever it begins from 300 of its blocks', async () => {
    answer = { status: 200, headers: {}, body: '' };
    const begin = (address: string) => send('/oauth/authorize?client_id=c', { address });
    const flood = Array.from({ length: 300 }, (_, n) => begin(`2001:db8:1:${n.toString(16)}::1`));
    while (asked.length < 10) await nextTick();
    asked.length = 0;
    await Promise.all([...flood, begin('2001:db8:2::1')]);
    expect(asked.length).toBeGreaterThan(100);
    const place = asked.findIndex(({ clientAddress }) => clientAddress === '2001:db8:2::1');
    expect(place).toBeLessThan(20);
  });

  test('with a slash, they lead to the one without; documents are not found', async () => {
    for (const path of ['/account', '/invitation', '/sign-in'])
      expect(await send(`${path}/?token=x`)).toMatchObject({
        status: 308,
        headers: { location: `${path}?token=x` },
      });
    expect((await send('/.well-known/jwks.json/')).status).toBe(404);
  });
});
