// The tier that points reach, and the one that a member holds.
import fc from 'fast-check';
import { programOf } from '../../test/program.ts';
import type { Program, TierValidity } from './program.ts';
import { INT_MAX, INT_MIN } from './standing.ts';
import { heldTier, tierOf } from './tiers.ts';

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

const LADDER = program(['Blue', 0], ['Silver', 1_000], ['Gold', 5_000]);
const ladder = (tierValidity: TierValidity): Program => ({ ...LADDER, tierValidity });

test.each<[number, string | undefined, number | undefined]>([
  [0, 'Silver', 1_000],
  [999, 'Silver', 1],
  [1_000, 'Gold', 4_000],
  [5_000, undefined, undefined],
  [-1, 'Silver', 1_001],
  [INT_MIN, 'Silver', INT_MAX],
])('at %d points the next tier is %s, %s points away', (points, name, missing) => {
  const { next } = heldTier(LADDER, points, undefined);
  expect(next).toEqual(name === undefined ? undefined : { name, missing });
});

test('below the points of the lowest tier, the next one is the second', () => {
  expect(heldTier(program(['Founder', 100], ['Patron', 200]), 10, undefined).next).toEqual({
    name: 'Patron',
    missing: 190,
  });
  expect(heldTier(undefined, 10, undefined).next).toBeUndefined();
});

const THIS_YEAR = { earnedIn: 0, validUntil: 2 };
const LAST_YEAR = { earnedIn: -1, validUntil: 1 };
test.each<[what: string, points: number, before: number | undefined, held: object]>([
  ['only last year’s points reach', 0, 5_200, { name: 'Gold', ...LAST_YEAR }],
  ['only this year’s points reach', 1_000, 999, { name: 'Silver', ...THIS_YEAR }],
  ['this year’s points reach without any last year', 0, undefined, { name: 'Blue', ...THIS_YEAR }],
  [
    'both years’ points reach: it is of the later one',
    1_000,
    4_999,
    { name: 'Silver', ...THIS_YEAR },
  ],
  ['both years’ points reach, the lowest', -5, 999, { name: 'Blue', ...THIS_YEAR }],
  [
    'last year’s points reach while this year’s are negative',
    -9,
    1_000,
    { name: 'Silver', ...LAST_YEAR },
  ],
  ['this year’s points reach, above last year’s', 5_000, 4_999, { name: 'Gold', ...THIS_YEAR }],
])('with nextYear, the tier held is the one that %s', (_, points, before, held) => {
  expect(heldTier(ladder('nextYear'), points, before)).toMatchObject(held);
});

test('with nextYear, the next tier is above the one held, its gap by this year’s points', () => {
  const next = (points: number, before: number) =>
    heldTier(ladder('nextYear'), points, before).next;
  expect(next(200, 1_000)).toEqual({ name: 'Gold', missing: 4_800 });
  expect(next(-50, 1_000)).toEqual({ name: 'Gold', missing: 5_050 });
  expect(next(200, 5_000)).toBeUndefined();
  expect(next(200, 0)).toEqual({ name: 'Silver', missing: 800 });
});

test('with year, and in a program that says nothing, last year’s points do not count', () => {
  for (const one of [LADDER, ladder('year'), undefined])
    expect(heldTier(one, 200, INT_MAX)).toEqual({
      ...heldTier(one, 200, undefined),
      earnedIn: 0,
      validUntil: 1,
    });
});

test('with nextYear, a tier is never lower than without it, nor than last year’s', () => {
  const points = fc.integer({ min: -9, max: 6_000 });
  const rank = (name: string) => LADDER.tiers.findIndex((tier) => tier.name === name);
  fc.assert(
    fc.property(points, points, (now, before) => {
      const { name, earnedIn } = heldTier(ladder('nextYear'), now, before);
      const [reached, reachedBefore] = [now, before].map((sum) => rank(tierOf(LADDER, sum)));
      expect(rank(name)).toBe(Math.max(reached ?? 0, reachedBefore ?? 0));
      expect(tierOf(LADDER, earnedIn === 0 ? now : before)).toBe(name);
    }),
  );
});
