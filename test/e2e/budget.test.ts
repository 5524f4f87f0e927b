// Budgets: what requests cost, and who pays.
import { newKey } from '@partner-loyalty/gateway';
import { withFakeDate } from '../support/clock.ts';
import { flood } from '../support/requests/flood.ts';
import type { ApiRequest, ApiResponse } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';

const QUERY = '{ memberByEmail(email: "both@example.com") { memberId } }';

const LOOK_UPS = 'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { tier } } }';
const keys = (count: number) => Array.from({ length: count }, () => ({ memberId: 'm-both' }));
const literals = (count: number) => `[${times(count, () => '{ memberId: "m-both" }')}]`;
const remaining = ({ headers }: ApiResponse) => Number(headers.get('ratelimit-remaining'));
const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

describe('in one process', () => {
  let service: InProcessService;
  let count = 0;

  beforeAll(async () => {
    service = await startInProcess({
      env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_BUDGET: '40' },
    });
  });
  afterAll(() => service.close());

  /** A key of a partner that no other test uses. */
  const freshKey = async (budget?: number) => {
    count += 1;
    return addPartner(service.stores.keys, { partnerId: `fresh-${count}`, budget });
  };

  test('the headers report it in both generations', async () => {
    const { headers } = await service.send({ query: QUERY, key: await freshKey() });
    const reset = headers.get('ratelimit-reset');
    expect(Number(reset)).toBeGreaterThan(55);
    expect(Number(reset)).toBeLessThanOrEqual(60);
    expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
      '40',
      '39',
    ]);
    expect(headers.get('ratelimit')).toBe(`"key";r=39;t=${reset}`);
    expect(headers.get('ratelimit-policy')).toBe('"key";q=40;w=60');
  });

  test.each<[name: string, cost: number, request: ApiRequest]>([
    ['a look-up', 1, { query: QUERY }],
    [
      'three aliases',
      3,
      { query: '{ a: __typename b: __typename memberByEmail(email: "x@example.com") { tier } }' },
    ],
    ['a field selected twice', 2, { query: '{ __typename __typename }' }],
    [
      'fields in fragments, skipped or not',
      4,
      {
        query:
          '{ ...F ... @skip(if: true) { a: __typename } } fragment F on Query { b: __typename ...G ...G } fragment G on Query { c: __typename }',
      },
    ],
    ['introspection', 1, { query: '{ __schema { queryType { name } } }' }],
    [
      'one of two operations',
      2,
      {
        query: 'query A { __typename } query B { a: __typename b: __typename }',
        operationName: 'B',
      },
    ],
    [
      'a mutation of two fields',
      2,
      {
        query:
          'mutation { a: endEnrollment(memberId: "x") { memberId } b: endEnrollment(memberId: "x") { memberId } }',
      },
    ],
    ['a document that fails validation', 3, { query: '{ a b c }' }],
    [
      'a variable of the wrong type',
      1,
      { query: 'query ($v: String!) { memberByEmail(email: $v) { tier } }', variables: { v: 1 } },
    ],
    ['ten look-ups in a list', 1, { query: LOOK_UPS, variables: { keys: keys(10) } }],
    ['21 look-ups in a list', 3, { query: LOOK_UPS, variables: { keys: keys(21) } }],
    ['no look-up in a list', 1, { query: LOOK_UPS, variables: { keys: [] } }],
    ['a list that is null', 1, { query: LOOK_UPS, variables: { keys: null } }],
    ['a list that is left out', 1, { query: LOOK_UPS }],
    ['one item instead of a list', 1, { query: LOOK_UPS, variables: { keys: keys(1)[0] } }],
    [
      'a literal list',
      2,
      { query: `{ memberLookups(keys: ${literals(11)}) { member { tier } } }` },
    ],
    [
      'a list that is the default of a variable',
      4,
      { query: LOOK_UPS.replace('!)', `! = ${literals(40)})`) },
    ],
    [
      'a list in place of the default of a variable',
      2,
      { query: LOOK_UPS.replace('!)', `! = ${literals(40)})`), variables: { keys: keys(20) } },
    ],
    [
      'lists under aliases and in fragments, skipped or not',
      11,
      {
        query: `query ($keys: [MemberKey!]!) { ...F ...F a: memberLookups(keys: ${literals(40)}) { member { tier } } __typename }
          fragment F on Query { memberLookups(keys: $keys) @skip(if: true) { member { tier } } }`,
        variables: { keys: keys(30) },
      },
    ],
    [
      'a list of an unknown field',
      3,
      { query: 'query ($v: [Int]) { a(b: $v) }', variables: { v: Array(30).fill(1) } },
    ],
    [
      'a list of 101 items',
      1,
      { query: `{ memberLookups(keys: ${literals(101)}) { member { tier } } __typename }` },
    ],
    [
      'more look-ups than the whole budget',
      1,
      {
        query: `query ($keys: [MemberKey!]!) { ${times(5, (n) => `a${n}: memberLookups(keys: $keys) { member { tier } }`)} }`,
        variables: { keys: keys(90) },
      },
    ],
    ['more than 10 root fields', 1, { query: `{ ${times(11, (n) => `a${n}: __typename`)} }` }],
    ['a syntax error', 1, { query: '{' }],
    ['malformed JSON', 1, { body: '{' }],
    ['another content type', 1, { query: QUERY, headers: { 'content-type': 'text/plain' } }],
    ['another method', 1, { method: 'DELETE' }],
    ['another path', 1, { query: QUERY, path: '/other' }],
    ['two credentials', 1, { query: QUERY, headers: { authorization: 'Bearer x' } }],
    ['a body over 64 KiB', 1, { body: 'x'.repeat(70_000) }],
  ])('%s costs %d', async (_, cost, request) => {
    const key = await freshKey();
    expect(remaining(await service.send({ ...request, key }))).toBe(40 - cost);
  });

  test('429 and no data when a request costs more than is left, which it leaves but for 1', async () => {
    const key = await freshKey(5);
    expect(
      remaining(
        await service.send({ query: '{ a: __typename b: __typename c: __typename }', key }),
      ),
    ).toBe(2);
    const refused = await service.send({
      query: '{ a: __typename b: __typename c: __typename }',
      key,
    });
    expect([refused.status, refused.code, refused.body.data]).toEqual([
      429,
      'RATE_LIMITED',
      undefined,
    ]);
    expect(remaining(refused)).toBe(1);
    expect((await service.send({ query: '{ __typename }', key })).status).toBe(200);
  });

  test('a mutation refused with 429 changes nothing', async () => {
    const key = await freshKey(1);
    await service.send({ query: '{ __typename }', key });
    const enroll = 'mutation { enrollMember(input: { email: "refused@example.com" }) { created } }';
    expect((await service.send({ query: enroll, key })).code).toBe('RATE_LIMITED');
    const partnerId = `fresh-${count}`;
    expect(
      await service.stores.members.memberByEmail(partnerId, 'refused@example.com'),
    ).toBeUndefined();
  });

  test('a partner may have its own budget, which applies to each of its keys', async () => {
    const other = await addKey(service.stores.keys, 'frugal');
    for (const key of [service.keys.frugal, other]) {
      const statuses: number[] = [];
      for (const _ of Array(6).keys())
        statuses.push((await service.send({ query: '{ __typename }', key })).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    }
    expect(
      (await service.send({ query: '{ __typename }', key: other })).headers.get('ratelimit-policy'),
    ).toBe('"key";q=5;w=60');
  });

  test('a member has 120 a minute, whatever the budgets of partners', async () => {
    const token = await service.provider.issue('m-both');
    const again = await service.provider.issue('m-both', { jti: 'another token' });
    const { headers } = await service.send({ query: '{ __typename }', token });
    expect(headers.get('ratelimit-policy')).toBe('"member";q=120;w=60');
    expect(headers.get('ratelimit')).toMatch(/^"member";r=119;t=\d+$/);
    expect(await flood([service.send], 130, { query: '{ __typename }', token: again })).toEqual({
      200: 119,
      429: 11,
    });
    expect(
      (
        await service.send({
          query: '{ __typename }',
          token: await service.provider.issue('m-beta'),
        })
      ).status,
    ).toBe(200);
  });

  describe('refused credentials', () => {
    const guess = (address: string): ApiRequest => ({
      query: QUERY,
      key: newKey('sandbox'),
      headers: { 'x-forwarded-for': address },
    });

    test('get 401 60 times a minute per address, and 429 after that', async () => {
      expect(await flood([service.send], 70, guess('198.51.100.1'))).toEqual({ 401: 60, 429: 10 });
      expect((await service.send(guess('198.51.100.2'))).status).toBe(401);
    });

    test('count together for all addresses of an IPv6 /64', async () => {
      for (const n of Array(60).keys())
        expect((await service.send(guess(`2001:db8:1:2:${n.toString(16)}::1`))).status).toBe(401);
      expect((await service.send(guess('2001:db8:1:2:ffff::'))).status).toBe(429);
      expect((await service.send(guess('2001:db8:1:3::1'))).status).toBe(401);
    });

    test('count whatever the reason: no key, an invalid token, introspection', async () => {
      const from = { 'x-forwarded-for': '198.51.100.3' };
      for (const _ of Array(20).keys()) {
        await service.send({ query: QUERY, key: '', headers: from });
        await service.send({ query: QUERY, token: 'x', headers: from });
        await service.send({
          query: '{ __schema { queryType { name } } }',
          key: newKey('sandbox'),
          headers: from,
        });
      }
      const { status, headers } = await service.send({ query: QUERY, token: 'x', headers: from });
      expect([status, headers.get('ratelimit-limit')]).toEqual([429, null]);
    });

    test('do not affect a valid key from the same address', async () => {
      await flood([service.send], 70, guess('198.51.100.4'));
      const key = await freshKey();
      expect(
        (await service.send({ query: QUERY, key, headers: { 'x-forwarded-for': '198.51.100.4' } }))
          .status,
      ).toBe(200);
    });
  });
});

test('refused credentials count by the address of the socket if no proxy is trusted', async () => {
  const service = await startInProcess();
  for (const n of Array(60).keys())
    await service.send({
      query: QUERY,
      key: '',
      headers: { 'x-forwarded-for': `198.51.100.${n}` },
    });
  expect(
    (await service.send({ query: QUERY, key: '', headers: { 'x-forwarded-for': '198.51.100.99' } }))
      .status,
  ).toBe(429);
  await service.close();
});

test('the window is fixed, begins with the first request, and is followed by one with the full budget', async () => {
  const service = await startInProcess({
    env: { RATE_LIMIT_WINDOW_SECONDS: '90', RATE_LIMIT_BUDGET: '2' },
  });
  const spend = async () => (await flood([service.send], 3, { query: '{ __typename }' }))[200];
  await withFakeDate(async (advance) => {
    expect(await spend()).toBe(2);
    advance(30_000);
    const { headers } = await service.send({ query: '{ __typename }' });
    expect(headers.get('ratelimit-policy')).toBe('"key";q=2;w=90');
    expect(headers.get('retry-after')).toBe('60');
    advance(59_999);
    expect(await spend()).toBeUndefined();
    advance(1);
    expect(await spend()).toBe(2);
  });
  await service.close();
});
