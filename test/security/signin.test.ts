// Attacks on sign-in over HTTP, each named, with the response that it gets.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { generateKeyPair, importJWK, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { tokenIn } from '../support/servers/mailserver.ts';
import type { ApiResponse } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import {
  BUILT_IN,
  EXCHANGE,
  linkIn,
  magicLink,
  newMember,
  nextEmail,
  REQUEST,
} from '../support/service/mailbox.ts';
import { until } from '../support/until.ts';

const BASE = 'https://loyalty.example';
const PROFILE =
  'query ($id: ID!) { memberProfile(id: $id) { memberId partnerStandings { partnerId } } }';
const REQUEST_CHANGE =
  'mutation ($email: String!) { requestEmailChange(email: $email) { accepted } }';
const CONFIRM_CHANGE = 'mutation ($token: String!) { confirmEmailChange(token: $token) { email } }';

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess({
    env: {
      ...BUILT_IN,
      SANDBOX_URL: BASE,
      RATE_LIMIT_BUDGET: '100000',
      TRUSTED_PROXIES: '127.0.0.1',
    },
  });
});
afterAll(() => service.close());

type Key = Parameters<SignJWT['sign']>[0];
const now = () => Math.floor(Date.now() / 1_000);
const claims = () => ({ iss: BASE, aud: BASE, sub: 'm-both', iat: now(), exp: now() + 3_600 });

/** The service's signing key, so that forged tokens can have a valid signature. */
async function serviceKey() {
  const current = (await service.stores.members.signingKeys.keys()).find(
    ({ state }) => state === 'current',
  );
  if (current?.state !== 'current') throw new Error('there is no signing key');
  return { ...current, key: await importJWK(current.privateKey as JWK, 'RS256') };
}

async function sign(
  changed: object = {},
  header: Partial<JWTHeaderParameters> = {},
  key?: Key,
): Promise<string> {
  const signingKey = await serviceKey();
  const payload = Object.fromEntries(
    Object.entries({ ...claims(), ...changed }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'RS256', kid: signingKey.kid, ...header })
    .sign(key ?? signingKey.key);
}

let visitors = 0;
/** Headers with a new client address, so that refusals do not add up to 429. */
const visitor = () => {
  visitors += 1;
  return { 'x-forwarded-for': `192.0.2.${visitors}` };
};
const readProfile = (token: string, id = 'm-both') =>
  service.send({ query: PROFILE, variables: { id }, token, headers: visitor() });
const exchange = (token: string, key?: string) =>
  service.send({ query: EXCHANGE, variables: { token }, key });
const sessionOf = ({ body }: ApiResponse) => body.data?.exchangeMagicLink;
const newToken = async (key?: string) =>
  tokenIn(await magicLink(service, (await newMember(service)).email, { key }));
const postForm = (
  fields: Record<string, string>,
  headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
) =>
  fetch(`${service.url}/sign-in`, {
    method: 'POST',
    headers: { ...visitor(), ...headers },
    body: new URLSearchParams(fields),
  });

test('a genuine token reads the profile, and one with a signature of another key gets 401', async () => {
  expect((await readProfile(await sign())).body).toMatchObject({
    data: { memberProfile: { memberId: 'm-both' } },
  });
  const forged = await sign({}, {}, (await generateKeyPair('RS256')).privateKey);
  expect(await readProfile(forged)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
});

test("MEMBER_NOT_FOUND for another member's profile, as for an unknown one", async () => {
  const [other, unknown] = [
    await readProfile(await sign(), 'm-beta'),
    await readProfile(await sign(), 'm-nobody-at-all'),
  ];
  expect([other.status, other.code, other.body.data]).toEqual([
    200,
    'MEMBER_NOT_FOUND',
    { memberProfile: null },
  ]);
  const withoutId = ({ text }: ApiResponse) => text.replace(/"requestId":"[^"]+"/, '');
  expect(withoutId(other)).toBe(withoutId(unknown));
});

test('a token with azp shows only that partner, nothing for an unknown one, and changes neither address nor names', async () => {
  const member = await newMember(service);
  // Cast: the schema guarantees this field.
  const session = sessionOf(await exchange(tokenIn(await magicLink(service, member.email)))) as {
    idToken: string;
  };
  const shown = async (token: string, id: string) =>
    (await readProfile(token, id)).body.data?.memberProfile;
  expect(await shown(session.idToken, member.memberId)).toEqual({
    memberId: member.memberId,
    partnerStandings: [{ partnerId: 'alpha' }],
  });
  expect(await shown(await sign({ azp: 'nobody' }), 'm-both')).toEqual({
    memberId: 'm-both',
    partnerStandings: [],
  });
  for (const request of [
    { query: REQUEST_CHANGE, variables: { email: 'evil@example.com' } },
    { query: CONFIRM_CHANGE, variables: { token: `ec_${'x'.repeat(43)}` } },
  ]) {
    expect(await service.send({ ...request, token: session.idToken })).toMatchObject({
      status: 200,
      code: 'FORBIDDEN',
      body: { errors: [{ message: expect.stringContaining(`${BASE}/sign-in`) }] },
    });
  }
  const query = 'mutation { updateProfile(input: { firstName: "Eve" }) { firstName } }';
  expect(await service.send({ query, token: session.idToken })).toMatchObject({
    status: 200,
    code: 'FORBIDDEN',
    body: { data: { updateProfile: null } },
  });
});

test('INVALID_TOKEN for a replayed link, wherever it was used first', async () => {
  const [exchanged, signedIn] = [await newToken(), await newToken()];
  expect(sessionOf(await exchange(exchanged))).toBeDefined();
  expect((await postForm({ token: signedIn })).status).toBe(200);
  for (const token of [exchanged, signedIn]) {
    expect(await exchange(token)).toMatchObject({
      status: 200,
      code: 'INVALID_TOKEN',
      body: { data: { exchangeMagicLink: null } },
    });
    expect((await postForm({ token })).status).toBe(410);
  }
});

test('guesses from an address over its limit read nothing, and a genuine link waits', async () => {
  const headers = { ...visitor(), 'sec-fetch-site': 'same-origin' };
  const guess = () => `ml_${randomBytes(32).toString('base64url')}`;
  const statuses: number[] = [];
  for (let n = 0; n < 61; n += 1)
    statuses.push((await postForm({ token: guess() }, headers)).status);
  expect(statuses).toEqual([...Array(60).fill(410), 429]);
  const token = await newToken();
  const before = service.calls.length;
  const refused = [
    ...[guess(), token, 'in_xxxxxxxxxxxx'].map((field) => postForm({ token: field }, headers)),
    ...[`/sign-in?token=${token}`, '/invitation?token=in_xxxxxxxxxxxx'].map((page) =>
      fetch(service.url + page, { headers }),
    ),
  ];
  for (const { status, headers: received } of await Promise.all(refused))
    expect([status, received.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-9]/)]);
  expect(service.calls.slice(before)).toEqual([]);
  expect((await postForm({ token })).status).toBe(200);
});

test.each(['/oauth/token', '/oauth/authorize', '/sign-in'])(
  '415 for a compressed form at %s, which is not read as text',
  async (path) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const headers = { ...form, 'content-encoding': 'gzip', 'sec-fetch-site': 'same-origin' };
    const body = gzipSync('client_id=c');
    const { status } = await fetch(service.url + path, { method: 'POST', headers, body });
    expect(status).toBe(415);
  },
);

test('a token that was not found causes no other read for 5 seconds, whoever sends it', async () => {
  const token = `eu_${randomBytes(32).toString('base64url')}`;
  const invitation = `in_${randomBytes(32).toString('base64url')}`;
  const statuses = async () => [
    (await postForm({ token })).status,
    (await fetch(`${service.url}/invitation?token=${invitation}`, { headers: visitor() })).status,
  ];
  expect(await statuses()).toEqual([410, 410]);
  const before = service.calls.length;
  for (let n = 0; n < 3; n += 1) expect(await statuses()).toEqual([410, 410]);
  expect(service.calls.slice(before)).toEqual([]);
});

test('host header injection does not change links: they lead to the base address', async () => {
  const { email } = await newMember(service);
  const evil = 'evil.example';
  for (const headers of [
    { host: evil },
    { 'x-forwarded-host': evil, 'x-forwarded-proto': 'gopher', 'x-forwarded-port': '1' },
    {
      forwarded: `host=${evil};proto=http`,
      'x-original-host': evil,
      'x-host': evil,
      origin: `https://${evil}`,
      referer: `https://${evil}/`,
    },
  ]) {
    const received = await nextEmail(service, email, () =>
      posted({ query: REQUEST, variables: { email } }, headers),
    );
    expect(linkIn(received)).toMatch(new RegExp(`^${BASE}/sign-in\\?token=ml_`));
    expect(received).not.toContain(evil);
  }
});

/** Posts as alpha with headers that fetch does not allow. */
async function posted(body: object, headers: IncomingHttpHeaders): Promise<void> {
  const sent = request(`${service.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-partner-api-key': service.keys.alpha,
      ...headers,
    },
  });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
}

test('CRLF injection: refused in addresses, and kept out of email headers in names', async () => {
  for (const email of [
    'both@example.com\r\nBcc: evil@example.com',
    'both@example.com\nevil@example.com',
    'both@example.com\0',
    '\r\nboth@example.com',
  ]) {
    expect((await service.send({ query: REQUEST, variables: { email } })).code).toBe(
      'BAD_USER_INPUT',
    );
    expect(
      (await service.send({ query: REQUEST_CHANGE, variables: { email }, token: await sign() }))
        .code,
    ).toBe('BAD_USER_INPUT');
  }
  await service.stores.members.partners.put({
    partnerId: 'alpha',
    name: 'Alpha\r\nBcc: evil@example.com\r\n\r\n<b>Hotels</b>',
  });
  const { email } = await newMember(service);
  const [head = ''] = (
    await nextEmail(service, email, () => service.send({ query: REQUEST, variables: { email } }))
  ).split('\r\n\r\n');
  expect(head).toMatch(/^Subject: Sign in to Alpha Bcc: evil@example.com/m);
  expect(head).not.toMatch(/^(bcc|cc|to: .*evil)/im);
  await service.stores.members.partners.put({ partnerId: 'alpha', name: 'alpha' });
});

test('enumeration of members fails: requests for any address get the same response, and at most 5 emails', async () => {
  const { email } = await newMember(service);
  const before = service.mail().length;
  const addresses = [
    ...Array(8).fill(email),
    'unknown@example.com',
    'beta.only@example.com',
    'ended@example.com',
    'no address',
  ];
  const responses = [];
  for (const each of addresses)
    responses.push(
      await service.send({ query: REQUEST, variables: { email: each }, requestId: 'r' }),
    );
  const seen = responses.map(({ status, text, headers }) =>
    JSON.stringify([status, text, [...headers.keys()]]),
  );
  expect([...new Set(seen)]).toHaveLength(1);
  await until(() => service.mail().length >= before + 5);
  // When these emails arrive, all earlier requests have been processed.
  for (let round = 0; round < 2; round += 1)
    await magicLink(service, (await newMember(service)).email);
  expect(service.mail()).toHaveLength(before + 7);
});

test('403 for a POST to /sign-in from another site (login CSRF), and the link stays valid', async () => {
  const token = await newToken();
  const response = await postForm({ token }, { 'sec-fetch-site': 'cross-site' });
  expect([response.status, await response.text()]).toEqual([
    403,
    expect.stringContaining('not sent from our page'),
  ]);
  expect((await postForm({ token })).status).toBe(200);
});

test('the cookie of a session is for this page, this host and TLS only', async () => {
  const { email } = await newMember(service);
  const token = tokenIn(await magicLink(service, email));
  const signedIn = await postForm({ token });
  const cookie = signedIn.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(
    /^__Host-session=[^;]+; path=\/; expires=[^;]+; samesite=lax; secure; httponly$/i,
  );
  const [pair = ''] = cookie.split(';');
  const page = (of: string) =>
    fetch(`${service.url}/sign-in`, { headers: { ...visitor(), cookie: of } });
  const textOf = async (reply: Response) => [reply.status, await reply.text()];

  expect(await textOf(await page(`a=b; ${pair}`))).toEqual([
    200,
    expect.stringContaining('Your profile'),
  ]);
  // A used link stays one.
  const again = await postForm({ token }, { 'sec-fetch-site': 'same-origin', cookie: pair });
  expect(again.status).toBe(410);
  // Without the prefix it may come from another host, and the API does not read cookies.
  const signedOut = [200, expect.stringContaining('type="email"')];
  expect(await textOf(await page(pair.replace('__Host-', '')))).toEqual(signedOut);
  const { code } = await service.send({
    query: '{ memberProfile(id: "m-both") { email } }',
    key: '',
    headers: { cookie: pair },
  });
  expect(code).toBe('UNAUTHENTICATED');
  for (const forged of ['__Host-session=', '__Host-session=a.b.c', '__Host-session=%ff']) {
    expect(await textOf(await page(forged))).toEqual(signedOut);
  }
});
