// A request from its credential to its response, through the parts that a gateway has.
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import type { StoreState } from '@partner-loyalty/runtime/store/outage.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { UNSHARED } from '../../test/support/requests/unshared.ts';
import { answering, openPlace } from '../test/gateway.ts';
import type { Audit } from './audit.ts';
import type { Counters } from './budget/counters.ts';
import type { Gateway } from './gateway.ts';
import { issueKey, newKey } from './identity/apikey.ts';
import { createReadiness } from './readiness.ts';
import type { KeyScope } from './schema/scopes.ts';

const AT = new Date('2026-03-04T05:06:07Z');
const PAGE = 'https://shop.example';
const READ = '{ memberByEmail(email: "a@example.com") { email } }';
const TWO_READS =
  '{ a: memberByEmail(email: "a@example.com") { email } b: memberByEmail(email: "b@example.com") { email } }';
const END = 'mutation { endEnrollment(memberId: "m") { memberId } }';
const INTROSPECTION = '{ __schema { queryType { name } } }';

let place: Awaited<ReturnType<typeof openPlace>>;
let gateway: Gateway;
let subgraph: Transport;
let privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
/** What the log says of requests. */
const lines: string[] = [];
/** What is recorded of requests, and for which partner. */
const noted: Record<string, unknown>[] = [];
/** The operations that are counted. */
const counted: unknown[] = [];
/** The operations of callers that reached a subgraph. */
const asked: string[] = [];

beforeAll(async () => {
  place = await openPlace();
  const { keyStore } = place;
  await keyStore.createPartner({ partnerId: 'inn', name: 'Inn', budget: 1_000, createdAt: AT });
  await keyStore.createPartner({ partnerId: 'out', name: 'Out', suspendedAt: AT, createdAt: AT });
  await keyStore.createPartner({ partnerId: 'few', name: 'Few', budget: 3, createdAt: AT });
  const pair = await generateKeyPair('ES256');
  privateKey = pair.privateKey;
  subgraph = subgraphWith({ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' });
  gateway = await place.open({
    env: { CORS_ORIGINS: PAGE, LOG_CLIENT_ADDRESS: 'full' },
    subgraph,
    log: {
      ...createLog('silent'),
      infoJson: (fields) => void lines.push(fields),
    },
    usage: {
      count: (_surface, _schema, { federated }) => void counted.push(federated?.key),
      ended: (partnerId, { durationMs: _, ...request }, budgetUsed) =>
        void noted.push({ partnerId, budgetUsed, ...request }),
    },
  });
});

afterAll(() => place.close());

beforeEach(() => {
  asked.length = 0;
  noted.length = 0;
});

/** The subgraphs, and the built-in identity provider, which has one key. */
function subgraphWith(signingKey: JWK): Transport {
  const email = (name: string) => () => ({ email: `${name}@example.com` });
  return answering(
    {
      ...{ memberByEmail: email('a'), a: email('a'), b: email('b'), memberProfile: email('a') },
      endEnrollment: () => ({ memberId: 'm' }),
      requestMagicLink: () => ({ accepted: true }),
      signingKeys: () => JSON.stringify({ keys: [signingKey] }),
      endedSubjects: () => [],
      appOrigins: () => [],
    },
    ({ query, caller }) => {
      if (caller.kind !== 'service') asked.push(query);
    },
  );
}

async function keyOf(partnerId: string, scopes?: readonly KeyScope[]): Promise<string> {
  const { key, record } = issueKey('sandbox', partnerId, AT, { scopes });
  await place.keyStore.createKey(record);
  return key;
}

function tokenOf(memberId: string, azp?: string): Promise<string> {
  const { sandboxUrl } = readSettings({}, 'all');
  return new SignJWT(azp === undefined ? {} : { azp })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(sandboxUrl)
    .setAudience(sandboxUrl)
    .setSubject(memberId)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
}

type Sent = {
  key?: string | undefined;
  token?: string;
  query?: string;
  variables?: object;
  body?: () => Promise<Buffer>;
  method?: string;
  path?: string;
  search?: string;
  headers?: Record<string, string>;
  address?: string;
  admit?: HttpRequest['admit'];
};

const REQUEST = {
  ...{ method: 'POST', path: '/graphql', search: '', requestId: 'r', address: '192.0.2.1' },
  signal: new AbortController().signal,
  body: async () => Buffer.alloc(0),
  ...UNSHARED,
};

async function send(sent: Sent, to = gateway) {
  const { key, token, query = READ, variables, body, headers, ...others } = sent;
  const {
    status,
    headers: received,
    body: text,
    closes,
    observer,
  } = await to.handle({
    ...REQUEST,
    ...others,
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { 'x-partner-api-key': key }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: body ?? (async () => Buffer.from(JSON.stringify({ query, variables }))),
  });
  observer?.ended(String(text).length, true);
  const parsed = String(text) === '' ? {} : JSON.parse(String(text));
  const { errors, error } = parsed;
  const code = errors?.[0].extensions.code ?? 'OK';
  return { status, headers: received, errors, error, code, closes };
}

test('with LOG_CLIENT_ADDRESS=full, the line of a refused key has the whole address', async () => {
  await send({ key: 'nonsense', address: '2001:db8::7' });
  expect(lines.at(-1)).toContain('"reason":"malformed","clientAddress":"2001:db8::7"');
  await send({ key: await keyOf('inn') });
  expect(lines.at(-1)).not.toContain('clientAddress');
});

test('a key that is revoked while a slow body arrives does nothing any more', async () => {
  const { key, record } = issueKey('sandbox', 'inn', AT);
  await place.keyStore.createKey(record);
  const now = performance.now.bind(performance);
  const body = async () => {
    await place.keyStore.revokeKey(record.keyId, new Date());
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
    return Buffer.from(JSON.stringify({ query: READ }));
  };
  try {
    expect(await send({ key, body })).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  } finally {
    jest.restoreAllMocks();
  }
  expect(asked).toEqual([]);
});

test('introspection waits for no run that a subgraph is slow to answer', async () => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let waiting = 0;
  const slow: Transport = {
    ...subgraph,
    async execute(request) {
      if (request.query.includes('memberByEmail')) {
        waiting += 1;
        await held;
      }
      return subgraph.execute(request);
    },
  };
  const opened = await place.open({ subgraph: slow, log: createLog('silent') });
  const key = await keyOf('inn');
  const query = `{ __schema { queryType { name } } ${READ.slice(1)}`;
  const all = Array.from({ length: 10 }, () => send({ key, query }, opened));
  while (waiting < all.length) await new Promise(setImmediate);
  expect(await send({ key: await keyOf('few'), query: INTROSPECTION }, opened)).toMatchObject({
    code: 'OK',
  });
  answer();
  expect((await Promise.all(all)).map(({ code }) => code)).toEqual(Array(10).fill('OK'));
});

test('/graphql/ is /graphql', async () => {
  expect(await send({ key: await keyOf('inn'), path: '/graphql/' })).toMatchObject({ code: 'OK' });
  const page = { method: 'GET', headers: { accept: 'text/html' } };
  // The last two are those of extensions, which this gateway has not.
  for (const path of ['//evil.example/', '/sign-in', '/console'])
    expect(await gateway.handle({ ...REQUEST, ...page, path })).toMatchObject({ status: 404 });
});

test('a body is parsed when there is memory for it', async () => {
  const body = async () => Buffer.from('{"'.padEnd(1_000));
  const admit = (_: unknown, bytes = 0) => {
    expect(bytes).toBeGreaterThan(32_000);
    throw new ApiError('SERVICE_UNAVAILABLE');
  };
  expect(await send({ key: await keyOf('inn'), body, admit })).toMatchObject({ status: 503 });
});

test('a name that V8 does not hash is refused before it is parsed', async () => {
  const key = await keyOf('inn');
  const sent = (length: number) =>
    send({ key, query: '{ __typename }', variables: { ['x'.repeat(length)]: 1 } });
  expect(await sent(16_383)).toMatchObject({ status: 200 });
  expect(await sent(16_384)).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
});

test('a suspended partner gets nothing, by its key or by a token that it holds', async () => {
  for (const credential of [{ key: await keyOf('out') }, { token: await tokenOf('m', 'out') }])
    for (const query of [READ, END, '{ memberProfile(id: "m") { email } }', INTROSPECTION, '{'])
      expect(await send({ ...credential, query })).toMatchObject({
        status: 403,
        code: 'PARTNER_SUSPENDED',
      });
  expect(asked).toEqual([]);
  const [held, own] = [await tokenOf('m', 'inn'), await tokenOf('m')];
  for (const token of [held, own])
    expect(await send({ token, query: '{ memberProfile(id: "m") { email } }' })).toMatchObject({
      status: 200,
    });
});

test('a request is recorded for the partner whose key or token it has, and for no other', async () => {
  const profile = '{ memberProfile(id: "m") { email } }';
  const key = await keyOf('few');
  await send({ key, query: `query Two ${TWO_READS}` });
  await send({ key, query: '{' });
  await send({ key, query: TWO_READS });
  await send({ token: await tokenOf('m', 'inn'), query: profile });
  const { key: ended, record } = issueKey('sandbox', 'inn', AT, { expiresAt: AT });
  await send({ key: await keyOf('inn'), headers: { 'x-sandbox-fault': 'unavailable' } });
  await place.keyStore.createKey(record);
  await send({ key: ended });
  const few = { partnerId: 'few', requestId: 'r', keyId: expect.any(String) };
  const inn = { ...few, partnerId: 'inn' };
  expect(noted).toMatchObject([
    { ...few, operation: 'Two', status: 200, codes: [], cost: 2, budgetUsed: 2 / 3 },
    { ...few, status: 400, codes: ['GRAPHQL_PARSE_FAILED'], cost: 1, budgetUsed: 1 },
    // Less is left than it costs.
    { ...few, status: 429, codes: ['RATE_LIMITED'], cost: 1, budgetUsed: 1 },
    { partnerId: 'inn', operation: 'memberProfile', status: 200, codes: [], budgetUsed: 0 },
    { ...inn, isFault: true, status: 503, codes: ['SERVICE_UNAVAILABLE'], cost: 1 },
    { ...inn, keyId: record.keyId, status: 401, codes: ['UNAUTHENTICATED'], cost: 0 },
  ]);
  noted.length = 0;
  await send({ token: await tokenOf('m'), query: profile });
  for (const other of [newKey('sandbox'), newKey('production'), 'x', undefined])
    await send({ key: other });
  expect(noted).toEqual([]);
});

test('an operation is counted if its variables fit it', async () => {
  counted.length = 0;
  const key = await keyOf('inn');
  const query = 'query ($of: String!) { memberByEmail(email: $of) { email } }';
  expect(await send({ key, query, variables: { of: 1 } })).toMatchObject({
    code: 'BAD_USER_INPUT',
  });
  expect(counted).toEqual([]);
  expect(await send({ key, query, variables: { of: 'a' } })).toMatchObject({ code: 'OK' });
  expect(counted).toHaveLength(1);
});

describe('a page of a configured origin', () => {
  const origin = PAGE;
  const ALLOWED = 'access-control-allow-origin';

  test('reads what a token gets, and what no credential gets', async () => {
    const token = await tokenOf('m');
    for (const credential of [{ token }, { token: 'x' }, {}]) {
      const { headers } = await send({ ...credential, headers: { origin } });
      expect(headers).toMatchObject({ [ALLOWED]: PAGE, vary: 'origin' });
    }
  });

  test('reads nothing that a partner key gets, valid or not', async () => {
    for (const key of [await keyOf('inn'), newKey('sandbox'), newKey('production'), 'x', ''])
      for (const sent of [{ key }, { key, query: '{' }, { key, path: '/other' }]) {
        const { headers } = await send({ ...sent, headers: { origin } });
        expect(headers).not.toHaveProperty([ALLOWED]);
      }
  });

  test('of another origin reads nothing', async () => {
    const { headers } = await send({ headers: { origin: `${PAGE}.evil.example` } });
    expect(headers).not.toHaveProperty([ALLOWED]);
  });
});

test.each<[string, () => Promise<Sent> | Sent, string]>([
  ['an unknown key', () => ({ key: newKey('sandbox') }), 'UNAUTHENTICATED'],
  ['a token that is not valid', () => ({ token: 'a.b.c' }), 'UNAUTHENTICATED'],
  ['an unknown key and a token', () => ({ key: 'x', token: 'y' }), 'AMBIGUOUS_CREDENTIALS'],
  ['an unknown key where there is nothing', () => ({ key: 'x', path: '/other' }), 'NOT_FOUND'],
  ['an unknown key by another method', () => ({ key: 'x', method: 'PUT' }), 'METHOD_NOT_ALLOWED'],
  ['an unknown key with a bad body', () => ({ key: 'x', query: '{' }), 'GRAPHQL_PARSE_FAILED'],
  ['no credential', () => ({}), 'UNAUTHENTICATED'],
  ['none, and a syntax error', () => ({ query: '{' }), 'GRAPHQL_PARSE_FAILED'],
  ['none, and introspection', () => ({ query: INTROSPECTION }), 'INTROSPECTION_DISABLED'],
  [
    "the other environment's key",
    () => ({ key: newKey('production') }),
    'KEY_ENVIRONMENT_MISMATCH',
  ],
])('the client address pays 1 for %s, and waits when it has paid 60', async (name, make, code) => {
  const address = `2001:db8:1:${name.length.toString(16)}::1`;
  const sent = { ...(await make()), address };
  for (let i = 0; i < 60; i++) {
    const { code: sentCode, headers } = await send(sent);
    expect(sentCode).toBe(code);
    // Only a valid key gets these: the difference must not be free to ask for.
    expect(headers).not.toHaveProperty('ratelimit-limit');
  }
  const late = await send(sent);
  expect(late).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  expect(late.headers).not.toHaveProperty('ratelimit-limit');
  expect((await send({ ...sent, address: '198.51.100.1' })).code).toBe(code);
});

test.each([
  ['a refused credential', '198.51.100.200', newKey('sandbox')],
  ['no credential', '198.51.100.201', undefined],
])(
  'once the address has paid, a body with %s is not read, and the connection ends',
  async (_, address, key) => {
    for (let i = 0; i < 60; i++) await send({ key, address });
    let reads = 0;
    const body = async () => {
      reads += 1;
      return Buffer.from('{}');
    };
    expect(await send({ key, address, body })).toMatchObject({
      code: 'RATE_LIMITED',
      closes: true,
    });
    expect(reads).toBe(0);
  },
);

test('nobody pays at another path for what a page has counted', async () => {
  const sent = { path: '/other', address: '203.0.113.1', isCounted: true };
  for (let i = 0; i < 61; i++) expect((await send(sent)).code).toBe('NOT_FOUND');
});

test.each([
  ['203.0.113.2', {}],
  ['203.0.113.3', { authorization: 'Foo bar' }],
  ['203.0.113.4', { authorization: '' }],
  ['203.0.113.5', { 'x-partner-api-key': newKey('production') }],
])('the address pays at another path for %s, %j', async (address, headers) => {
  const sent = { path: '/other', address, headers };
  for (let i = 0; i < 60; i++) expect((await send(sent)).code).toBe('NOT_FOUND');
  expect((await send(sent)).code).toBe('RATE_LIMITED');
});

test('what comes with a used-up budget has one line a second', async () => {
  const key = await keyOf('few');
  for (let i = 0; i < 3; i++) await send({ key, address: '203.0.113.6' });
  const before = lines.length;
  for (let i = 0; i < 20; i++) await send({ key, address: '203.0.113.6' });
  for (let i = 0; i < 20; i++) await send({ key, address: '203.0.113.6', path: '/other' });
  expect(lines.length - before).toBeLessThanOrEqual(3);
});

test('an error says where it is, even in a document that is kept from another surface', async () => {
  const query = 'query ($email: String!) { memberByEmail(email: $email) { email } }';
  const token = await tokenOf('m');
  const { code, errors } = await send({ token, query });
  expect(code).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(errors).toMatchObject([{ locations: [{ line: 1, column: 27 }] }]);
  await send({ key: await keyOf('inn'), query });
  expect((await send({ token, query })).errors).toEqual(errors);
});

describe('a budget of 3', () => {
  test.each<[string, Sent, string, number]>([
    ['a read', {}, 'OK', 1],
    ['two reads', { query: TWO_READS }, 'OK', 2],
    [
      'more than all of it',
      { query: `{ ${'a b c d'.replaceAll(/\w/g, '$&: __typename')} }` },
      'OPERATION_TOO_COMPLEX',
      1,
    ],
    ['a document that does not parse', { query: '{' }, 'GRAPHQL_PARSE_FAILED', 1],
    ['a field that does not exist', { query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED', 1],
    ['a token beside the key', { token: 'x' }, 'AMBIGUOUS_CREDENTIALS', 1],
    ['another path', { path: '/other' }, 'NOT_FOUND', 1],
    ['another method', { method: 'PUT' }, 'METHOD_NOT_ALLOWED', 1],
    ['another type', { headers: { 'content-type': 'text/plain' } }, 'UNSUPPORTED_MEDIA_TYPE', 1],
  ])('pays for %s', async (_, sent, code, cost) => {
    const key = await keyOf('few');
    const response = await send({ key, ...sent });
    expect(response.code).toBe(code);
    expect(response.headers).toMatchObject({
      'ratelimit-limit': '3',
      'ratelimit-remaining': `${3 - cost}`,
    });
    await send({ key, query: TWO_READS });
    asked.length = 0;
    const spent = await send({ key, query: TWO_READS });
    expect(spent).toMatchObject({ status: 429, headers: { 'ratelimit-remaining': '0' } });
    expect(asked).toEqual([]);
    // What is wrong with a request is said even then.
    if (code !== 'OK' && code !== 'OPERATION_TOO_COMPLEX' && !code.includes('VALIDATION'))
      expect((await send({ key, ...sent })).code).toBe(code);
  });
});

// An operation may run while its budget is counted, but its result depends on the count.
describe('operate', () => {
  const KNOWN = 'query ($email: String!) { memberByEmail(email: $email) { email } }';
  const GOOD = { query: KNOWN, variables: { email: 'a@example.com' } };
  const BAD = { query: KNOWN, variables: { email: 7 } };

  /** A gateway whose budgets are counted when the test says so; it has seen these operations. */
  async function start(known: Sent[], { partnerId = 'inn', audits = false } = {}) {
    const counts: ((isWithin: boolean) => void)[] = [];
    const add: ReturnType<Counters['counter']>['add'] = (_, { points, limit }) =>
      new Promise((resolve) => {
        counts.push((isWithin) =>
          resolve({ consumedPoints: isWithin ? points : limit, isWithin, msBeforeNext: 60_000 }),
        );
      });
    const counters: Counters = { counter: () => ({ add }), state: () => 'up', close() {} };
    const log = createLog('silent');
    // Cast: this is all that operations need of it.
    const audit = { records: () => true, record() {} } as unknown as Audit;
    const slow = await place.open({ subgraph, log, counters, ...(audits && { audit }) });
    const key = await keyOf(partnerId);
    /** Sends it, for as long as it need not wait for the count. */
    const begin = async (sent: Sent) => {
      const response = send({ key, ...sent }, slow);
      for (let i = 0; i < 5; i += 1) await new Promise(setImmediate);
      return {
        end(isWithin: boolean) {
          counts.shift()?.(isWithin);
          return response;
        },
        response,
      };
    };
    for (const sent of known) await (await begin(sent)).end(true);
    asked.length = 0;
    return begin;
  }

  test.each([
    ['a known', GOOD],
    ['a new', {}],
  ])('%s read of a key with plenty left runs while its budget is counted', async (_, before) => {
    const begin = await start([before]);
    const { end } = await begin(GOOD);
    expect(asked).toHaveLength(1);
    expect(await end(true)).toMatchObject({ code: 'OK' });
    expect(asked).toHaveLength(1);
  });

  test('RATE_LIMITED if the budget turns out to be spent, even if the operation failed', async () => {
    const begin = await start([GOOD]);
    for (const sent of [GOOD, BAD])
      expect(await (await begin(sent)).end(false)).toMatchObject({ code: 'RATE_LIMITED' });
  });

  test('an operation that fails at once still waits for the count', async () => {
    const begin = await start([GOOD]);
    const { end, response } = await begin(BAD);
    let isSettled = false;
    void response.finally(() => {
      isSettled = true;
    });
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    expect(await end(true)).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test.each<[string, Parameters<typeof start>, Sent]>([
    ['a mutation', [[{ query: END }]], { query: END }],
    ['a read of a key that has little left', [[GOOD], { partnerId: 'few' }], GOOD],
    ['a read that an audit log records', [[GOOD], { audits: true }], GOOD],
  ])('%s reaches no subgraph before the budget is known', async (_, known, sent) => {
    const { end } = await (await start(...known))(sent);
    expect(asked).toEqual([]);
    await end(true);
    expect(asked).toHaveLength(1);
  });
});

// When the gateway gets requests, and what it says of its dependencies.

const up = async (): Promise<StoreState> => undefined;
const full = async (): Promise<StoreState> => 'full';
const down = () => Promise.reject(new Error('down'));
const damaged = () => Promise.reject(Object.assign(new Error('damaged'), { name: 'StoreDamaged' }));

/** A gateway whose dependencies the test takes away. */
function setup({ isLocal }: { isLocal?: true } = {}) {
  const at = { now: 1_000, keyReadAt: Number.NEGATIVE_INFINITY };
  const ready = { keys: up, members: up, standings: up, redis: 'up' as 'up' | 'degraded' };
  const transport = (name: 'members' | 'standings'): Transport => ({
    ...(isLocal && { isLocal }),
    execute: () => ({}),
    ready: () => ready[name](),
    close: async () => {},
  });
  const readiness = createReadiness(
    {
      keyStore: { ready: () => ready.keys() },
      keyring: { lastReadAt: () => at.keyReadAt },
      transports: () =>
        (['members', 'standings'] as const).map((name) => [name, transport(name)] as const),
      counters: { state: () => ready.redis },
    },
    () => at.now,
  );
  return { at, ready, readiness };
}

const ALL_UP = { keys: 'up', members: 'up', standings: 'up', redis: 'up' };

test('one dependency away does not take the gateway away, nor do both subgraphs', async () => {
  const { ready, readiness } = setup();
  expect(await readiness()).toEqual({ ok: true, dependencies: ALL_UP });
  ready.redis = 'degraded';
  ready.standings = down;
  const dependencies = { ...ALL_UP, redis: 'degraded', standings: 'down' };
  expect(await readiness()).toEqual({ ok: true, dependencies });
  ready.members = down;
  expect(await readiness()).toEqual({
    ok: true,
    dependencies: { ...dependencies, members: 'down' },
  });
});

test('a subgraph in the same process counts', async () => {
  const { ready, readiness } = setup({ isLocal: true });
  ready.standings = down;
  expect(await readiness()).toEqual({ ok: false, dependencies: { ...ALL_UP, standings: 'down' } });
});

test('a full disk is named, and takes nothing away: reads go on', async () => {
  const { ready, readiness } = setup({ isLocal: true });
  ready.keys = full;
  ready.members = full;
  const dependencies = { ...ALL_UP, keys: 'full', members: 'full' };
  expect(await readiness()).toEqual({ ok: true, dependencies });
});

test('keys that cannot be read are degraded for the 60 seconds of their grace, then down', async () => {
  const { at, ready, readiness } = setup();
  await readiness();
  ready.keys = down;
  at.now += 59_999;
  expect(await readiness()).toEqual({ ok: true, dependencies: { ...ALL_UP, keys: 'degraded' } });
  at.now += 1;
  expect(await readiness()).toEqual({ ok: false, dependencies: { ...ALL_UP, keys: 'down' } });
  at.keyReadAt = at.now - 59_999;
  expect((await readiness()).ok).toBe(true);
  at.now += 1;
  expect((await readiness()).ok).toBe(false);
  ready.keys = up;
  expect(await readiness()).toEqual({ ok: true, dependencies: ALL_UP });
});

test('a damaged store of keys has no grace', async () => {
  const { ready, readiness } = setup();
  ready.keys = damaged;
  expect(await readiness()).toEqual({ ok: false, dependencies: { ...ALL_UP, keys: 'down' } });
});
