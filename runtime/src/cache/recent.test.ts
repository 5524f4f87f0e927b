// What is remembered for a while.
import { createRecent } from './recent.ts';

test('a text is remembered for the time, from when it was added last', () => {
  let time = 0;
  const recent = createRecent(5_000, () => time);
  expect(recent.has('a')).toBe(false);
  recent.add('a');
  time = 4_999;
  expect(recent.has('a')).toBe(true);
  recent.add('b');
  recent.add('a');
  time = 5_000;
  expect([recent.has('a'), recent.has('b')]).toEqual([true, true]);
  time = 9_999;
  expect([recent.has('a'), recent.has('b')]).toEqual([false, false]);
});

test('of a flood, the last 20,000 are remembered', () => {
  const recent = createRecent(5_000, () => 0);
  for (let n = 0; n <= 20_000; n += 1) recent.add(`${n}`);
  expect([recent.has('0'), recent.has('1'), recent.has('20000')]).toEqual([false, true, true]);
});
