// Budgets: what requests cost, and who pays.
import { withFakeDate } from '../support/clock.ts';
import { flood } from '../support/requests/flood.ts';
import type { ApiRequest, ApiResponse } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';

const QUERY = '{ memberByEmail(email: "both@example.com") { memberId } }';

const LOOK_UPS = 'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { tier } } }';
const keys = (count: number) => Array.from({ length: count }, () => ({ memberId: 'm-both' }));
const remaining = ({ headers }: ApiResponse) => Number(headers.get('ratelimit-remaining'));

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
    [
      'a variable of the wrong type',
      1,
      { query: 'query ($v: String!) { memberByEmail(email: $v) { tier } }', variables: { v: 1 } },
    ],
    ['21 look-ups in a list', 3, { query: LOOK_UPS, variables: { keys: keys(21) } }],
    ['a list that is left out', 1, { query: LOOK_UPS }],
    ['malformed JSON', 1, { body: '{' }],
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
