// Budgets, refusals and addresses as a single process counts them, without Redis.
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';
import { createAddressCounters } from './addresses.ts';
import { createMemoryCounters } from './counters.ts';
import { createLimiter, Estimates, rateLimitHeaders, type Verdict } from './limiter.ts';
import { createRefusals } from './refusals.ts';

test('with the clock put back, an address is refused for one more window at most', async () => {
  const { consumeRefusal, refusals } = createLimiter(createMemoryCounters('sandbox'), 60);
  const address = '192.0.2.77';
  await consumeRefusal(address);
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
  for (let i = 0; i < 60; i++) await consumeRefusal(address);
  const before = refusals.isOver(address);
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
  expect([before, refusals.isOver(address)]).toEqual([true, false]);
  jest.restoreAllMocks();
});

test('a window ends in a second at least, so that nobody tries again at once', async () => {
  const { consume } = createLimiter(createMemoryCounters('sandbox'), 1);
  await consume('key', 'k', 1, 1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await consume('key', 'k', 1, 1)).toMatchObject({ allowed: false, resetSeconds: 1 });
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

// How many counters a flood of client addresses can make.

const WINDOW_MS = 60_000;
const ipv6 = (index: number) =>
  `2001:db8:${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}::1`;

test('a flood of IPv6 networks with bad credentials shares counters, known addresses keep theirs', () => {
  const counterOf = createAddressCounters(WINDOW_MS, () => 0);
  expect(counterOf('192.0.2.1')).toBe('192.0.2.1');
  const counters = new Set(Array.from({ length: 22_000 }, (_, index) => counterOf(ipv6(index))));
  expect(counters.size).toBeLessThanOrEqual(20_000 + 1_024);
  expect(counterOf('192.0.2.1')).toBe('192.0.2.1');
  expect(counterOf(ipv6(21_999))).toBe(counterOf(ipv6(21_999)));
});

test('after a window without the flood, new addresses have counters of their own again', () => {
  let time = 0;
  const counterOf = createAddressCounters(WINDOW_MS, () => time);
  for (let index = 0; index < 21_000; index += 1) counterOf(ipv6(index));
  expect(counterOf('192.0.2.1')).toMatch(/^others/);
  time = WINDOW_MS;
  expect(counterOf('192.0.2.1')).toBe('192.0.2.1');
  expect(counterOf(ipv6(1))).toBe(counterOf(ipv6(1)));
});

test('the addresses of an IPv6 /64 have one counter', () => {
  const counterOf = createAddressCounters(WINDOW_MS, () => 0);
  expect(counterOf('2001:db8::1')).toBe(counterOf('2001:db8::ffff:1'));
});

// Budgets between the answers of their counters.

const BUDGET = 10;

function learnt(consumed: number): Estimates {
  const estimates = new Estimates();
  estimates.consuming('k', 1);
  estimates.consumed('k', 1, consumed);
  return estimates;
}

test('a budget is plenty if half of it is left after the cost', () => {
  expect([5, 4, 0].map((used) => learnt(used).isPlenty('k', 1, BUDGET))).toEqual([
    false,
    true,
    true,
  ]);
  expect(learnt(0).isPlenty('k', 6, BUDGET)).toBe(false);
  expect(learnt(10).isPlenty('k', 1, 100)).toBe(true);
});

test('what is not answered yet counts as used', () => {
  const estimates = learnt(0);
  const taken: boolean[] = [];
  for (let i = 0; i < 7; i++) {
    taken.push(estimates.isPlenty('k', 1, BUDGET));
    estimates.consuming('k', 1);
  }
  expect(taken).toEqual([true, true, true, true, true, false, false]);
  // The answer to the first, while six are on their way.
  estimates.consumed('k', 1, 1);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
  for (const consumed of [2, 3, 4]) estimates.consumed('k', 1, consumed);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
});

test('what is pending may exceed the limit, but is no refusal; failures are forgotten', async () => {
  const refusals = createRefusals(1);
  const address = '2001:db8:1:2::1';
  const counted = { consumedPoints: 1, isWithin: true, msBeforeNext: 1_000 };
  await refusals.count(address, async () => counted);
  const ends: (() => void)[] = [];
  const pending = [
    refusals.duringLookUp(address, () => new Promise<void>((resolve) => ends.push(resolve))),
    refusals.count(address, () => new Promise((_, reject) => ends.push(() => reject('down')))),
  ];
  expect([refusals.isOver(address), refusals.mayBeOver(address)]).toEqual([false, true]);
  for (const end of ends) end();
  await Promise.allSettled(pending);
  expect(() =>
    refusals.duringLookUp(address, () => {
      throw new Error('damaged');
    }),
  ).toThrow('damaged');
  expect(refusals.duringLookUp(address, () => 'found')).toBe('found');
  expect(refusals.mayBeOver(address)).toBe(false);
});

test('of a flood of addresses, those seen last are remembered', async () => {
  const refusals = createRefusals(2);
  const COUNT = { consumedPoints: 3, isWithin: true, msBeforeNext: 60_000 };
  const addressOf = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  for (let n = 0; n <= 20_000; n += 1) await refusals.count(addressOf(n), async () => COUNT);
  const known = [0, 1, 20_000].map((n) => refusals.isOver(addressOf(n)));
  expect(known).toEqual([false, true, true]);
});
