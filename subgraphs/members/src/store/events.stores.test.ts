// Each change of a member is stored with its events, on each engine and whenever a process dies.

import { seeded } from '../../../../test/support/cases/operations.ts';
import { ENGINES } from '../../../../test/support/engines.ts';
import { runUntilKilled } from '../../../../test/support/programs/killed.ts';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import type { MemberEvent } from '../rules/events.ts';
import { EVENTS } from './rows.ts';
import { type MembersStore, openRows } from './store.ts';

/** How many processes are killed while they write, an even number. */
const KILLS = Number(process.env.TEST_KILLS ?? 4);
/** What determines when they are killed and what they do. */
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 20);
/** The longest time from a line of a process to its end. */
const LINE_MS = { lmdb: 10, mongodb: 100 } as const;

/** A line of test/writer.ts. */
type Said = {
  event?: MemberEvent;
  erased?: string;
  memberId?: string;
  firstName?: string;
  externalId?: string;
};

describe.each(ENGINES)('events on %s', (engine) => {
  let place: Place;
  let store: MembersStore;
  beforeEach(async () => {
    place = newPlace(engine);
    store = await place.open();
  });
  afterEach(() => place.release());

  const pending = async (limit = 1_000) =>
    (await store.events.pending(limit)).map(({ event }) => event);
  const acknowledge = async (limit = 1_000) => {
    const found = await store.events.pending(limit);
    await store.events.acknowledge(found.map(({ ack }) => ack));
    return found.map(({ event }) => event);
  };
  async function acknowledgeAll(limit?: number): Promise<MemberEvent[]> {
    const all: MemberEvent[] = [];
    for (;;) {
      const some = await acknowledge(limit);
      if (some.length === 0) return all;
      all.push(...some);
    }
  }
  const told = (events: MemberEvent[]) =>
    events.map(({ type, partnerId, memberId }) => `${type} ${partnerId} ${memberId}`);
  const importAda = (more: Parameters<typeof memberImport>[1] = {}) =>
    store.importMembers([
      memberImport('ada@example.com', {
        memberId: 'ada',
        enrollments: [
          { partnerId: 'inn', externalId: 'A-1' },
          { partnerId: 'spa', status: 'ENDED' },
        ],
        ...more,
      }),
    ]);
  test('every change that a partner sees has its events, oldest first', async () => {
    await importAda();
    await importAda({ enrollments: [{ partnerId: 'pub' }] });
    await store.changeExternalId('inn', 'ada', 'A-2');
    await importAda({ firstName: 'Ada', enrollments: [] });
    await store.endEnrollment('inn', 'ada');
    await store.enroll({ partnerId: 'inn', address: address('ada@example.com') });
    const events = await pending();
    expect(told(events)).toEqual([
      'MEMBER_ENROLLED inn ada',
      'MEMBER_ENROLLED pub ada',
      'EXTERNAL_ID_CHANGED inn ada',
      'MEMBER_UPDATED inn ada',
      'MEMBER_UPDATED pub ada',
      'ENROLLMENT_ENDED inn ada',
      'MEMBER_ENROLLED inn ada',
    ]);
    expect(events.map(({ externalId }) => externalId ?? '').join()).toBe('A-1,,A-2,A-2,,A-2,');
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  test('events stay until they are acknowledged, and repeating that is harmless', async () => {
    await importAda();
    const before = await pending();
    await place.closeAll();
    store = await place.open();
    const found = await store.events.pending(10);
    expect(found.map(({ event }) => event)).toEqual(before);
    const acks = [...found.map(({ ack }) => ack), '#1 ada #2 #3', 'nothing', ''];
    await store.events.acknowledge(acks);
    await store.events.acknowledge(acks);
    await store.events.acknowledge([]);
    expect(await pending()).toEqual([]);
    expect(await store.member('ada')).toMatchObject({ memberId: 'ada' });
  });

  test('the events of an import are taken over in parts, each once, and a member keeps its order', async () => {
    const imports = Array.from({ length: 400 }, (_, index) =>
      memberImport(`m${index % 200}@example.com`, {
        memberId: `m${index % 200}`,
        firstName: `${index}`,
        enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa' }],
      }),
    );
    await store.importMembers(imports);
    const events = await acknowledgeAll(37);
    expect(new Set(events.map(({ id }) => id)).size).toBe(800);
    for (const memberId of ['m0', 'm199'])
      expect(told(events.filter((one) => one.memberId === memberId))).toEqual([
        `MEMBER_ENROLLED inn ${memberId}`,
        `MEMBER_ENROLLED spa ${memberId}`,
        `MEMBER_UPDATED inn ${memberId}`,
        `MEMBER_UPDATED spa ${memberId}`,
      ]);
  });

  test('a writer beside whoever takes events over neither loses one nor brings one back', async () => {
    await importAda();
    // On LMDB, a process has each store open once.
    const other = engine === 'lmdb' ? store : await place.open();
    let isDone = false;
    const writing = (async () => {
      for (let count = 1; count <= 30; count += 1)
        await other.changeExternalId('inn', 'ada', `A-${count}x`);
      isDone = true;
    })();
    const events: MemberEvent[] = [];
    while (!isDone) events.push(...(await acknowledge(3)));
    await writing;
    events.push(...(await acknowledgeAll()));
    expect(events.map(({ externalId }) => externalId)).toEqual([
      'A-1',
      ...Array.from({ length: 30 }, (_, index) => `A-${index + 1}x`),
    ]);
  });

  describe('of an erased member', () => {
    test('every partner that ever enrolled the member is told, and nothing but the ID is left', async () => {
      await importAda();
      expect(await store.rights.erase('ada')).toBe(true);
      const events = await pending();
      expect(told(events)).toEqual([
        'MEMBER_ENROLLED inn ada',
        'MEMBER_ERASED inn ada',
        'MEMBER_ERASED spa ada',
      ]);
      expect(JSON.stringify(events)).not.toContain('A-1');
    });

    test('no read sees what keeps them', async () => {
      await importAda();
      await store.rights.erase('ada');
      expect([
        await store.member('ada'),
        await store.memberById('inn', 'ada'),
        await store.memberByEmail('inn', 'ada@example.com'),
        await store.memberByExternalId('inn', 'A-1'),
        await store.rights.find('ada'),
        await store.endEnrollment('inn', 'ada'),
        await store.isEmpty(),
        await store.rights.erase('ada'),
        await place.verify(),
      ]).toEqual([...Array(5).fill(undefined), false, true, false, { members: 0, faults: [] }]);
    });

    test('several can wait, and one can be imported again, with its events after those', async () => {
      await importAda();
      await store.importMembers([
        memberImport('bea@example.com', { memberId: 'bea', enrollments: [{ partnerId: 'inn' }] }),
      ]);
      await store.rights.erase('ada');
      await store.rights.erase('bea');
      await store.rights.liftMark('ada');
      expect(await importAda()).toEqual(['added']);
      expect(await store.memberByExternalId('inn', 'A-1')).toMatchObject({ memberId: 'ada' });
      const events = await acknowledgeAll();
      expect(told(events.filter(({ memberId }) => memberId === 'ada'))).toEqual([
        'MEMBER_ENROLLED inn ada',
        'MEMBER_ERASED inn ada',
        'MEMBER_ERASED spa ada',
        'MEMBER_ENROLLED inn ada',
      ]);
      expect(await place.verify()).toEqual({ members: 1, faults: [] });
    });
  });

  test('verify reports events that are not valid', async () => {
    await importAda();
    const rows = await openRows({ ...place.settings, environment: 'sandbox' });
    await rows.transact((tx) => tx.put(EVENTS, [1, 'ada', 1, 0], { type: 'NONE' } as never));
    await rows.close();
    expect(await place.verify()).toEqual({
      members: 1,
      faults: ['the event at 1: it is not valid'],
    });
  });

  describe('whose processes are killed', () => {
    const random = seeded(SEED);
    /** What processes have said, without a line that was cut off. */
    const said: Said[] = [];

    /** Starts a process that writes, and kills it at a random point. */
    async function writeUntilKilled(name: string, ...takes: string[]): Promise<void> {
      const args = [JSON.stringify(place.settings), name, `${Math.floor(random() * 2 ** 30)}`];
      const program = 'subgraphs/members/test/writer.ts';
      const killed = { random, lineMs: LINE_MS[engine] };
      for (const line of await runUntilKilled(program, [...args, ...takes], killed))
        said.push(JSON.parse(line));
    }

    test(
      `${KILLS} of them: all changes have their events, and all events their changes, once and in order (seed ${SEED})`,
      async () => {
        for (let number = 0; number < KILLS; number += 2)
          await Promise.all([writeUntilKilled('a', 'takes'), writeUntilKilled('b')]);
        for (const { erased } of said) if (erased !== undefined) await store.rights.erase(erased);
        const taken = said.flatMap(({ event }) => event ?? []);
        const events = [...taken, ...(await acknowledgeAll())];
        const byId = new Map<string, MemberEvent>();
        for (const event of events)
          if (!byId.has(event.id)) byId.set(event.id, event);
          else
            expect({ ...event, externalId: 0 }).toEqual({ ...byId.get(event.id), externalId: 0 });
        const ownOf = (id: string) => [...byId.values()].filter(({ memberId }) => memberId === id);

        const members = ['a', 'b'].flatMap((name) =>
          [1, 2].flatMap((lane) => [0, 1, 2, 3].map((index) => `m-${name}${lane}-${index}`)),
        );
        for (const memberId of members) await expectTold(memberId, ownOf(memberId));
        for (const { erased } of said) if (erased !== undefined) expectErased(ownOf(erased));
        expect((await place.verify()).faults).toEqual([]);
        expect(byId.size).toBeGreaterThan(10 * KILLS);
      },
      60_000 + 10_000 * KILLS,
    );

    /** Expects a member's events to be those of what was done, which the record has counted. */
    async function expectTold(memberId: string, events: MemberEvent[]): Promise<void> {
      const member = await store.member(memberId);
      const [inn, spa] = member?.enrollments ?? [];
      const eventsOf = (partnerId: string, type?: string) =>
        events.filter((one) => one.partnerId === partnerId && one.type === (type ?? one.type));
      const ids = countIn(inn?.externalId);
      expect(eventsOf('inn', 'MEMBER_UPDATED')).toHaveLength(Number(member?.firstName ?? 0));
      expect(eventsOf('inn', 'EXTERNAL_ID_CHANGED').map(({ externalId }) => externalId)).toEqual(
        Array.from({ length: ids }, (_, index) => `${memberId}/${index + 1}`),
      );
      const first = member === undefined ? [] : ['MEMBER_ENROLLED'];
      expect(eventsOf('inn', 'MEMBER_ENROLLED').map(({ type }) => type)).toEqual(first);
      expect(eventsOf('inn').at(-1)?.occurredAt).toBe(inn?.updatedAt);

      const changes = eventsOf('spa').filter(({ type }) => type !== 'MEMBER_UPDATED');
      expect(changes.map(({ type }) => type)).toEqual(
        changes.map((_, index) => (index % 2 === 0 ? 'MEMBER_ENROLLED' : 'ENROLLMENT_ENDED')),
      );
      expect(changes.length % 2 === 1).toBe(spa?.status === 'ACTIVE');
      expect(eventsOf('spa').at(-1)?.occurredAt).toBe(spa?.updatedAt);

      const times = events.map(({ occurredAt }) => occurredAt);
      expect(times).toEqual([...times].sort((one, other) => one - other));
      for (const line of said.filter((one) => one.memberId === memberId)) {
        expect(Number(line.firstName ?? 0)).toBeLessThanOrEqual(Number(member?.firstName ?? 0));
        expect(countIn(line.externalId)).toBeLessThanOrEqual(ids);
      }
    }
    const countIn = (externalId = '') => Number(externalId.split('/')[1] ?? 0);

    function expectErased(events: MemberEvent[]): void {
      if (events.length === 0) return; // Killed before the member was there.
      expect(events.map(({ type, partnerId }) => `${type} ${partnerId}`)).toEqual([
        'MEMBER_ENROLLED inn',
        'MEMBER_ERASED inn',
        'MEMBER_ERASED spa',
      ]);
    }
  });
});
