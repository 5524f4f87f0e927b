// Keys: guesses at them, what one may do and from where, a partner's suspension, and their use.
import { randomInt } from 'node:crypto';
import { type KeyLimits, newKey } from '@partner-loyalty/gateway';
import { UNKNOWN_KEY } from '../support/cases/outcomes.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type ApiResponse, BUDGET_HEADERS, budgetHeaders } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { callMcp } from '../support/service/mcp.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => service.close());

const from = (address: string) => ({ 'x-forwarded-for': address });

test('a valid key from the same address is served, and its budget shows on every path', async () => {
  const headers = from('198.51.100.200');
  for (let n = 0; n < 65; n += 1)
    await service.send({ path: '/other', key: newKey('sandbox'), headers });
  const { status, headers: sent } = await service.send({ path: '/other', headers });
  expect(status).toBe(404);
  for (const name of BUDGET_HEADERS) expect(sent.has(name)).toBe(true);
  const ambiguous = await service.send({ key: service.keys.alpha, token: 'x', headers });
  expect([ambiguous.status, ambiguous.headers.has('ratelimit-limit')]).toEqual([400, true]);
});

// A key does what its scopes allow, from the addresses it is meant for, and nothing else.

const keyWith = (limits: KeyLimits) => addKey(service.stores.keys, 'alpha', 'sandbox', limits);
const remaining = ({ headers }: ApiResponse) => Number(headers.get('ratelimit-remaining'));

const READ = '{ memberByEmail(email: "both@example.com") { memberId } }';
const READS = '{ a: memberByExternalId(externalId: "x") { memberId } __typename }';
const INTROSPECTION = '{ __schema { queryType { name } } }';
const ENROLL = 'mutation { enrollMember(input: { email: "new@example.com" }) { created } }';
const INVITE = 'mutation { inviteMember(input: { email: "new@example.com" }) { accepted } }';
const END = 'mutation { endEnrollment(memberId: "m-none") { memberId } }';
const LINK = 'mutation { requestMagicLink(email: "both@example.com") { accepted } }';
const EXCHANGE = 'mutation { exchangeMagicLink(token: "none") { memberId } }';
const RECORD = `mutation { recordActivities(activities: [
  { activityId: "scoped", memberId: "m-both", points: 1, occurredAt: "2026-01-01T00:00:00Z" }]) { outcome } }`;
const OPERATIONS = { READ, READS, INTROSPECTION, ENROLL, INVITE, END, RECORD, LINK, EXCHANGE };

test.each<[NonNullable<KeyLimits['scopes']>[number], (keyof typeof OPERATIONS)[]]>([
  ['read', ['READ', 'READS', 'INTROSPECTION']],
  ['enroll', ['ENROLL', 'INVITE', 'END']],
  ['ingest', ['RECORD']],
  // The last one: a link is mailed after the response.
  ['sign-in', ['LINK', 'EXCHANGE']],
])('the scope %s allows what it says, and nothing else runs', async (scope, allowed) => {
  const key = await keyWith({ scopes: [scope] });
  for (const [name, query] of Object.entries(OPERATIONS)) {
    const before = service.calls.length;
    const { status, code, body } = await service.send({ query, key });
    const isAllowed = allowed.some((each) => each === name);
    expect([name, code === 'FORBIDDEN']).toEqual([name, !isAllowed]);
    if (isAllowed) expect([name, status]).toEqual([name, 200]);
    else {
      expect([status, 'data' in body]).toEqual([403, false]);
      expect(service.calls.slice(before)).toEqual([]);
    }
  }
  expect(await service.send({ query: '{ __typename }', key })).toMatchObject({ status: 200 });
});

test('a key without scopes has read, enroll and sign-in', async () => {
  const key = await keyWith({});
  for (const query of [READ, INTROSPECTION, END, LINK])
    expect(await service.send({ query, key })).toMatchObject({ status: 200 });
  expect(await service.send({ query: RECORD, key })).toMatchObject({ code: 'FORBIDDEN' });
});

test('FORBIDDEN costs what the operation costs, and comes after a spent budget', async () => {
  const key = await keyWith({ scopes: ['read'] });
  const first = await service.send({ query: '{ __typename }', key });
  const query =
    'mutation { a: __typename b: __typename endEnrollment(memberId: "x") { memberId } }';
  const forbidden = await service.send({ query, key });
  expect(forbidden.code).toBe('FORBIDDEN');
  expect(remaining(forbidden)).toBe(remaining(first) - 3);

  const partnerId = `poor-${randomInt(1e9)}`;
  await addPartner(service.stores.keys, { partnerId, budget: 2 });
  const poor = await addKey(service.stores.keys, partnerId, 'sandbox', { scopes: ['sign-in'] });
  const codes: unknown[] = [];
  for (let n = 0; n < 3; n += 1) codes.push((await service.send({ query: READ, key: poor })).code);
  expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN', 'RATE_LIMITED']);
});

test('a key used from elsewhere answers byte for byte like an unknown one', async () => {
  const key = await keyWith({ allow: ['192.0.2.0/24', '2001:db8::/32'] });
  const send = (as: string, address: string, more: object = {}) =>
    service.send({
      query: READ,
      key: as,
      requestId: 'r',
      headers: { 'x-forwarded-for': address },
      ...more,
    });
  for (const inside of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8:1::1'])
    expect(await send(key, inside)).toMatchObject({ status: 200 });

  const seen = ({ status, headers, text }: ApiResponse) => ({
    status,
    text,
    headers: Object.fromEntries([...headers].filter(([name]) => name !== 'date')),
  });
  for (const [index, more] of [
    {},
    { query: INTROSPECTION },
    { query: '{' },
    { body: '{' },
    { path: '/other' },
    { method: 'GET' },
    { token: 'x' },
  ].entries()) {
    const address = `198.51.100.${index}`;
    const elsewhere = await send(key, address, more);
    expect(budgetHeaders(elsewhere)).toEqual([]);
    expect(seen(elsewhere)).toEqual(seen(await send(UNKNOWN_KEY, address, more)));
  }
  expect(await send(key, '203.0.113.1')).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
});

// A suspended partner gets nothing, by its keys and by the tokens it holds.

test('a suspension says nothing to whoever has no valid key', async () => {
  const { send, stores } = service;
  await addPartner(stores.keys, { partnerId: 'gone' });
  await stores.keys.changePartner('gone', { suspendedAt: new Date() });
  const revoked = await addKey(stores.keys, 'gone');
  for (const { keyId } of await stores.keys.keys('gone'))
    await stores.keys.revokeKey(keyId, new Date());
  expect(await send({ query: READ, key: revoked })).toMatchObject({ code: 'UNAUTHENTICATED' });
  const elsewhere = await addKey(stores.keys, 'gone', 'sandbox', { allow: ['192.0.2.1/32'] });
  expect(await send({ query: READ, key: elsewhere })).toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('viewer says what the key is, needs no scope, and costs 1', async () => {
  const { keys } = service.stores;
  const partner = { partnerId: 'viewed', name: 'Viewed\u202e Inn', budget: 50 };
  await keys.createPartner({ ...partner, createdAt: new Date() });
  const key = await addKey(keys, 'viewed', 'sandbox', { scopes: ['ingest'] });
  const query =
    '{ viewer { partnerId partnerName keyId scopes expiresAt budget windowSeconds environment } }';
  const viewed = await service.send({ query, key });
  expect(viewed.body.data?.viewer).toEqual({
    partnerId: 'viewed',
    partnerName: 'Viewed Inn',
    keyId: (await keys.keys('viewed'))[0]?.keyId,
    scopes: ['ingest'],
    expiresAt: null,
    budget: 50,
    windowSeconds: 60,
    environment: 'sandbox',
  });
  expect(remaining(viewed)).toBe(49);
  const beside = await service.send({
    query: '{ viewer { keyId } members { edges { cursor } } }',
    key,
  });
  expect(beside.code).toBe('FORBIDDEN');
});

// What `keys list` shows of the requests that a gateway answered.

test('the last use of a key, and its requests and refusals of a day, once the gateway ends', async () => {
  const { path: DATA_DIR, remove } = temporaryFolder();
  const service = await startInProcess({ env: { DATA_DIR, TRUSTED_PROXIES: '127.0.0.1' } });
  const { send, stores } = service;
  const limits = { scopes: ['read' as const], allow: ['127.0.0.1/32'] };
  const key = await addKey(stores.keys, 'gamma', 'sandbox', limits);
  const before = new Date();
  for (let n = 0; n < 3; n += 1) await send({ key, query: READ });
  await send({ key, query: END });
  await send({ key, body: '{' });
  await send({ key, query: READ, headers: from('192.0.2.1') });
  const expired = await addKey(stores.keys, 'gamma', 'sandbox', { expiresAt: before });
  // The last of them come from an address that is over its limit.
  for (let n = 0; n < 70; n += 1)
    await send({
      key: n < 68 ? newKey('sandbox') : expired,
      query: READ,
      headers: from('192.0.2.2'),
    });
  const ofMcp = await addKey(stores.keys, 'gamma', 'sandbox', { endpoint: 'mcp' });
  await callMcp(service.url, ofMcp, 'no_such_tool', {});
  await service.close();

  const rows = await loyaltyJson({ DATA_DIR }, 'keys', 'list', 'gamma');
  expect(rows).toMatchObject([
    { requests: 0, refusals: 0 },
    {
      requests: 6,
      refusals: 3,
      lastUsedAt: expect.stringMatching(/^[\d-]+T\d{2}:\d{2}:00\.000Z$/),
    },
    { state: 'expired', requests: 2, refusals: 2 },
    { for: 'mcp', requests: 1, refusals: 1 },
  ]);
  expect(rows[0]).not.toHaveProperty('lastUsedAt');
  expect(await loyaltyJson({ DATA_DIR }, 'partners', 'top')).toMatchObject([
    { partnerId: 'gamma', requests: 9, refusals: 6, keys: 3, busiestKey: rows[1]?.keyId },
  ]);
  remove();
});
