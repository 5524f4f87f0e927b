// The feed on each engine: what gets a position, when, and what a reader sees.

import { setTimeout as pause } from 'node:timers/promises';
import { ENGINES } from '../../../../test/support/engines.ts';
import { until } from '../../../../test/support/until.ts';
import { activity, newPlace, type Place } from '../../test/engine.ts';
import type { PendingMemberEvent } from '../members.ts';
import type { Event, EventType } from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import { dayOf, type EventPage } from '../store/feed.ts';
import type { StandingsStore } from '../store/store.ts';
import { createSequencer } from './sequencer.ts';

const DAY_MS = 86_400_000;
const TIERS: Program = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [
    { name: 'Blue', points: 0 },
    { name: 'Gold', points: 100 },
  ],
};

/** An outbox of members as its subgraph answers for it. */
function membersOutbox() {
  let pending: PendingMemberEvent[] = [];
  let count = 0;
  const outbox = {
    isDown: false,
    add(type: EventType, memberId: string, more: Partial<Event> = {}) {
      count += 1;
      const occurredAt = Date.now();
      const event = { id: `m-${count}`, type, memberId, partnerId: 'inn', occurredAt, ...more };
      pending.push({ ack: `${count}`, event, occurredAt: event.occurredAt });
    },
    async pendingEvents(first: number) {
      if (outbox.isDown) throw new Error('members is down');
      return pending.slice(0, first);
    },
    async acknowledgeEvents(acks: readonly string[]) {
      if (outbox.isDown) throw new Error('members is down');
      pending = pending.filter(({ ack }) => !acks.includes(ack));
    },
    left: () => pending.length,
  };
  return outbox;
}

describe.each(ENGINES)('the feed on %s', (engine) => {
  let place: Place;
  let store: StandingsStore;
  let members: ReturnType<typeof membersOutbox>;
  let now: number | undefined;

  beforeEach(async () => {
    place = newPlace(engine);
    store = await place.open();
    members = membersOutbox();
    now = undefined;
  });
  afterEach(() => place.release());

  const sequencerOf = (from: StandingsStore, retentionDays = 30) =>
    createSequencer(from.feed, { members, retentionDays, now: () => now ?? Date.now() });
  /** Gives positions to everything, in one turn with the lease. */
  const sequence = async (from = store, retentionDays?: number) => {
    const sequencer = sequencerOf(from, retentionDays);
    while ((await sequencer.pass()) === true);
    await sequencer.release();
  };
  const page = async (
    after?: number,
    {
      first = 500,
      types,
      partnerId = 'inn',
    }: { first?: number; types?: EventType[]; partnerId?: string } = {},
  ) => store.feed.page(partnerId, { after, first, types: types && new Set(types) });
  const read = async (...query: Parameters<typeof page>): Promise<EventPage> => {
    const found = await page(...query);
    if (typeof found === 'string') throw new Error(found);
    return found;
  };
  const eventsOf = async (...query: Parameters<typeof page>) =>
    (await read(...query)).events.map(({ event }) => event);
  const textsOf = async (...query: Parameters<typeof page>) =>
    (await eventsOf(...query)).map(({ type, memberId, points, activityId }) =>
      [type, memberId, activityId, points].filter((one) => one !== undefined).join(' '),
    );
  const thisYear = { occurredAt: new Date(), year: `${new Date().getUTCFullYear()}-01-01` };
  const many = (count: number, from = 0, memberId = 'ada') =>
    Array.from({ length: count }, (_, index) => activity(`a-${from + index}`, 1, { memberId }));

  describe('recording', () => {
    test('each recorded activity has one event, and nothing else has', async () => {
      await store.record([activity('1', 5), activity('1', 5), activity('1', 6)]);
      await store.record([activity('1', 5), activity('2', -3, { memberId: 'bob' })]);
      await store.record([activity('3', 2 ** 31 - 1)]);
      await sequence();
      expect(await textsOf()).toEqual(['POINTS_CHANGED ada 1 5', 'POINTS_CHANGED bob 2 -3']);
    });

    test('an event holds no more than its type has', async () => {
      await store.record([activity('1', 5)]);
      await sequence();
      expect(await eventsOf()).toEqual([
        {
          id: expect.any(String),
          type: 'POINTS_CHANGED',
          partnerId: 'inn',
          memberId: 'ada',
          activityId: '1',
          points: 5,
          occurredAt: expect.any(Number),
        },
      ]);
    });

    test('activities of earlier years have events too, but change no tier', async () => {
      await store.putProgram('inn', TIERS);
      await store.record([activity('1', 500, { year: '2020-01-01' })]);
      await sequence();
      expect(await textsOf()).toEqual(['POINTS_CHANGED ada 1 500']);
    });

    test('events come to their partner alone', async () => {
      await store.record([activity('1', 5), activity('1', 7, { partnerId: 'spa' })]);
      await sequence();
      expect(await textsOf(undefined, { partnerId: 'spa' })).toEqual(['POINTS_CHANGED ada 1 7']);
      expect(await textsOf(undefined, { partnerId: 'pub' })).toEqual([]);
    });
  });

  describe('tiers', () => {
    test('TIER_CHANGED comes once for each change of the tier held, after its POINTS_CHANGED', async () => {
      await store.putProgram('inn', TIERS);
      await store.record([
        activity('1', 60, thisYear),
        activity('2', 60, thisYear),
        activity('3', 60, thisYear),
      ]);
      await store.record([activity('4', -150, thisYear)]);
      await sequence();
      const events = await eventsOf();
      const tiers = events.flatMap(({ type, tierBefore, tierAfter }, index) =>
        type === 'TIER_CHANGED' ? [[tierBefore, tierAfter, events[index - 1]?.points]] : [],
      );
      expect(tiers).toEqual([
        ['Blue', 'Gold', 60],
        ['Gold', 'Blue', -150],
      ]);
      expect(events).toHaveLength(6);
    });

    const lastYear = { ...thisYear, year: `${new Date().getUTCFullYear() - 1}-01-01` };
    const tiersOf = async () =>
      (await eventsOf()).flatMap(({ type, tierBefore, tierAfter }, index, events) => {
        if (type === 'TIER_CHANGED') return [];
        const next = events[index + 1];
        const isFollowed = next?.type === 'TIER_CHANGED';
        return [
          isFollowed ? `${next.tierBefore}-${next.tierAfter}` : (tierBefore ?? tierAfter ?? ''),
        ];
      });

    test('where tiers are valid to the end of the next year, the higher of two years is held', async () => {
      await store.putProgram('inn', { ...TIERS, tierValidity: 'nextYear' });
      // The sequencer runs after each change, and once after all of them: both see the same.
      for (const [memberId, isAtOnce] of [
        ['ada', true],
        ['bob', false],
      ] as const) {
        const before = (await tiersOf()).length;
        for (const [id, points, year] of [
          ['1', 150, lastYear],
          ['2', 120, thisYear],
          ['3', -100, lastYear],
          ['4', -50, thisYear],
          ['5', 60, lastYear],
          ['6', 80, thisYear],
          ['7', -200, lastYear],
          ['8', -200, thisYear],
        ] as const) {
          await store.record([activity(`${memberId}-${id}`, points, { ...year, memberId })]);
          await pause(2);
          if (isAtOnce) await sequence();
        }
        await sequence();
        expect((await tiersOf()).slice(before)).toEqual([
          'Blue-Gold',
          '',
          '',
          'Gold-Blue',
          'Blue-Gold',
          '',
          '',
          'Gold-Blue',
        ]);
      }
    });

    test('a program that changes after a recording does not change what the tier was then', async () => {
      await store.putProgram('inn', TIERS);
      await store.record([activity('1', 150, lastYear), activity('2', 120, thisYear)]);
      await store.changeProgram('inn', { ...TIERS, tierValidity: 'nextYear' });
      await sequence();
      const changes = (await tiersOf()).filter((one) => one !== '');
      expect(changes).toEqual(['Blue-Gold']);
    });

    test('a changed program causes one PROGRAM_CHANGED, and no TIER_CHANGED', async () => {
      await store.putProgram('inn', TIERS);
      await store.record([activity('1', 60, thisYear)]);
      const lower = { ...TIERS, tiers: [{ name: 'Gold', points: 0 }] };
      await store.changeProgram('inn', lower);
      await store.changeProgram('inn', lower);
      await sequence();
      expect(await textsOf()).toEqual(['POINTS_CHANGED ada 1 60', 'PROGRAM_CHANGED']);
      expect(await store.program('inn')).toEqual(lower);
    });
  });

  describe('positions', () => {
    test('events of members and of standings come in the order of their time', async () => {
      members.add('MEMBER_ENROLLED', 'ada', { externalId: 'x' });
      await pause(5);
      await store.record([activity('1', 5)]);
      await pause(5);
      members.add('ENROLLMENT_ENDED', 'ada');
      await sequence();
      expect(await textsOf()).toEqual([
        'MEMBER_ENROLLED ada',
        'POINTS_CHANGED ada 1 5',
        'ENROLLMENT_ENDED ada',
      ]);
      expect(members.left()).toBe(0);
    });

    test('nothing gets a position while members cannot be reached', async () => {
      await store.record([activity('1', 5)]);
      members.isDown = true;
      await expect(sequencerOf(store).pass()).rejects.toThrow('members is down');
      expect(await textsOf()).toEqual([]);
    });

    test('events whose acknowledgement was lost come once', async () => {
      members.add('MEMBER_ENROLLED', 'ada');
      members.add('MEMBER_UPDATED', 'ada');
      const { acknowledgeEvents } = members;
      members.acknowledgeEvents = () => Promise.reject(new Error('killed'));
      const killed = sequencerOf(store);
      await expect(killed.pass()).rejects.toThrow('killed');
      await expect(killed.pass()).rejects.toThrow('killed');
      await killed.release();
      members.acknowledgeEvents = acknowledgeEvents;
      members.add('ENROLLMENT_ENDED', 'ada');
      await sequence(await place.open());
      expect(await textsOf()).toEqual([
        'MEMBER_ENROLLED ada',
        'MEMBER_UPDATED ada',
        'ENROLLMENT_ENDED ada',
      ]);
    });

    test('an unacknowledged event comes once, though a later pass takes fewer of members', async () => {
      const start = Date.now();
      const event = (index: number) => {
        const occurredAt = start + index;
        return { id: `m-${index}`, type: 'MEMBER_UPDATED' as const, partnerId: 'inn', occurredAt };
      };
      const events = [event(0), event(1), event(2)];
      const sequencer = sequencerOf(store);
      await sequencer.pass();
      const token = (await store.feed.leases.get('sequencer'))?.token ?? '';
      const taken: number[] = [];
      for (const until of [start + 2, start, start + 2]) {
        const batch = { token, members: { events, until }, ownUntil: start, at: start };
        taken.push((await store.feed.append(batch)).taken);
      }
      await sequencer.release();
      expect(taken).toEqual([3, 1, 3]);
      expect((await eventsOf()).map(({ id }) => id)).toEqual(['m-0', 'm-1', 'm-2']);
    });

    test('a lease that its holder does not renew is taken over after ten seconds', async () => {
      const start = Date.now();
      now = start;
      const holder = sequencerOf(store);
      const other = sequencerOf(await place.open());
      expect(await holder.pass()).toBe(false);
      now = start + 9_999;
      expect(await other.pass()).toBeUndefined();
      now = start + 10_000;
      expect(await other.pass()).toBe(false);
      expect(await holder.pass()).toBeUndefined();
      await other.release();
      // On LMDB, a read may be as of a moment ago.
      await until(async () => (await holder.pass()) === false);
    });

    test('who has lost the lease while it read gives no positions', async () => {
      members.add('MEMBER_ENROLLED', 'ada');
      const slow = createSequencer(store.feed, {
        retentionDays: 30,
        members: {
          ...members,
          async pendingEvents(first) {
            const found = await members.pendingEvents(first);
            now = Date.now() + 11_000;
            await sequence();
            return found;
          },
        },
        now: () => now ?? Date.now(),
      });
      await expect(slow.pass()).rejects.toThrow('another process has the lease');
      expect(await eventsOf()).toHaveLength(1);
    });

    test('a lease whose renewal was written, but not answered, stays with its holder', async () => {
      const { leases } = store.feed;
      const update: typeof leases.update = async (...args) => {
        leases.update = written;
        await written(...args);
        throw new Error('no answer');
      };
      const written = leases.update;
      leases.update = update;
      const holder = sequencerOf(store);
      await expect(holder.pass()).rejects.toThrow('no answer');
      expect(await holder.pass()).toBe(false);
      expect(await sequencerOf(await place.open()).pass()).toBeUndefined();
    });

    test('a reader under concurrent appends never skips and never repeats', async () => {
      const other = await place.open();
      let isDone = false;
      const seen: string[] = [];
      const reader = async () => {
        for (let after = 0; ; ) {
          const wasDone = isDone;
          const { events, end } = await read(after, { first: 7 });
          seen.push(...events.map(({ event }) => event.activityId ?? ''));
          if (wasDone && end === after) return;
          after = end;
          await pause(0);
        }
      };
      const writer = async () => {
        for (let round = 0; round < 15; round += 1) {
          await Promise.all(
            ['ada', 'bob', 'eve'].map((memberId, part) =>
              store.record(many(10, round * 30 + part * 10, memberId)),
            ),
          );
          await sequence(round % 2 === 0 ? store : other);
        }
        isDone = true;
      };
      await Promise.all([reader(), writer()]);
      expect(seen).toHaveLength(450);
      expect(new Set(seen).size).toBe(450);
    });
  });

  describe('pages', () => {
    test('have as many events as asked for, and go on after any of them', async () => {
      for (const from of [0, 300]) await store.record(many(300, from));
      await sequence();
      const all = (await read(undefined, { first: 600 })).events;
      expect(new Set(all.map(({ event }) => event.activityId)).size).toBe(600);
      for (const after of [0, 1, 99, 100, 101, 599]) {
        const { events, hasNext, end } = await read(after, { first: 60 });
        expect(events).toEqual(all.slice(after, after + 60));
        expect(hasNext).toBe(after + 60 < 600);
        expect(end).toBe(Math.min(after + 60, 600));
      }
      expect(await read(600)).toEqual({ events: [], end: 600, hasNext: false });
      expect(await page(601)).toBe('unknown');
    });

    test('a page with types looks at ten times as many events, and says where to go on', async () => {
      await store.record(many(45));
      await pause(5);
      members.add('MEMBER_UPDATED', 'ada');
      await sequence();
      const updated = { first: 2, types: ['MEMBER_UPDATED'] satisfies EventType[] };
      expect(await read(undefined, updated)).toEqual({ events: [], end: 20, hasNext: true });
      expect(await read(20, updated)).toEqual({ events: [], end: 40, hasNext: true });
      expect(await read(40, updated)).toMatchObject({
        events: [{ position: 46 }],
        end: 46,
        hasNext: false,
      });
    });
  });

  describe('retention', () => {
    test('events are dropped by whole days, and positions go on', async () => {
      const today = Date.now();
      now = today;
      await store.record(many(3));
      await sequence(store, 2);
      now = today + 3 * DAY_MS;
      await store.record(many(2, 3));
      await sequence(store, 2);
      expect((await read()).events.map(({ position }) => position)).toEqual([4, 5]);
      expect((await read(3)).events).toHaveLength(2);
      expect((await read(5)).events).toEqual([]);
      for (const after of [0, 1, 2]) expect(await page(after)).toBe('expired');
      await store.feed.dropBefore(dayOf(now) + 1);
      expect(await read()).toEqual({ events: [], end: 5, hasNext: false });
      expect(await read(5)).toEqual({ events: [], end: 5, hasNext: false });
      expect(await page(4)).toBe('expired');
    });

    test('a day is kept for as many days as set', async () => {
      await store.record(many(1));
      await sequence(store, 1);
      const nextDay = (dayOf(Date.now()) + 1) * DAY_MS;
      now = nextDay + DAY_MS - 1;
      await sequence(store, 1);
      expect(await textsOf()).toHaveLength(1);
      now = nextDay + DAY_MS;
      await sequence(store, 1);
      expect(await textsOf()).toHaveLength(0);
    });
  });

  describe('years', () => {
    const END = Date.UTC(2027, 0, 1);
    test('YEAR_ENDED is one per partner and year, for years that ended while nothing ran too', async () => {
      await store.putProgram('inn', TIERS);
      await store.record([activity('1', 1, { partnerId: 'spa' })]);
      now = Date.UTC(2026, 11, 31, 23, 59);
      await sequence();
      expect((await read()).events).toEqual([]);
      now = Date.UTC(2028, 0, 1);
      await sequence();
      await sequence(await place.open());
      for (const partnerId of ['inn', 'spa']) {
        const ended = await eventsOf(undefined, { partnerId, types: ['YEAR_ENDED'] });
        expect(ended.map(({ occurredAt }) => occurredAt)).toEqual([END, Date.UTC(2028, 0, 1)]);
      }
    });
  });

  describe('erasing', () => {
    const ids = async () =>
      (await eventsOf()).map(({ memberId, externalId, activityId }) => [
        memberId,
        externalId,
        activityId,
      ]);

    test('leaves an erased member’s events nothing but the member ID, before and after their position', async () => {
      members.add('MEMBER_ENROLLED', 'ada', { externalId: 'secret' });
      members.add('MEMBER_ENROLLED', 'bob', { externalId: 'x' });
      await store.record([activity('1', 5), activity('2', 5, { memberId: 'bob' })]);
      await sequence();
      await store.record([activity('3', 5), activity('4', 5, { memberId: 'bob' })]);
      members.add('EXTERNAL_ID_CHANGED', 'ada', { externalId: 'secret' });
      await store.eraseMember('ada');
      await sequence();
      const found = await ids();
      expect(found).toHaveLength(7);
      expect(found.filter(([memberId]) => memberId === 'ada')).toEqual(
        Array.from({ length: 4 }, () => ['ada', undefined, undefined]),
      );
      expect(found.filter(([memberId]) => memberId === 'bob')).toEqual([
        ['bob', 'x', undefined],
        ['bob', undefined, '2'],
        ['bob', undefined, '4'],
      ]);
    });

    test('a sequencer that has read an event before an erasure does not bring its IDs back', async () => {
      await store.record([activity('1', 5)]);
      members.add('MEMBER_ENROLLED', 'ada', { externalId: 'secret' });
      const { pendingEvents } = members;
      members.pendingEvents = async (first) => {
        const found = await pendingEvents(first);
        members.pendingEvents = pendingEvents;
        await store.eraseMember('ada');
        return found;
      };
      await sequence();
      expect(await ids()).toEqual([
        ['ada', undefined, undefined],
        ['ada', undefined, undefined],
      ]);
    });
  });
});
