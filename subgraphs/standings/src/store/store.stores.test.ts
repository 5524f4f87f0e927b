// What every standings store does, on each engine.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { ENGINES } from '../../../../test/support/engines.ts';
import { programArgs } from '../../../../test/support/programs/programs.ts';
import { activity, IMPORT, importOf, newPlace, type Place } from '../../test/engine.ts';
import type { Activity, DatedActivity } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import { INT_MAX, INT_MIN, type MemberStanding, type Standing } from '../rules/standing.ts';
import type { RecordOutcome, StandingsStore } from './store.ts';

const BILLION = 1_000_000_000;
/** How many processes are killed while they import, an even number. */
const KILLS = Number(process.env.TEST_KILLS ?? 2);
/** The longest time from the end of a batch to the kill. */
const BATCH_MS = { lmdb: 10, mongodb: 150 } as const;

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

  /** Starts a process that imports, and kills it at a random point. */
  const importUntilKilled = async (number: number) => {
    const program = programArgs('subgraphs/standings/test/process.ts');
    const args = [...program, JSON.stringify(place.settings), `${number}`];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    let left = 1 + Math.random() * 15;
    for await (const batches of child.stdout.iterator({ destroyOnReturn: false })) {
      left -= batches.length;
      if (left <= 0) break;
    }
    await pause(Math.random() * BATCH_MS[engine]);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
  };

  describe('recording', () => {
    test('points and stays add up separately for each partner, member and year', async () => {
      const outcomes = await store.record([
        activity('1', 100, { stays: 1 }),
        activity('2', 50, { stays: 2 }),
        activity('3', 7, { memberId: 'bob' }),
        activity('4', 8, { partnerId: 'spa' }),
        activity('5', 9, { year: '2025-01-01', occurredAt: new Date('2025-06-30T12:00:00Z') }),
      ]);
      expect(outcomes).toEqual(['recorded', 'recorded', 'recorded', 'recorded', 'recorded']);
      expect(await recordOne(activity('6', -30, { stays: -1 }))).toBe('recorded');
      expect(await standing()).toEqual({ points: 120, stays: 2 });
      expect(await standing('bob')).toEqual({ points: 7, stays: 0 });
      expect(await standing('ada', 'spa')).toEqual({ points: 8, stays: 0 });
      expect(await standing('ada', 'inn', '2025-01-01')).toEqual({ points: 9, stays: 0 });
    });

    test('a repeated activity changes nothing, even if it is in another year by now', async () => {
      await store.record([activity('1', 100)]);
      expect(await recordOne(activity('1', 100))).toBe('already-recorded');
      expect(await recordOne(activity('1', 100, { year: '2026-04-01' }))).toBe('already-recorded');
      expect(await standing()).toEqual({ points: 100, stays: 0 });
      expect(await standing('ada', 'inn', '2026-04-01')).toBeUndefined();
    });

    test.each<[what: string, change: Partial<DatedActivity>]>([
      ['points', { points: 101 }],
      ['stays', { stays: 1 }],
      ['member', { memberId: 'bob' }],
      ['time', { occurredAt: new Date('2026-06-30T12:00:00.001Z') }],
      ['year', { occurredAt: new Date('2025-06-30T12:00:00Z'), year: '2025-01-01' }],
      ['member, whose ID begins alike', { memberId: 'ad' }],
    ])('the same ID with another %s is refused and changes nothing', async (_, change) => {
      await store.record([activity('1', 100)]);
      const changed = activity('1', 100, change);
      expect(await recordOne(changed)).toBe('conflict');
      expect(await standing()).toEqual({ points: 100, stays: 0 });
      if (change.memberId ?? change.year) {
        expect(await standing(changed.memberId, 'inn', changed.year)).toBeUndefined();
      }
    });

    test('the same ID with another partner is another activity', async () => {
      const spa = { partnerId: 'spa', memberId: 'bob' };
      expect(await store.record([activity('1', 100), activity('1', 7, spa)])).toEqual([
        'recorded',
        'recorded',
      ]);
      expect(await recordOne(activity('1', 7, spa))).toBe('already-recorded');
      expect(await recordOne(activity('1', 100, spa))).toBe('conflict');
      expect(await standing()).toEqual({ points: 100, stays: 0 });
      expect(await standing('bob', 'spa')).toEqual({ points: 7, stays: 0 });
      expect(await store.latestActivities('spa', 'bob', 5)).toMatchObject([
        { activityId: '1', partnerId: 'spa', points: 7 },
      ]);
      await store.eraseMember('ada');
      expect(await standing('bob', 'spa')).toEqual({ points: 7, stays: 0 });
      expect(await recordOne(activity('1', 7, spa))).toBe('already-recorded');
    });

    test('an activity that would take a sum out of Int is refused until it fits', async () => {
      await store.record([
        activity('1', BILLION),
        activity('2', BILLION),
        activity('3', INT_MAX - 2 * BILLION),
      ]);
      expect(await standing()).toEqual({ points: INT_MAX, stays: 0 });
      expect(await store.record([activity('4', 1), activity('4', 1), activity('4', 1)])).toEqual([
        'out-of-range',
        'out-of-range',
        'out-of-range',
      ]);
      expect(await recordOne(activity('5', -1, { stays: 1 }))).toBe('recorded');
      expect(await recordOne(activity('4', 1))).toBe('recorded');
      expect(await standing()).toEqual({ points: INT_MAX, stays: 1 });
      await store.record([
        activity('6', -BILLION, { memberId: 'bob' }),
        activity('7', -BILLION, { memberId: 'bob' }),
      ]);
      expect(await recordOne(activity('8', INT_MIN + 2 * BILLION, { memberId: 'bob' }))).toBe(
        'recorded',
      );
      expect(await recordOne(activity('9', -1, { memberId: 'bob' }))).toBe('out-of-range');
      expect(await standing('bob')).toEqual({ points: INT_MIN, stays: 0 });
    });

    test('stays are kept within Int as well', async () => {
      const stays = [BILLION, BILLION, BILLION].map((one, index) =>
        activity(`${index}`, 1, { stays: one }),
      );
      expect(await store.record(stays)).toEqual(['recorded', 'recorded', 'out-of-range']);
      expect(await standing()).toEqual({ points: 2, stays: 2 * BILLION });
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

    test('a batch of thousands is recorded once, and an empty one does nothing', async () => {
      expect(await store.record([])).toEqual([]);
      expect(count(await store.record(IMPORT), 'recorded')).toBe(IMPORT.length);
      expect(count(await store.record(IMPORT), 'already-recorded')).toBe(IMPORT.length);
      await expectImported();
    });

    test('outcomes and sums are those of a model, for any batches', async () => {
      const small = fc.constantFrom('a', 'b');
      const anyActivity = fc.record({
        activityId: fc.constantFrom('1', '2', '3', '4', '5', '6'),
        partnerId: small,
        memberId: small,
        points: fc.constantFrom(-BILLION, -1, 1, BILLION),
        stays: fc.constantFrom(0, 1),
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
      await store.record(IMPORT);
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
      await store.record([activity('1', 5), activity('2', 7, { memberId: 'bob' })]);
      expect(await store.eraseMember('ada')).toBe(1);
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

  describe('several processes', () => {
    test(
      `an import that is killed ${KILLS} times and repeated gives the right sums`,
      async () => {
        for (let number = 0; number < KILLS; number += 2)
          await Promise.all([importUntilKilled(number), importUntilKilled(number + 1)]);
        const all = Array.from({ length: KILLS }, (_, number) => importOf(number)).flat();
        const repeated = await store.record(all);
        expect(count(repeated, 'already-recorded')).toBeGreaterThanOrEqual(50 * KILLS);
        expect(count(repeated, 'recorded') + count(repeated, 'already-recorded')).toBe(all.length);
        await expectImported(all);
        const found = new Set<string>();
        for await (const { activityId } of store.activitiesOf('busy')) found.add(activityId);
        expect(found.size).toBe(all.length / 2);
      },
      120_000 + 10_000 * KILLS,
    );
  });

  describe('programs', () => {
    const program: Program = {
      membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
      tiers: [
        { name: 'Basic', points: 0 },
        { name: 'Plus', points: 2_500 },
      ],
    };

    test('a program is read back, also by a store opened later', async () => {
      expect(await store.program('inn')).toBeUndefined();
      await store.putProgram('inn', program);
      expect(await store.program('inn')).toEqual(program);
      expect(await store.program('spa')).toBeUndefined();
      expect(await (await place.open()).program('inn')).toEqual(program);
    });

    test('a program replaces the one before it', async () => {
      await store.putProgram('inn', program);
      const next = { ...program, tiers: [{ name: 'Only', points: 0 }] };
      await store.putProgram('inn', next);
      expect(await store.program('inn')).toEqual(next);
      await store.putProgram('inn', { ...next, tierValidity: 'nextYear' });
      expect(await (await place.open()).program('inn')).toEqual({
        ...next,
        tierValidity: 'nextYear',
      });
      await store.putProgram('inn', next);
      expect(await store.program('inn')).toStrictEqual(next);
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
    await store.record([activity('1', 5)]);
    expect(await store.isEmpty()).toBe(false);
    const later = await place.open();
    expect(await later.standing('inn', 'ada', '2026-01-01')).toEqual({ points: 5, stays: 0 });
    await expect(later.ready()).resolves.toBeUndefined();
  });

  test('it is not empty once a program is stored', async () => {
    await store.putProgram('inn', {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: [{ name: 'Only', points: 0 }],
    });
    expect(await store.isEmpty()).toBe(false);
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

test('on lmdb, reads take no promise', async () => {
  const place = newPlace('lmdb');
  const store = await place.open();
  await store.record([activity('1', 5)]);
  expect(store.program('inn')).toBeUndefined();
  expect(store.standing('inn', 'ada', '2026-01-01')).toEqual({ points: 5, stays: 0 });
  await place.release();
});

/** The outcome of an activity, by the rules and without a store. */
function inModel(
  sums: Map<string, Standing>,
  known: Map<string, string>,
  one: DatedActivity,
): RecordOutcome {
  const content = JSON.stringify([
    one.partnerId,
    one.memberId,
    one.points,
    one.stays,
    one.occurredAt,
  ]);
  const id = `${one.partnerId}/${one.activityId}`;
  const before = known.get(id);
  if (before !== undefined) return before === content ? 'already-recorded' : 'conflict';
  const key = `${one.partnerId}/${one.memberId}/${one.year}`;
  const { points, stays } = sums.get(key) ?? { points: 0, stays: 0 };
  if (points + one.points > INT_MAX || points + one.points < INT_MIN) return 'out-of-range';
  sums.set(key, { points: points + one.points, stays: stays + one.stays });
  known.set(id, content);
  return 'recorded';
}

function byId(one: Activity, other: Activity): number {
  return one.activityId < other.activityId ? -1 : 1;
}

function byPlace(one: MemberStanding, other: MemberStanding): number {
  return `${one.partnerId}${one.year}` < `${other.partnerId}${other.year}` ? -1 : 1;
}
