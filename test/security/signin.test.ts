// Attacks on signing in, through the front, each by its name and with the answer that it gets.
import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { generateKeyPair, importJWK, type JWTHeaderParameters, SignJWT, UnsecuredJWT } from 'jose';
import { startBrowser } from '../support/servers/browser.ts';
import { tokenIn } from '../support/servers/mailserver.ts';
import type { Answer } from '../support/service/client.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';
import {
  BUILT_IN,
  EXCHANGE,
  linkIn,
  magicLink,
  mailed,
  newMember,
  REQUEST,
} from '../support/service/mailbox.ts';
import { until } from '../support/until.ts';

const BASE = 'https://loyalty.example';
const PROFILE =
  'query ($id: ID!) { memberProfile(id: $id) { memberId partnerStandings { partnerId } } }';
const REQUEST_CHANGE =
  'mutation ($email: String!) { requestEmailChange(email: $email) { accepted } }';
const CONFIRM_CHANGE = 'mutation ($token: String!) { confirmEmailChange(token: $token) { email } }';

let stage: Stage;
beforeAll(async () => {
  stage = await startInProcess({
    env: {
      ...BUILT_IN,
      SANDBOX_URL: BASE,
      RATE_LIMIT_BUDGET: '100000',
      TRUSTED_PROXIES: '127.0.0.1',
    },
  });
});
afterAll(() => stage.close());

type Key = Parameters<SignJWT['sign']>[0];
const now = () => Math.floor(Date.now() / 1_000);
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const claims = () => ({ iss: BASE, aud: BASE, sub: 'm-both', iat: now(), exp: now() + 3_600 });

/** The key that the service signs with, both halves of it: what an attack with it shows is not for want of a good signature. */
async function serviceKey() {
  const current = (await stage.stores.members.signingKeys.keys()).find(
    ({ state }) => state === 'current',
  );
  if (current?.state !== 'current') throw new Error('there is no signing key');
  return { ...current, key: await importJWK(current.privateKey, 'ES256') };
}

async function sign(
  changed: object = {},
  header: Partial<JWTHeaderParameters> = {},
  key?: Key,
): Promise<string> {
  const service = await serviceKey();
  const payload = Object.fromEntries(
    Object.entries({ ...claims(), ...changed }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', kid: service.kid, ...header })
    .sign(key ?? service.key);
}

let visitors = 0;
/** From an address of its own each time, so that refusals do not add up to 429. */
const visitor = () => {
  visitors += 1;
  return { 'x-forwarded-for': `192.0.2.${visitors}` };
};
const readProfile = (token: string, id = 'm-both') =>
  stage.ask({ query: PROFILE, variables: { id }, token, headers: visitor() });
const exchange = (token: string, key?: string) =>
  stage.ask({ query: EXCHANGE, variables: { token }, key });
const sessionOf = ({ body }: Answer) => body.data?.exchangeMagicLink;
const newToken = async (key?: string) =>
  tokenIn(await magicLink(stage, (await newMember(stage)).email, { key }));
const pressed = (
  fields: Record<string, string>,
  headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
) =>
  fetch(`${stage.url}/sign-in`, {
    method: 'POST',
    headers: { ...visitor(), ...headers },
    body: new URLSearchParams(fields),
  });

/** While it runs, it is that much later. */
async function later<T>(ms: number, act: () => Promise<T>): Promise<T> {
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
  try {
    return await act();
  } finally {
    clock.mockRestore();
  }
}

test('the tokens that follow differ from this one in nothing but the attack', async () => {
  expect((await readProfile(await sign())).body).toMatchObject({
    data: { memberProfile: { memberId: 'm-both' } },
  });
});

const FORGED: [attack: string, token: () => Promise<string>][] = [
  ['alg none', async () => new UnsecuredJWT(claims()).encode()],
  [
    'alg none under the kid of the key',
    async () => `${encoded({ alg: 'none', kid: (await serviceKey()).kid })}.${encoded(claims())}.`,
  ],
  ['HS256 with the public key', async () => signedWithPublicKey('HS256')],
  ['HS256 with the public key under the name of ES256', async () => signedWithPublicKey('ES256')],
  ['wrong iss', () => sign({ iss: 'https://evil.example' })],
  ['wrong iss by a slash', () => sign({ iss: `${BASE}/` })],
  ['wrong aud', () => sign({ aud: 'https://evil.example' })],
  ['wrong aud beside the right one', () => sign({ aud: [BASE, 'https://evil.example'] })],
  ['an azp that is no text', () => sign({ azp: { partner: 'alpha' } })],
  ['missing exp', () => sign({ exp: undefined })],
  ['missing iat', () => sign({ iat: undefined })],
  ['missing sub', () => sign({ sub: undefined })],
  ['expired', () => sign({ iat: now() - 7_200, exp: now() - 60 })],
  ['future iat', () => sign({ iat: now() + 120 })],
  ['a kid that nobody has', () => sign({}, { kid: 'unknown' })],
  ['a kid pointing elsewhere: a file', () => sign({}, { kid: '../../../../dev/null' })],
  ['a kid pointing elsewhere: a query', () => sign({}, { kid: "' OR '1'='1" })],
  [
    "a stranger's signature under the kid of the key",
    async () => sign({}, {}, (await generateKeyPair('ES256')).privateKey),
  ],
  [
    'changed claims under the old signature',
    async () => (await sign()).replace(/\.[^.]+\./, `.${encoded({ ...claims(), sub: 'm-beta' })}.`),
  ],
];

test.each(FORGED)('%s: 401, as for no token at all', async (_, token) => {
  const answer = await readProfile(await token());
  expect([answer.status, answer.code]).toEqual([401, 'UNAUTHENTICATED']);
  const none = await stage.ask({
    query: PROFILE,
    variables: { id: 'm-both' },
    key: '',
    headers: visitor(),
  });
  expect(answer.body.errors?.[0]?.message).toBe(none.body.errors?.[0]?.message);
});

async function signedWithPublicKey(alg: string): Promise<string> {
  const { publicKey, kid } = await serviceKey();
  // Cast: node's type of the same thing.
  const secret = createPublicKey({ key: publicKey as JsonWebKey, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  });
  const text = `${encoded({ alg, kid })}.${encoded(claims())}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

test('jku, x5u and jwk that bring keys of a stranger are ignored, and nobody goes there', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { exportJWK } = await import('jose');
  const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'stranger' };
  let visits = 0;
  const stranger = createServer((_, response) => {
    visits += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  // Cast: a server that listens on a port has such an address.
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/jwks.json`;
  for (const header of [
    { jku: url },
    { x5u: url },
    { jwk },
    { jku: url, kid: 'stranger' },
    { kid: url },
  ]) {
    expect((await readProfile(await sign({}, header, privateKey))).code).toBe('UNAUTHENTICATED');
  }
  expect(visits).toBe(0);
  stranger.close();
});

test('a token of member A for member B: MEMBER_NOT_FOUND, as for nobody', async () => {
  const [other, nobody] = [
    await readProfile(await sign(), 'm-beta'),
    await readProfile(await sign(), 'm-nobody-at-all'),
  ];
  expect([other.status, other.code, other.body.data]).toEqual([
    200,
    'MEMBER_NOT_FOUND',
    { memberProfile: null },
  ]);
  const bare = ({ text }: Answer) => text.replace(/"requestId":"[^"]+"/, '');
  expect(bare(other)).toBe(bare(nobody));
});

test('wrong azp: a token that a partner exchanged shows that partner alone and changes no address; one of an unknown partner shows none', async () => {
  const member = await newMember(stage);
  // Cast: what the fields of the selection are.
  const session = sessionOf(await exchange(tokenIn(await magicLink(stage, member.email)))) as {
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
  for (const ask of [
    { query: REQUEST_CHANGE, variables: { email: 'evil@example.com' } },
    { query: CONFIRM_CHANGE, variables: { token: `ec_${'x'.repeat(43)}` } },
  ]) {
    expect(await stage.ask({ ...ask, token: session.idToken })).toMatchObject({
      status: 200,
      code: 'INVALID_TOKEN',
    });
  }
});

test('an expired link: INVALID_TOKEN, and no sign-in on the page', async () => {
  const token = await newToken();
  await later(15 * 60_000, async () => {
    expect((await exchange(token)).code).toBe('INVALID_TOKEN');
    expect((await pressed({ token })).status).toBe(410);
  });
  expect(sessionOf(await exchange(token))).toMatchObject({ memberId: expect.any(String) });
});

test('a replayed link: INVALID_TOKEN, wherever it was used first', async () => {
  const [exchanged, signedIn] = [await newToken(), await newToken()];
  expect(sessionOf(await exchange(exchanged))).toBeDefined();
  expect((await pressed({ token: signedIn })).status).toBe(200);
  for (const token of [exchanged, signedIn]) {
    expect(await exchange(token)).toMatchObject({
      status: 200,
      code: 'INVALID_TOKEN',
      body: { data: { exchangeMagicLink: null } },
    });
    expect((await pressed({ token })).status).toBe(410);
  }
});

test("a link of partner A exchanged with partner B's key: INVALID_TOKEN, and still good for A", async () => {
  const token = await newToken(stage.keys.alpha);
  expect((await exchange(token, stage.keys.beta)).code).toBe('INVALID_TOKEN');
  expect(sessionOf(await exchange(token, stage.keys.alpha))).toMatchObject({
    memberId: expect.any(String),
  });
});

test('a race of 20 exchanges, and the page with them: one wins', async () => {
  const token = await newToken();
  const answers = await Promise.all([
    ...Array.from({ length: 20 }, () => exchange(token)),
    pressed({ token }),
    pressed({ token }),
  ]);
  const won = answers.filter((answer) =>
    'body' in answer && 'code' in answer ? sessionOf(answer as Answer) : answer.status === 200,
  );
  expect(won).toHaveLength(1);
});

test("a link to a partner's own page at /sign-in: refused, and still good for the partner", async () => {
  await stage.stores.members.partners.put({
    partnerId: 'beta',
    name: 'Beta',
    magicLinkUrl: 'https://beta.example/in?from=mail',
  });
  const { email } = await newMember(stage);
  const link = await magicLink(stage, email, { key: stage.keys.beta });
  expect(link).toMatch(/^https:\/\/beta\.example\/in\?from=mail&token=ml_/);
  expect((await pressed({ token: tokenIn(link) })).status).toBe(410);
  expect(sessionOf(await exchange(tokenIn(link), stage.keys.beta))).toBeDefined();
});

test('host-header injection into links: they lead to the base address, whatever a request says about its host', async () => {
  const { email } = await newMember(stage);
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
    const letter = await mailed(stage, email, () =>
      posted({ query: REQUEST, variables: { email } }, headers),
    );
    expect(linkIn(letter)).toMatch(new RegExp(`^${BASE}/sign-in\\?token=ml_`));
    expect(letter).not.toContain(evil);
  }
});

/** Posts as alpha, with headers that fetch would not send. */
async function posted(body: object, headers: IncomingHttpHeaders): Promise<void> {
  const sent = request(`${stage.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-partner-api-key': stage.keys.alpha,
      ...headers,
    },
  });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
}

test('CRLF in addresses and names: refused, or kept out of the headers of letters', async () => {
  for (const email of [
    'both@example.com\r\nBcc: evil@example.com',
    'both@example.com\nevil@example.com',
    'both@example.com\0',
    '\r\nboth@example.com',
  ]) {
    expect((await stage.ask({ query: REQUEST, variables: { email } })).code).toBe('BAD_USER_INPUT');
    expect(
      (await stage.ask({ query: REQUEST_CHANGE, variables: { email }, token: await sign() })).code,
    ).toBe('BAD_USER_INPUT');
  }
  await stage.stores.members.partners.put({
    partnerId: 'alpha',
    name: 'Alpha\r\nBcc: evil@example.com\r\n\r\n<b>Hotels</b>',
  });
  const { email } = await newMember(stage);
  const [head = ''] = (
    await mailed(stage, email, () => stage.ask({ query: REQUEST, variables: { email } }))
  ).split('\r\n\r\n');
  expect(head).toMatch(/^Subject: Sign in to Alpha Bcc: evil@example.com/m);
  expect(head).not.toMatch(/^(bcc|cc|to: .*evil)/im);
  await stage.stores.members.partners.put({ partnerId: 'alpha', name: 'alpha' });
});

test('Unicode in addresses: no lookalike gets a letter, and none leads to another mailbox', async () => {
  const { email } = await newMember(stage);
  const before = stage.mail().length;
  const lookalikes = [
    email.replace('m', '\uff4d'), // fullwidth
    email.replace('e', '\u0435'), // Cyrillic
    email.replace('@', '\uff20'),
    email.replace('@', '\u200b@'),
    email.replace('@', '\u2028@'),
    `${email}, evil@example.com`,
    `<${email}>`,
    `"${email}" <evil@example.com>`,
    `evil@example.com,${email}`,
  ];
  for (const lookalike of lookalikes) {
    expect((await stage.ask({ query: REQUEST, variables: { email: lookalike } })).text).toBe(
      '{"data":{"requestMagicLink":{"accepted":true}}}',
    );
  }
  // Spellings that the canonical form folds are the member's own, and the letter goes to the stored one.
  expect(
    await magicLink(stage, ` ${email.toUpperCase().replace('.', '\u3002')} `, { to: email }),
  ).toContain('token=');
  expect(stage.mail()).toHaveLength(before + 1);
});

test('enumeration by status, bytes and headers: everybody is accepted alike; by mail count: the throttled get no sixth letter', async () => {
  const { email } = await newMember(stage);
  const before = stage.mail().length;
  const asked = [
    ...Array(8).fill(email),
    'unknown@example.com',
    'beta.only@example.com',
    'ended@example.com',
    'no address',
  ];
  const answers = [];
  for (const each of asked)
    answers.push(await stage.ask({ query: REQUEST, variables: { email: each }, requestId: 'r' }));
  const told = answers.map(({ status, text, headers }) =>
    JSON.stringify([status, text, [...headers.keys()]]),
  );
  expect([...new Set(told)]).toHaveLength(1);
  await until(() => stage.mail().length >= before + 5);
  // What was asked before these has been looked at when their letters arrive.
  for (let round = 0; round < 2; round += 1) await magicLink(stage, (await newMember(stage)).email);
  expect(stage.mail()).toHaveLength(before + 7);
});

test('enumeration by time: no answer waits for a mailbox to be found or a letter to go out', async () => {
  const calling = new Set<Socket>();
  const silent = createTcpServer((socket) => void calling.add(socket)).listen(0, '127.0.0.1'); // A mail server that takes calls and never speaks.
  await once(silent, 'listening');
  // Cast: a server that listens on a port has such an address.
  const { port } = silent.address() as AddressInfo;
  const mute = await startInProcess({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
  const calls = [];
  for (const email of ['both@example.com', 'unknown@example.com']) {
    mute.calls.length = 0;
    expect((await mute.ask({ query: REQUEST, variables: { email } })).status).toBe(200);
    calls.push([...mute.calls]);
  }
  expect(calls).toEqual([[], []]);
  await until(() => calling.size > 0);
  silent.close();
  for (const socket of calling) socket.destroy();
  await mute.close();
});

test.each<[string, Record<string, string>]>([
  ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ['from a sibling site', { 'sec-fetch-site': 'same-site' }],
  ['from nowhere', { 'sec-fetch-site': 'none' }],
  ['from a sandboxed frame of an older browser', { origin: 'null' }],
  ['from another origin in an older browser', { origin: 'https://evil.example' }],
  ['that does not say where it is from', {}],
])('a POST to /sign-in %s (login CSRF): 403, and the link is still good', async (_, headers) => {
  const token = await newToken();
  const answer = await pressed({ token }, headers);
  expect([answer.status, await answer.text()]).toEqual([
    403,
    expect.stringContaining('not sent from our page'),
  ]);
  expect((await pressed({ token })).status).toBe(200);
});

test("a form on another site's page, in a browser: 403, and the link is still good", async () => {
  const token = await newToken();
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.setContent(
      `<form method="post" action="${stage.url}/sign-in"><input type="hidden" name="token" value="${token}"><button>Win</button></form>`,
    );
    const [reply] = await Promise.all([
      page.waitForResponse(`${stage.url}/sign-in`),
      page.getByRole('button').click(),
    ]);
    expect(reply.status()).toBe(403);
  } finally {
    await browser.close();
  }
  expect((await pressed({ token })).status).toBe(200);
});

test('XSS through names, addresses, tiers, tokens and partners: shown as the text that it is', async () => {
  const payload = '<img src=x onerror=alert(1)><script>alert(1)</script>';
  const quoted = '"><svg onload=alert(1)>\'';
  await stage.stores.keys.createPartner({
    partnerId: 'xss',
    name: `${payload}&amp;`,
    createdAt: new Date(),
  });
  const address = { typed: "o'neil&co`{}$@example.com", canonical: "o'neil&co`{}$@example.com" };
  await stage.stores.members.importMembers([
    {
      memberId: 'm-xss',
      address,
      previousAddresses: [],
      firstName: payload,
      lastName: quoted,
      enrollments: [{ partnerId: 'alpha' }, { partnerId: 'xss' }],
    },
  ]);
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const alerts: string[] = [];
    page.on('dialog', (dialog) => {
      alerts.push(dialog.message());
      return dialog.dismiss();
    });
    const letters = stage.mail().length;
    await stage.ask({ query: REQUEST, variables: { email: address.typed } });
    await until(() => stage.mail().length > letters);
    await page.goto(`${stage.url}/sign-in?token=${tokenIn(stage.mail().at(-1))}`);
    await Promise.all([page.waitForEvent('domcontentloaded'), page.getByRole('button').click()]);
    const text = await page.getByRole('main').innerText();
    for (const shown of [`${payload} ${quoted}`, address.typed, `${payload}&amp;`])
      expect(text).toContain(shown);
    expect(await page.locator('main').locator('img, script, svg').count()).toBe(0);
    for (const query of [
      `token=${encodeURIComponent(`ml_${quoted}`)}`,
      `token=ml_x&${encodeURIComponent(payload)}`,
    ]) {
      await page.goto(`${stage.url}/sign-in?${query}`);
      expect(await page.content()).not.toContain('alert(1)');
    }
    expect(alerts).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('a forged session in the form of the page: signed out, and nothing asked for', async () => {
  const session = await sign({}, {}, (await generateKeyPair('ES256')).privateKey);
  const answer = await pressed({ session, email: 'evil@example.com' });
  expect([answer.status, await answer.text()]).toEqual([
    401,
    expect.stringContaining('You are signed out'),
  ]);
  const exchanged = await sign({ azp: 'alpha' });
  expect(
    await (await pressed({ session: exchanged, email: 'evil@example.com' })).text(),
  ).not.toContain('We have sent a link');
});
