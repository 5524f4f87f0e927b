// How many counters a flood of client addresses can make.
import { createAddressCounters } from './addresses.ts';

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
