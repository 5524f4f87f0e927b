// Activities and the feed on each engine while processes that write them are killed.

import { seeded } from '../../../../test/support/cases/operations.ts';
import type { Engine } from '../../../../test/support/engines.ts';
import { runUntilKilled } from '../../../../test/support/programs/killed.ts';
import { memberEvents, newPlace, type Place } from '../../test/engine.ts';
import type { Event } from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import { heldTier } from '../rules/tiers.ts';
import type { StandingsStore } from '../store/store.ts';
import { createSequencer } from './sequencer.ts';

/** How many processes are killed, an even number. */
const KILLS = Number(process.env.TEST_KILLS ?? 4);
/** What determines when they are killed and what they do. */
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 20);
/** The longest time from a line of a process to its end. */
const LINE_MS = { lmdb: 20, mongodb: 200 } as const;

const PROGRAM: Program = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [0, 50, 100, 150].map((points) => ({ name: `T${points}`, points })),
  tierValidity: 'nextYear',
};

describe.each<Engine>(['lmdb', 'mongodb'])(
  'the feed on %s, whose processes are killed',
  (engine) => {
    const random = seeded(SEED);
    let place: Place;
    let store: StandingsStore;
    beforeEach(async () => {
      place = newPlace(engine);
      store = await place.open();
      await store.putProgram('inn', PROGRAM);
    });
    afterEach(() => place.release());

    const kill = (number: number) => {
      const args = [
        JSON.stringify(place.settings),
        `${number}`,
        `${Math.floor(random() * 2 ** 30)}`,
      ];
      const killed = { random, lineMs: LINE_MS[engine] };
      return runUntilKilled('subgraphs/standings/test/sequencer.ts', args, killed);
    };

    test(
      `${KILLS} of them: what was acknowledged is there, and has its event once, in order, with its change of the tier (seed ${SEED})`,
      async () => {
        const written: string[] = [];
        for (let number = 0; number < KILLS; number += 2)
          written.push(...(await Promise.all([kill(number), kill(number + 1)])).flat());
        // Readers of LMDB may see a killed process's last commit only after another one.
        await store.putProgram('spa', PROGRAM);
        const recorded = await readActivities();
        expect(written.length).toBeGreaterThan(0);
        expect(written.filter((one) => !recorded.has(one))).toEqual([]);
        const events = await readFeed();
        const ofMembers = events.filter(({ memberId }) => memberId === 'eve');
        expect(ofMembers.map(({ id }) => id)).toEqual(memberEvents().map(({ event }) => event.id));
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
        const changed = events.filter(({ type }) => type === 'POINTS_CHANGED');
        expect(changed.map(({ activityId }) => activityId).sort()).toEqual(
          [...recorded.keys()].sort(),
        );
        for (const { activityId = '', points } of changed)
          expect(points).toBe(recorded.get(activityId));
        for (const memberId of new Set(changed.map((event) => event.memberId)))
          expectConsistent(events.filter((event) => event.memberId === memberId));
        expect(await place.faults()).toEqual([]);
      },
      60_000 + 10_000 * KILLS,
    );

    /** The points of all activities. */
    async function readActivities(): Promise<Map<string, number>> {
      const found = new Map<string, number>();
      const own = Array.from({ length: KILLS }, (_, number) => `own-${number}`);
      for (const memberId of ['ada', 'bob', ...own])
        for await (const { activityId, points } of store.activitiesOf(memberId))
          found.set(activityId, points);
      return found;
    }

    /** Gives the last positions. All of them are consecutive. */
    async function readFeed(): Promise<Event[]> {
      const members = {
        pendingEvents: async () => memberEvents(),
        acknowledgeEvents: async () => {},
      };
      const now = () => Date.now() + KILLS * 20_000;
      const sequencer = createSequencer(store.feed, { members, retentionDays: 30, now });
      while (await sequencer.pass());
      const events: Event[] = [];
      for (let after = 0; ; ) {
        const page = await store.feed.page('inn', { after, first: 500, types: undefined });
        if (typeof page === 'string') throw new Error(page);
        for (const { position, event } of page.events) expect(events.push(event)).toBe(position);
        if (!page.hasNext) return events;
        after = page.end;
      }
    }

    /** Each process's batches in their order, and each change of the tier after its cause. */
    function expectConsistent(events: Event[]): void {
      const last = new Map<string, number>();
      const points: Record<string, number | undefined> = {};
      const tier = () => heldTier(PROGRAM, points.this ?? 0, points.last).name;
      for (const [index, { type, activityId = '', points: added = 0 }] of events.entries()) {
        if (type !== 'POINTS_CHANGED') continue;
        const [name, lane, batch, year = ''] = activityId.split('/');
        const writer = `${name}/${lane}`;
        expect(Number(batch)).toBeGreaterThanOrEqual(last.get(writer) ?? 0);
        last.set(writer, Number(batch));
        const before = tier();
        points[year] = (points[year] ?? 0) + added;
        const next = events[index + 1];
        const change = next?.type === 'TIER_CHANGED' ? [next.tierBefore, next.tierAfter] : [];
        expect(change).toEqual(tier() === before ? [] : [before, tier()]);
      }
    }
  },
);
