// Caches.

import { getHeapStatistics } from 'node:v8';
import { parse } from 'graphql';
import { createCaches } from './caches.ts';
import { expandedSelections } from './document.ts';

// The caches of a process share one bound on their bytes.

const weigh = (text: string) => text.length;
const text = (length: number) => 'x'.repeat(length);

test('by default, all caches together keep at most a quarter of the heap', () => {
  const caches = createCaches();
  const opened = [caches.open(() => 1024 * 1024), caches.open(() => 2 * 1024 * 1024)];
  for (let index = 0; index < 3_000; index += 1)
    for (const cache of opened) cache.set(`key ${index}`, 'value');
  expect(caches.bytes()).toBeLessThanOrEqual(getHeapStatistics().heap_size_limit / 4);
  expect(opened.map((cache) => cache.get('key 2999'))).toEqual(['value', 'value']);
});

test('the heaviest cache gives way, and in it what was not used for the longest time', () => {
  const caches = createCaches(100_000);
  const [light, heavy] = [caches.open(weigh), caches.open(weigh)];
  light.set('small', 'value');
  for (let index = 0; index < 8; index += 1) heavy.set(`large ${index}`, text(10_000));
  expect(heavy.get('large 0')).toBeDefined();
  for (let index = 8; index < 12; index += 1) heavy.set(`large ${index}`, text(10_000));
  expect(light.peek('small')).toBe('value');
  expect(heavy.peek('large 0')).toBeDefined();
  expect(heavy.peek('large 1')).toBeUndefined();
  expect(caches.bytes()).toBeLessThanOrEqual(100_000);
});

test('a value that alone is too large is not kept', () => {
  const caches = createCaches(100_000);
  const cache = caches.open(weigh);
  cache.set('small', text(10));
  cache.set('large', text(50_000));
  expect([cache.get('small'), cache.get('large')]).toEqual([text(10), undefined]);
});

test('a value that has grown is weighed again', () => {
  const caches = createCaches(100_000);
  const cache = caches.open<{ bytes: number }>(({ bytes }) => bytes);
  const value = { bytes: 10 };
  cache.set('key', value);
  const before = caches.bytes();
  value.bytes = 5_010;
  cache.weighAgain('key');
  expect(caches.bytes() - before).toBe(5_000);
  expect(cache.get('key')).toBe(value);
});

test('what is reserved is not available to caches', () => {
  const caches = createCaches(100_000);
  const cache = caches.open(weigh);
  cache.set('first', text(10_000));
  cache.set('second', text(10_000));
  caches.reserve(85_000);
  expect([cache.get('first'), cache.get('second')]).toEqual([undefined, text(10_000)]);
});

test('a cache that is closed gives its bytes back and takes no more', () => {
  const caches = createCaches(100_000);
  const [closed, open] = [caches.open(weigh), caches.open(weigh)];
  for (const cache of [closed, open]) cache.set('first', text(1_000));
  const both = caches.bytes();
  closed.close();
  expect(caches.bytes()).toBe(both / 2);
  // What was under way when it was closed ends after that.
  closed.set('late', text(1_000));
  expect([closed.get('first'), closed.get('late')]).toEqual([undefined, undefined]);
  expect(caches.bytes()).toBe(both / 2);
  expect(open.get('first')).toBe(text(1_000));
});

// The size of operations, with fragments expanded.

test.each([
  ['no fragment', '{ a { b c } d }', 4],
  [
    'a fragment that is spread three times',
    '{ a { ...F } b { ...F } c { ...F } } fragment F on T { x y }',
    12,
  ],
  ['an inline fragment', '{ a { ... on T { x } } }', 3],
  ['a fragment that is not spread', '{ a } fragment F on T { x y }', 1],
  ['two operations', 'query A { a } query B { ...F } fragment F on T { x y }', 4],
  ['a fragment that contains itself', '{ ...F } fragment F on T { x ...F }', 3],
  [
    'fragments that double at each step',
    `{ ...F0 } ${Array.from({ length: 30 }, (_, n) => `fragment F${n} on T { ...F${n + 1} ...F${n + 1} }`).join(' ')} fragment F30 on T { x }`,
    1 + 2 * (2 ** 30 - 1) + 2 ** 30,
  ],
])('%s', (_, query, size) => {
  expect(expandedSelections(parse(query))).toBe(size);
});
