// Budgets: what a request costs, whose it is, and that it is exact over processes and goes on without Redis.
import { newKey } from '@partner-loyalty/gateway';
import { Redis } from 'ioredis';
import { type OwnRedis, startRedis } from '../support/servers/redis.ts';
import { type Answer, type Ask, type Client, createClient } from '../support/service/client.ts';
import { type Started, startFilled } from '../support/service/deployed.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';
import { addKey, addPartner } from '../support/service/testdata.ts';

const QUERY = '{ memberByEmail(email: "both@example.com") { memberId } }';

const remaining = ({ headers }: Answer) => Number(headers.get('ratelimit-remaining'));
const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** Asks a number of times at once, all gateways in turn, and counts the statuses. */
async function flood(gateways: Client[], count: number, ask: Ask): Promise<Record<number, number>> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => (gateways[index % gateways.length] as Client)(ask)),
  );
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('in one process', () => {
  let stage: Stage;
  let count = 0;

  beforeAll(async () => {
    stage = await startInProcess({
      env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_BUDGET: '40' },
    });
  });
  afterAll(() => stage.close());

  /** A key of a partner that no other test asks with. */
  const freshKey = async (budget?: number) => {
    count += 1;
    return addPartner(stage.stores.keys, { partnerId: `fresh-${count}`, budget });
  };

  test('the headers tell it in both generations', async () => {
    const { headers } = await stage.ask({ query: QUERY, key: await freshKey() });
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

  test.each<[what: string, cost: number, ask: Ask]>([
    ['a look-up', 1, { query: QUERY }],
    [
      'three aliases',
      3,
      { query: '{ a: __typename b: __typename memberByEmail(email: "x@example.com") { tier } }' },
    ],
    ['a name asked for twice', 2, { query: '{ __typename __typename }' }],
    [
      'look-ups in fragments, skipped or not',
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
    ['what does not fit the schema', 3, { query: '{ a b c }' }],
    [
      'a variable of the wrong type',
      1,
      { query: 'query ($v: String!) { memberByEmail(email: $v) { tier } }', variables: { v: 1 } },
    ],
    ['more than 10 root fields', 1, { query: `{ ${times(11, (n) => `a${n}: __typename`)} }` }],
    ['a syntax error', 1, { query: '{' }],
    ['malformed JSON', 1, { body: '{' }],
    ['another content type', 1, { query: QUERY, headers: { 'content-type': 'text/plain' } }],
    ['another method', 1, { method: 'DELETE' }],
    ['another path', 1, { query: QUERY, path: '/other' }],
    ['two credentials', 1, { query: QUERY, headers: { authorization: 'Bearer x' } }],
    ['a body over 64 KiB', 1, { body: 'x'.repeat(70_000) }],
  ])('%s costs %d', async (_, cost, ask) => {
    const key = await freshKey();
    expect(remaining(await stage.ask({ ...ask, key }))).toBe(40 - cost);
  });

  test('asking for more than is left is refused, and answers nothing', async () => {
    const key = await freshKey(5);
    expect(
      remaining(await stage.ask({ query: '{ a: __typename b: __typename c: __typename }', key })),
    ).toBe(2);
    const { status, code, body } = await stage.ask({
      query: '{ a: __typename b: __typename c: __typename }',
      key,
    });
    expect([status, code, body.data]).toEqual([429, 'RATE_LIMITED', undefined]);
  });

  test('refused, a mutation changes nothing', async () => {
    const key = await freshKey(1);
    await stage.ask({ query: '{ __typename }', key });
    const enroll = 'mutation { enrollMember(input: { email: "refused@example.com" }) { created } }';
    expect((await stage.ask({ query: enroll, key })).code).toBe('RATE_LIMITED');
    const partnerId = `fresh-${count}`;
    expect(
      await stage.stores.members.memberByEmail(partnerId, 'refused@example.com'),
    ).toBeUndefined();
  });

  test('a partner may have a budget of its own, and each of its keys has it', async () => {
    const other = await addKey(stage.stores.keys, 'frugal');
    for (const key of [stage.keys.frugal, other]) {
      const answers: number[] = [];
      for (const _ of Array(6).keys())
        answers.push((await stage.ask({ query: '{ __typename }', key })).status);
      expect(answers).toEqual([200, 200, 200, 200, 200, 429]);
    }
    expect(
      (await stage.ask({ query: '{ __typename }', key: other })).headers.get('ratelimit-policy'),
    ).toBe('"key";q=5;w=60');
  });

  test('a member has 120 a minute, whatever the partners have', async () => {
    const token = await stage.provider.issue('m-both');
    const again = await stage.provider.issue('m-both', { jti: 'another token' });
    const { headers } = await stage.ask({ query: '{ __typename }', token });
    expect(headers.get('ratelimit-policy')).toBe('"member";q=120;w=60');
    expect(headers.get('ratelimit')).toMatch(/^"member";r=119;t=\d+$/);
    expect(await flood([stage.ask], 130, { query: '{ __typename }', token: again })).toEqual({
      200: 119,
      429: 11,
    });
    expect(
      (await stage.ask({ query: '{ __typename }', token: await stage.provider.issue('m-beta') }))
        .status,
    ).toBe(200);
  });

  describe('refused credentials', () => {
    const guess = (address: string): Ask => ({
      query: QUERY,
      key: newKey('sandbox'),
      headers: { 'x-forwarded-for': address },
    });

    test('are answered 60 times a minute to an address, and 429 after that', async () => {
      expect(await flood([stage.ask], 70, guess('198.51.100.1'))).toEqual({ 401: 60, 429: 10 });
      expect((await stage.ask(guess('198.51.100.2'))).status).toBe(401);
    });

    test('count together for the addresses of an IPv6 /64', async () => {
      for (const n of Array(60).keys())
        expect((await stage.ask(guess(`2001:db8:1:2:${n.toString(16)}::1`))).status).toBe(401);
      expect((await stage.ask(guess('2001:db8:1:2:ffff::'))).status).toBe(429);
      expect((await stage.ask(guess('2001:db8:1:3::1'))).status).toBe(401);
    });

    test('count in whatever way they are refused: no key, a bad token, introspection', async () => {
      const from = { 'x-forwarded-for': '198.51.100.3' };
      for (const _ of Array(20).keys()) {
        await stage.ask({ query: QUERY, key: '', headers: from });
        await stage.ask({ query: QUERY, token: 'x', headers: from });
        await stage.ask({
          query: '{ __schema { queryType { name } } }',
          key: newKey('sandbox'),
          headers: from,
        });
      }
      const { status, headers } = await stage.ask({ query: QUERY, token: 'x', headers: from });
      expect([status, headers.get('ratelimit-limit')]).toEqual([429, null]);
    });

    test('never refuse a valid key from the same address', async () => {
      await flood([stage.ask], 70, guess('198.51.100.4'));
      const key = await freshKey();
      expect(
        (await stage.ask({ query: QUERY, key, headers: { 'x-forwarded-for': '198.51.100.4' } }))
          .status,
      ).toBe(200);
    });
  });
});

test('refused credentials count by the socket where no proxy is trusted', async () => {
  const stage = await startInProcess();
  for (const n of Array(60).keys())
    await stage.ask({ query: QUERY, key: '', headers: { 'x-forwarded-for': `198.51.100.${n}` } });
  expect(
    (await stage.ask({ query: QUERY, key: '', headers: { 'x-forwarded-for': '198.51.100.99' } }))
      .status,
  ).toBe(429);
  await stage.close();
});

test('the window is a fixed one that begins with the first request, and the next one has the whole budget', async () => {
  const stage = await startInProcess({
    env: { RATE_LIMIT_WINDOW_SECONDS: '2', RATE_LIMIT_BUDGET: '2' },
  });
  const spend = async () => (await flood([stage.ask], 3, { query: '{ __typename }' }))[200];
  expect(await spend()).toBe(2);
  const { headers } = await stage.ask({ query: '{ __typename }' });
  expect(headers.get('ratelimit-policy')).toBe('"key";q=2;w=2');
  await new Promise((resolve) => setTimeout(resolve, Number(headers.get('retry-after')) * 1_000));
  expect(await spend()).toBe(2);
  await stage.close();
});

describe('two gateways with one Redis', () => {
  let redis: OwnRedis;
  let service: Started;
  let gateways: Client[];

  beforeAll(async () => {
    redis = await startRedis();
    service = await startFilled('apart, on MongoDB and Redis', {
      RATE_LIMIT_BUDGET: '100',
      REDIS_URL: redis.url,
    });
    const second = await service.stack.addGateway();
    gateways = [service.ask, createClient(second.url, service.keys.alpha)];
  }, 60_000);
  afterAll(async () => {
    await service.close();
    await redis.stop();
  });

  const freshKey = () => addKey(service.stack.stores.keys, 'alpha');

  test('answer exactly 100 of 400 requests at once', async () => {
    expect(await flood(gateways, 400, { query: QUERY, key: await freshKey() })).toEqual({
      200: 100,
      429: 300,
    });
  });

  test('answer exactly 33 of 100 requests for 3 look-ups each', async () => {
    const key = await freshKey();
    const { 200: answered = 0 } = await flood(gateways, 100, {
      query: '{ a: __typename b: __typename c: __typename }',
      key,
    });
    expect(answered).toBe(33);
  });

  test('count a member’s requests together, and refused credentials too', async () => {
    const token = await service.provider.issue('m-both');
    expect(await flood(gateways, 200, { query: '{ __typename }', token })).toEqual({
      200: 120,
      429: 80,
    });
    expect(await flood(gateways, 100, { query: QUERY, key: newKey('sandbox') })).toEqual({
      401: 60,
      429: 40,
    });
  });

  test('keep counters that carry the name of the environment', async () => {
    const client = new Redis(redis.url);
    const names = await client.keys('*');
    client.disconnect();
    expect(names.length).toBeGreaterThan(3);
    expect(names.filter((name) => !name.includes('sandbox'))).toEqual([]);
    for (const name of names) expect(name).not.toMatch(/pk_test_|@/);
  });

  test('go on without Redis, each under a budget of its own, and share it again once Redis is back', async () => {
    const key = await freshKey();
    expect(remaining(await service.ask({ query: QUERY, key }))).toBe(99);
    await redis.kill();
    expect(await flood(gateways, 20, { query: QUERY, key })).toEqual({ 200: 20 });
    const { 200: answered = 0, 429: refused = 0 } = await flood(gateways, 400, {
      query: QUERY,
      key: await freshKey(),
    });
    expect([answered, refused]).toEqual([200, 200]);
    await redis.restart();
    await shared();
    expect(await flood(gateways, 400, { query: QUERY, key: await freshKey() })).toEqual({
      200: 100,
      429: 300,
    });
  });

  test('go on while Redis stands still', async () => {
    redis.pause();
    try {
      expect(await flood(gateways, 20, { query: QUERY, key: await freshKey() })).toEqual({
        200: 20,
      });
    } finally {
      redis.resume();
    }
    await shared();
  });

  /** Waits until both gateways count together again. */
  async function shared(): Promise<void> {
    for (;;) {
      const key = await freshKey();
      const [first, second] = gateways as [Client, Client];
      const before = remaining(await first({ query: QUERY, key }));
      if (
        remaining(await second({ query: QUERY, key })) === before - 1 &&
        remaining(await first({ query: QUERY, key })) === before - 2
      )
        return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
});
