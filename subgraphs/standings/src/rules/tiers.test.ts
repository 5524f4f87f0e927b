// The tier that a number of points reaches.
import fc from 'fast-check';
import { programOf } from '../../test/program.ts';
import { INT_MAX, INT_MIN } from './standing.ts';
import { nextTier, tierOf } from './tiers.ts';

const program = (...tiers: [name: string, points: number][]) =>
  programOf({
    membershipYear: { start: '01-01', timeZone: 'UTC' },
    tiers: tiers.map(([name, points]) => ({ name, points })),
  });

test.each([
  [0, 'Blue'],
  [999, 'Blue'],
  [1_000, 'Silver'],
  [4_999, 'Silver'],
  [5_000, 'Gold'],
  [INT_MAX, 'Gold'],
  [-1, 'Blue'],
  [INT_MIN, 'Blue'],
])('%d points are %s', (points, tier) => {
  expect(tierOf(program(['Blue', 0], ['Silver', 1_000], ['Gold', 5_000]), points)).toBe(tier);
});

test('points below those that the lowest tier requires are in the lowest tier', () => {
  expect(tierOf(program(['Founder', 100], ['Patron', 200]), 0)).toBe('Founder');
});

test('without a program there is one tier', () => {
  expect([tierOf(undefined, 0), tierOf(undefined, INT_MAX), tierOf(undefined, -5)]).toEqual([
    'MEMBER',
    'MEMBER',
    'MEMBER',
  ]);
});

test('more points never make a lower tier, in whatever order the tiers are written', () => {
  const int = fc.integer({ min: INT_MIN, max: INT_MAX });
  const thresholds = fc.uniqueArray(fc.integer({ min: 0, max: INT_MAX }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(thresholds, int, int, (required, one, other) => {
      const tiers = required.map((points): [string, number] => [`tier ${points}`, points]);
      const rank = (points: number) => Number(tierOf(program(...tiers), points).slice(5));
      expect(rank(Math.max(one, other))).toBeGreaterThanOrEqual(rank(Math.min(one, other)));
      expect(rank(one)).toBe(
        Math.max(Math.min(...required), ...required.filter((points) => points <= one)),
      );
      expect(tierOf(program(...tiers.toReversed()), one)).toBe(tierOf(program(...tiers), one));
    }),
  );
});

test.each<[number, string | undefined, number | undefined]>([
  [0, 'Silver', 1_000],
  [999, 'Silver', 1],
  [1_000, 'Gold', 4_000],
  [5_000, undefined, undefined],
  [-1, 'Silver', 1_001],
  [INT_MIN, 'Silver', INT_MAX],
])('at %d points the next tier is %s, %s points away', (points, name, missing) => {
  const next = nextTier(program(['Blue', 0], ['Silver', 1_000], ['Gold', 5_000]), points);
  expect(next).toEqual(name === undefined ? undefined : { name, missing });
});

test('below the points of the lowest tier, the next one is the second', () => {
  expect(nextTier(program(['Founder', 100], ['Patron', 200]), 10)).toEqual({
    name: 'Patron',
    missing: 190,
  });
  expect(nextTier(undefined, 10)).toBeUndefined();
});
