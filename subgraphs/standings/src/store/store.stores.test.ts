// What every standings store does, on each engine.

import fc from 'fast-check';
import { ENGINES } from '../../../../test/support/engines.ts';
import { activity, IMPORT, newPlace, type Place } from '../../test/engine.ts';
import type { Activity, DatedActivity } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import { INT_MAX, INT_MIN, type MemberStanding, type Standing } from '../rules/standing.ts';
import type { RecordOutcome } from './record.ts';
import type { StandingsStore } from './store.ts';

const BILLION = 1_000_000_000;

describe.each(ENGINES)('the standings store on %s', (engine) => {
  let place: Place;
  let store: StandingsStore;

  beforeEach(async () => {
    place = newPlace(engine);
    store = await place.open();
  });
  afterEach(() => place.release());

  const standing = async (memberId = 'ada', partnerId = 'inn', year = '2026-01-01') =>
    store.standing(partnerId, memberId, year);
  const recordOne = async (one: DatedActivity) => (await store.record([one]))[0];
  const count = (outcomes: readonly (RecordOutcome | undefined)[], outcome: RecordOutcome) =>
    outcomes.filter((one) => one === outcome).length;

  describe('recording', () => {
    test('a repeated activity changes nothing, even if it is in another year by now', async () => {
      await store.record([activity('1', 100)]);
      expect(await recordOne(activity('1', 100, { year: '2026-04-01' }))).toBe('already-recorded');
      expect(await standing()).toEqual({ points: 100, stays: 0 });
      expect(await standing('ada', 'inn', '2026-04-01')).toBeUndefined();
    });

    test.each<[what: string, change: Partial<DatedActivity>]>([
      ['time', { occurredAt: new Date('2026-06-30T12:00:00.001Z') }],
      ['member, whose ID begins alike', { memberId: 'ad' }],
    ])('the same ID with another %s is refused and changes nothing', async (_, change) => {
      await store.record([activity('1', 100)]);
      expect(await recordOne(activity('1', 100, change))).toBe('conflict');
      expect(await standing()).toEqual({ points: 100, stays: 0 });
      expect(await standing('ad')).toBeUndefined();
    });

    test.each([
      [INT_MAX, BILLION, 1],
      [INT_MIN, -BILLION, -1],
    ])('what would take a sum beyond %d is refused until it fits', async (limit, most, one) => {
      await store.record([activity('1', most), activity('2', most)]);
      expect(await recordOne(activity('3', limit - 2 * most))).toBe('recorded');
      expect(await recordOne(activity('4', one))).toBe('out-of-range');
      expect(await recordOne(activity('5', -one))).toBe('recorded');
      expect(await recordOne(activity('4', one))).toBe('recorded');
      expect(await standing()).toEqual({ points: limit, stays: 0 });
    });

    test('IDs may be in any script, long, or named like properties of objects', async () => {
      const ids = [
        '\u{1f600}'.repeat(128),
        '名'.repeat(128),
        '__proto__',
        'constructor',
        '$where',
        'a.b',
        '1',
        ' ',
      ];
      const batch = ids.map((id) => activity(id, 3, { partnerId: id, memberId: id }));
      expect(count(await store.record(batch), 'recorded')).toBe(ids.length);
      for (const id of ids) expect(await standing(id, id)).toEqual({ points: 3, stays: 0 });
      expect(count(await store.record(batch), 'already-recorded')).toBe(ids.length);
    });

    test('outcomes and sums are those of a model, for any batches', async () => {
      const small = fc.constantFrom('a', 'b');
      const anyActivity = fc.record({
        activityId: fc.constantFrom('1', '2', '3', '4', '5', '6'),
        partnerId: small,
        memberId: small,
        points: fc.constantFrom(-BILLION, -1, 1, BILLION),
        stays: fc.constantFrom(0, 1, BILLION),
        year: fc.constantFrom('2025-01-01', '2026-01-01'),
      });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(anyActivity, { maxLength: 5 }), { maxLength: 4 }),
          async (batches) => {
            run += 1;
            const sums = new Map<string, Standing>();
            const known = new Map<string, string>();
            for (const batch of batches) {
              const placed = batch.map((one) => ({
                ...one,
                activityId: `${run}-${one.activityId}`,
                partnerId: `${run}-${one.partnerId}`,
                occurredAt: new Date(one.year),
              }));
              const expected = placed.map((one) => inModel(sums, known, one));
              expect(await store.record(placed)).toEqual(expected);
            }
            for (const [key, sum] of sums) {
              const [partnerId = '', memberId, year] = key.split('/');
              expect(await standing(memberId, partnerId, year)).toEqual(sum);
            }
          },
        ),
        { numRuns: engine === 'lmdb' ? 50 : 15 },
      );
    });
  });

  describe('concurrent recording', () => {
    test('the same activity recorded 50 times counts once', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, () => recordOne(activity('1', 10, { stays: 1 }))),
      );
      expect([count(outcomes, 'recorded'), count(outcomes, 'already-recorded')]).toEqual([1, 49]);
      expect(await standing()).toEqual({ points: 10, stays: 1 });
    });

    test('two activities from each of 16 processes for one standing all count', async () => {
      const stores = await Promise.all(Array.from({ length: 16 }, () => place.open()));
      const ids = Array.from({ length: 32 }, (_, index) => `${index}`);
      const outcomes = await Promise.all(
        ids.map((id, index) => stores[index % 16]?.record([activity(id, 1, { stays: 1 })])),
      );
      expect(count(outcomes.flat(), 'recorded')).toBe(32);
      expect(await standing()).toEqual({ points: 32, stays: 32 });
    });
  });

  describe('one member', () => {
    const activitiesOf = async (memberId: string, from = store) => {
      const found: Activity[] = [];
      for await (const one of from.activitiesOf(memberId)) found.push(one);
      return found;
    };
    const isolated = ['ada', 'ad', 'adaa', 'a.a', 'ada\u{1f600}', '1', '0', '^', '名'];

    test('activities and standings are those of the member, with every partner', async () => {
      const times = ['2026-03-01', '2025-03-01', '2026-02-01'].map((day) => new Date(day));
      const batch = isolated.flatMap((memberId, member) =>
        ['inn', 'spa'].flatMap((partnerId, partner) =>
          times.map((occurredAt, index) =>
            activity(`${member}-${partner}-${index}`, member * 100 + index, {
              partnerId,
              memberId,
              stays: 1,
              occurredAt,
              year: `${occurredAt.getUTCFullYear()}-01-01`,
            }),
          ),
        ),
      );
      expect(count(await store.record(batch), 'recorded')).toBe(batch.length);
      for (const [member, memberId] of isolated.entries()) {
        const own = batch.filter((one) => one.memberId === memberId);
        const found = await activitiesOf(memberId);
        expect(found.toSorted(byId)).toEqual(own.map(({ year, ...one }) => one).toSorted(byId));
        const standings = await store.standingsOf(memberId);
        expect(standings.toSorted(byPlace)).toEqual(
          ['inn', 'spa'].flatMap((partnerId) => [
            { partnerId, year: '2025-01-01', points: member * 100 + 1, stays: 1 },
            { partnerId, year: '2026-01-01', points: member * 200 + 2, stays: 2 },
          ]),
        );
      }
      expect(await activitiesOf('nobody')).toEqual([]);
      expect(await store.standingsOf('nobody')).toEqual([]);
    });

    test('thousands of activities are all found, and erased with their standings', async () => {
      expect(count(await store.record(IMPORT), 'recorded')).toBe(IMPORT.length);
      await expectImported();
      const busy = IMPORT.filter(({ memberId }) => memberId === 'busy');
      expect((await activitiesOf('busy')).length).toBe(busy.length);
      expect(await store.eraseMember('busy')).toBe(busy.length);
      expect(await activitiesOf('busy')).toEqual([]);
      expect(await store.standingsOf('busy')).toEqual([]);
      expect(await standing('busy')).toBeUndefined();
      expect(await store.eraseMember('busy')).toBe(0);
      const rest = IMPORT.filter(({ memberId }) => memberId !== 'busy');
      await expectImported(rest);
      expect(count(await store.record(IMPORT), 'erased')).toBe(busy.length);
      expect(await standing('busy')).toBeUndefined();
      await expectImported(rest);
    });

    test('an erased member is refused until the mark is lifted', async () => {
      const spa = activity('1', 3, { memberId: 'bob', partnerId: 'spa' });
      await store.record([activity('1', 5), activity('2', 7, { memberId: 'bob' }), spa]);
      expect(await store.eraseMember('ada')).toBe(1);
      expect(await recordOne(spa)).toBe('already-recorded');
      const later = await place.open();
      const batch = [activity('1', 5), activity('3', 1, { memberId: 'bob' }), activity('4', 1)];
      expect(await later.record(batch)).toEqual(['erased', 'recorded', 'erased']);
      expect(await later.liftMark('bob')).toBe(false);
      expect(await later.liftMark('ada')).toBe(true);
      expect(await store.liftMark('ada')).toBe(false);
      expect(await store.record(batch)).toEqual(['recorded', 'already-recorded', 'recorded']);
      expect([await standing(), await standing('bob')]).toEqual([
        { points: 6, stays: 0 },
        { points: 8, stays: 0 },
      ]);
    });

    test('a member whom nobody knows can be erased', async () => {
      expect(await store.eraseMember('nobody')).toBe(0);
      expect(await recordOne(activity('1', 5, { memberId: 'nobody' }))).toBe('erased');
    });

    test('an erasure during imports leaves nothing, and no import fails', async () => {
      const other = await place.open();
      const part = IMPORT.slice(0, 600);
      const imports = [store.record(part), other.record(part.toReversed()), store.record(part)];
      await (await place.open()).eraseMember('busy');
      await Promise.all(imports);
      expect(await activitiesOf('busy')).toEqual([]);
      expect(await store.standingsOf('busy')).toEqual([]);
      await expectImported(part.filter(({ memberId }) => memberId !== 'busy'));
    });
  });

  describe('programs', () => {
    const program: Program = {
      membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
      tiers: [
        { name: 'Basic', points: 0 },
        { name: 'Plus', points: 2_500 },
      ],
    };

    test('a program replaces the one before it, also for a store opened later', async () => {
      expect(await store.program('inn')).toBeUndefined();
      await store.putProgram('inn', { ...program, tierValidity: 'nextYear' });
      expect(await store.isEmpty()).toBe(false);
      expect(await store.program('spa')).toBeUndefined();
      const next = { ...program, tiers: [{ name: 'Only', points: 0 }] };
      await store.putProgram('inn', next);
      expect(await store.program('inn')).toStrictEqual(next);
      expect(await (await place.open()).program('inn')).toStrictEqual(next);
    });
  });

  test('reads in one tick each get their own standing', async () => {
    const members = Array.from({ length: 250 }, (_, index) => `member-${index}`);
    await store.record(members.map((memberId, index) => activity(memberId, index, { memberId })));
    const found = await Promise.all(
      [...members, 'nobody', ...members].map((memberId) => standing(memberId)),
    );
    const points = members.map((_, index) => index);
    expect(found.map((one) => one?.points)).toEqual([...points, undefined, ...points]);
  });

  test('it is empty until an activity is stored, and keeps what it stored', async () => {
    expect(await store.isEmpty()).toBe(true);
    expect(await store.record([])).toEqual([]);
    await store.record([activity('1', 5)]);
    expect(await store.isEmpty()).toBe(false);
    const later = await place.open();
    expect(await later.standing('inn', 'ada', '2026-01-01')).toEqual({ points: 5, stays: 0 });
    await expect(later.ready()).resolves.toBeUndefined();
  });

  test('it belongs to the environment that first opened it', async () => {
    await expect(place.open('production')).rejects.toThrow(
      'standings store belongs to the sandbox environment',
    );
  });

  async function expectImported(part = IMPORT) {
    for (const memberId of new Set(part.map((one) => one.memberId))) {
      const own = part.filter((one) => one.memberId === memberId);
      expect(await standing(memberId)).toEqual({
        points: own.reduce((sum, { points }) => sum + points, 0),
        stays: own.length,
      });
    }
  }
});

/** The outcome of an activity, by the rules and without a store. */
function inModel(
  sums: Map<string, Standing>,
  known: Map<string, string>,
  one: DatedActivity,
): RecordOutcome {
  const content = JSON.stringify([one.memberId, one.points, one.stays, one.occurredAt]);
  const id = `${one.partnerId}/${one.activityId}`;
  const first = known.get(id);
  if (first !== undefined) return first === content ? 'already-recorded' : 'conflict';
  const key = `${one.partnerId}/${one.memberId}/${one.year}`;
  const before = sums.get(key) ?? { points: 0, stays: 0 };
  const sum = { points: before.points + one.points, stays: before.stays + one.stays };
  if (Math.max(sum.points, sum.stays) > INT_MAX || sum.points < INT_MIN) return 'out-of-range';
  sums.set(key, sum);
  known.set(id, content);
  return 'recorded';
}

function byId(one: Activity, other: Activity): number {
  return one.activityId < other.activityId ? -1 : 1;
}

function byPlace(one: MemberStanding, other: MemberStanding): number {
  return `${one.partnerId}${one.year}` < `${other.partnerId}${other.year}` ? -1 : 1;
}
