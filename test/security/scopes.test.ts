// A key does what its scopes allow, from the addresses it is meant for, and nothing else.

import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { hashKey, type KeyLimits } from '@partner-loyalty/gateway';
import { UNKNOWN_KEY } from '../support/cases/outcomes.ts';
import { type ApiResponse, budgetHeaders } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => service.close());

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

test('a field that the surface hides is misspelt to every key, whatever its scopes', async () => {
  const key = await keyWith({ scopes: ['ingest'] });
  for (const query of [
    'mutation { signIn(token: "x") { memberId } }',
    '{ signingKeys }',
    '{ everEnrolled(partnerId: "beta", memberIds: ["m-beta"]) }',
  ]) {
    const { code, text } = await service.send({ query, key });
    expect(code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(text).not.toContain('scope');
  }
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

test('guesses from elsewhere count as refused credentials of their address', async () => {
  const key = await keyWith({ allow: ['192.0.2.1/32'] });
  const statuses: number[] = [];
  for (let n = 0; n < 62; n += 1) {
    const headers = { 'x-forwarded-for': '203.0.113.77' };
    statuses.push((await service.send({ query: READ, key, headers })).status);
  }
  expect(statuses).toEqual([...Array(60).fill(401), 429, 429]);
});

test('a rotated key works beside its successor, which has the same rights, until it ends', async () => {
  const env = { DATA_DIR: service.dataDir };
  const key = await keyWith({ scopes: ['read'], allow: ['127.0.0.0/8'] });
  const records = await service.stores.keys.keys('alpha');
  const { keyId = '' } = records.find(({ hash }) => hash === hashKey(key)) ?? {};
  expect(await service.send({ query: READ, key })).toMatchObject({ status: 200 });
  const [made] = await loyaltyJson(env, 'keys', 'rotate', keyId, '--overlap', '2s');
  const next = String(made?.key);
  expect(await service.send({ query: READ, key: next })).toMatchObject({ status: 200 });
  expect(await service.send({ query: END, key: next })).toMatchObject({ code: 'FORBIDDEN' });
  await until(async () => {
    await setTimeout(200);
    return (await service.send({ query: READ, key })).status === 401;
  });
  expect(await service.send({ query: READ, key: next })).toMatchObject({ status: 200 });
});

test('a key stops at its expiry', async () => {
  const key = await keyWith({ expiresAt: new Date(Date.now() + 60_000) });
  expect(await service.send({ query: READ, key })).toMatchObject({ status: 200 });
  const ended = await keyWith({ expiresAt: new Date(Date.now()) });
  const headers = { 'x-forwarded-for': '203.0.113.78' };
  expect(await service.send({ query: READ, key: ended, headers })).toMatchObject({ status: 401 });
});
