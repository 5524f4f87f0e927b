// Keys as texts: in the order of their parts, and back.
import * as fc from 'fast-check';
import { afterOf, compareTexts, endOf, type Key, keyOf, textOf } from './keys.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom(' ', '!', '#', '\0', '\t', 'a', '@', '\u{ffff}', '\u{10000}'),
  }),
);
const key = fc.tuple(text, fc.nat({ max: Number.MAX_SAFE_INTEGER }), text);

function compareKeys(one: Key, other: Key): number {
  for (const [place, part] of one.entries()) {
    const against = other[place];
    const order =
      typeof part === 'number' && typeof against === 'number'
        ? Math.sign(part - against)
        : compareTexts(String(part), String(against));
    if (order !== 0) return order;
  }
  return 0;
}

test('texts are in the order of their keys, and lead back to them', () => {
  fc.assert(
    fc.property(key, key, (one, other) => {
      expect(compareTexts(textOf(one), textOf(other))).toBe(compareKeys(one, other));
      expect(keyOf(textOf(one))).toEqual(one);
    }),
  );
});

test('the keys with a prefix are those from it to its end, and each is after the one before', () => {
  fc.assert(
    fc.property(key, key, ([first, at, last], other) => {
      for (const prefix of [[first], [first, at]]) {
        const [from, until] = [textOf(prefix), endOf(prefix)];
        const isWithin = (each: Key) =>
          compareTexts(from, textOf(each)) <= 0 && compareTexts(textOf(each), until) < 0;
        expect(isWithin([first, at, last])).toBe(true);
        expect(isWithin(other)).toBe(prefix.every((part, place) => part === other[place]));
      }
      const after = compareTexts(afterOf(textOf([first, at, last])), textOf(other)) <= 0;
      expect(after).toBe(compareKeys([first, at, last], other) < 0);
    }),
  );
});
