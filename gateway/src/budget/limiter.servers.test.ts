// The limiter's verdicts and headers.
import { randomBytes } from 'node:crypto';
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { redisUrl } from '../../../test/support/servers/databases.ts';
import { openCounters } from '../stores.ts';
import { type Counters, createMemoryCounters } from './counters.ts';
import { createLimiter, type Limiter, rateLimitHeaders, type Verdict } from './limiter.ts';

const silent = { outage: () => {}, recovered: () => {} };
const HOUR_MS = 3_600_000;
const newSubject = () => `key_${randomBytes(8).toString('hex')}`;

describe.each(['memory', 'redis'])('a limiter that counts in %s', (engine) => {
  let counters: Counters;
  let limiter: Limiter;

  beforeAll(async () => {
    const url = engine === 'redis' ? { redisUrl: redisUrl() } : {};
    counters = await openCounters({ ...url, environment: 'sandbox' }, silent);
    limiter = createLimiter(counters, 60);
  });

  afterAll(() => counters.close());

  test('a subject gets its budget and no more, and every verdict says what remains', async () => {
    const subject = newSubject();
    const verdicts: Verdict[] = [];
    for (let i = 0; i < 5; i++) verdicts.push(await limiter.consume('key', subject, 1, 3));
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
    for (const verdict of verdicts)
      expect(verdict).toMatchObject({ policy: 'key', limit: 3, windowSeconds: 60 });
    for (const { resetSeconds } of verdicts) expect([58, 59, 60]).toContain(resetSeconds);
  });

  test('a cost above what remains is refused, costs 1 and leaves the rest', async () => {
    const subject = newSubject();
    expect(await limiter.consume('key', subject, 7, 10)).toMatchObject({
      allowed: true,
      remaining: 3,
    });
    expect(await limiter.consume('key', subject, 4, 10)).toMatchObject({
      allowed: false,
      remaining: 2,
    });
    expect(await limiter.consume('key', subject, 2, 10)).toMatchObject({
      allowed: true,
      remaining: 0,
    });
  });

  test('a budget of 0 refuses the first request', async () => {
    expect(await limiter.consume('key', newSubject(), 1, 0)).toMatchObject({
      allowed: false,
      limit: 0,
      remaining: 0,
    });
  });

  test('subjects and policies are counted separately', async () => {
    const [one, other] = [newSubject(), newSubject()];
    await limiter.consume('key', one, 10, 10);
    expect(await limiter.consume('key', other, 10, 10)).toMatchObject({ allowed: true });
    expect(await limiter.consume('member', one, 10, 10)).toMatchObject({
      allowed: true,
      policy: 'member',
      windowSeconds: 60,
    });
    expect(await limiter.consume('key', one, 1, 10)).toMatchObject({ allowed: false });
  });

  test('a budget of 100 allows exactly 100 of 400 concurrent requests', async () => {
    const subject = newSubject();
    const verdicts = await Promise.all(
      Array.from({ length: 400 }, () => limiter.consume('key', subject, 1, 100)),
    );
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(100);
  });

  test('consumptions in one tick get the same verdicts as one after the other', async () => {
    const tick = fc.array(
      fc.record({ subject: fc.nat(2), cost: fc.integer({ min: 1, max: 10 }), budget: fc.nat(40) }),
      {
        maxLength: 30,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tick, { minLength: 1, maxLength: 3 }), async (ticks) => {
        const names = [newSubject(), newSubject(), newSubject()];
        const consumed = [0, 0, 0];
        for (const consumptions of ticks) {
          const verdicts = await Promise.all(
            consumptions.map(({ subject, cost, budget }) =>
              limiter.consume('key', names[subject] ?? '', cost, budget),
            ),
          );
          consumptions.forEach(({ subject, cost, budget }, i) => {
            const before = consumed[subject] ?? 0;
            const allowed = before + cost <= budget;
            const sum = before + (allowed ? cost : 1);
            consumed[subject] = sum;
            expect(verdicts[i]).toMatchObject({
              allowed,
              remaining: Math.max(0, budget - sum),
              limit: budget,
            });
          });
        }
      }),
      { numRuns: 30 },
    );
  });

  test('a window begins with the first consumption; its end restores the budget', async () => {
    const short = createLimiter(counters, 2);
    const subject = newSubject();
    const start = performance.now();
    let refused = 0;
    await short.consume('key', subject, 1, 1);
    while (!(await short.consume('key', subject, 1, 1)).allowed) {
      refused += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (performance.now() - start > 60_000) throw new Error('the window did not end');
    }
    expect(refused).toBeGreaterThan(0);
  });

  test('with the clock put back, no wait is longer than the window', async () => {
    const subject = newSubject();
    await limiter.consume('key', subject, 1, 1);
    const redis = engine === 'redis' ? new Redis(redisUrl()) : undefined;
    await redis?.pexpire(`loyalty:sandbox:key:${subject}`, HOUR_MS);
    if (redis === undefined) jest.spyOn(Date, 'now').mockReturnValue(Date.now() - HOUR_MS);
    for (const budget of [1, 10]) {
      const verdict = await limiter.consume('key', subject, 1, budget);
      expect(verdict).toMatchObject({ allowed: budget === 10, resetSeconds: 60 });
    }
    jest.restoreAllMocks();
    expect((await redis?.pttl(`loyalty:sandbox:key:${subject}`)) ?? 0).toBeLessThanOrEqual(60_000);
    redis?.disconnect();
  });

  test('refused credentials are counted by address, 60 in a window', async () => {
    const prefix = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}`;
    const verdicts = await Promise.all(
      Array.from({ length: 61 }, (_, i) => limiter.consumeRefusal(`${prefix}::${i}`)),
    );
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([...Array(60).fill(true), false]);
    expect(await limiter.consumeRefusal(`2001:db9:${newSubject().slice(4, 8)}:1::1`)).toMatchObject(
      { allowed: true },
    );
  });
});

test('with the clock put back, an address is refused for one more window at most', async () => {
  const { consumeRefusal, refusals } = createLimiter(createMemoryCounters('sandbox'), 60);
  const address = '192.0.2.77';
  await consumeRefusal(address);
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() - HOUR_MS);
  for (let i = 0; i < 60; i++) await consumeRefusal(address);
  const before = refusals.isOver(address);
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
  expect([before, refusals.isOver(address)]).toEqual([true, false]);
  jest.restoreAllMocks();
});

test('the headers state a verdict in both forms', () => {
  const verdict: Verdict = {
    policy: 'key',
    allowed: true,
    limit: 600,
    remaining: 599,
    resetSeconds: 42,
    windowSeconds: 60,
  };
  const headers = {
    'ratelimit-limit': '600',
    'ratelimit-remaining': '599',
    'ratelimit-reset': '42',
    ratelimit: '"key";r=599;t=42',
    'ratelimit-policy': '"key";q=600;w=60',
  };
  expect(rateLimitHeaders(verdict)).toEqual(headers);
  expect(rateLimitHeaders({ ...verdict, policy: 'member', allowed: false, remaining: 0 })).toEqual({
    ...headers,
    'ratelimit-remaining': '0',
    ratelimit: '"member";r=0;t=42',
    'ratelimit-policy': '"member";q=600;w=60',
    'retry-after': '42',
  });
});

test('an IPv4 address counts alone in any notation, an IPv6 address as its /64', () => {
  expect(addressBlock('203.0.113.7')).toBe('203.0.113.7');
  expect(addressBlock('::ffff:203.0.113.7')).toBe('203.0.113.7');
  expect(addressBlock('::ffff:cb00:7107')).toBe('203.0.113.7');
  const block = addressBlock('2001:db8:1:2::1');
  expect(addressBlock('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff')).toBe(block);
  expect(addressBlock('2001:db8:1:2:0:0:0:1%eth0')).toBe(block);
  expect(addressBlock('2001:db8:1:3::1')).not.toBe(block);
  expect(addressBlock('')).toBe('');
});
