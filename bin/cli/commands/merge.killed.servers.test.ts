// Merges that are killed at one write after the other, and repeated: nothing is lost or doubled.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type MembersStore, openMembersStore, verifyMembers } from '@partner-loyalty/members';
import {
  openStandingsStore,
  type StandingsStore,
  verifyStandings,
} from '@partner-loyalty/standings';
import { seeded } from '../../../test/support/cases/operations.ts';
import { programArgs } from '../../../test/support/programs/programs.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { bareEnv, loyalty } from '../../../test/support/service/loyalty.ts';

// A merge waits 4.5 s for reads that have begun. Here are none.
jest.mock('node:timers/promises', () => {
  const actual = jest.requireActual('node:timers/promises');
  const setTimeout = (ms: number, ...others: unknown[]) =>
    actual.setTimeout(Math.min(ms, 200), ...others);
  return { ...actual, setTimeout };
});

/** The distance between the tested moments of a kill, in writes of a merge or in milliseconds. */
const EVERY = Number(process.env.TEST_KILL_EVERY ?? 20);
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 20);
/** More than a merge has. */
const MOST = 60;
const YEAR = '2026-01-01';

type Stores = { members: MembersStore; standings: StandingsStore };

describe.each(['lmdb', 'mongodb'] as const)('a merge that is killed, on %s', (engine) => {
  const { settings, release } = emptyPlace(engine);
  const all = {
    ...settings,
    mongodbUrl: settings.mongodbUrl,
    environment: 'sandbox' as const,
    keyEncryptionKey: undefined,
  };
  const env = {
    DATA_DIR: settings.dataDir,
    ...(settings.mongodbUrl && { MONGODB_URL: settings.mongodbUrl }),
  };
  afterAll(release);

  async function withStores<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    const members = await openMembersStore(all);
    const standings = await openStandingsStore(all);
    try {
      return await work({ members, standings });
    } finally {
      await members.close();
      await standings.close();
    }
  }

  const addressOf = (name: string) => ({
    typed: `${name}@x.example`,
    canonical: `${name}@x.example`,
  });
  const activity = (activityId: string, memberId: string, points: number, partnerId = 'inn') => {
    const occurredAt = new Date('2026-05-05T00:00:00Z');
    return { activityId, partnerId, memberId, points, stays: 1, occurredAt, year: YEAR };
  };

  function add(at: number): Promise<void> {
    return withStores(async ({ members, standings }) => {
      await members.importMembers([
        {
          memberId: `old${at}`,
          address: addressOf(`old${at}`),
          previousAddresses: [],
          enrollments: [{ partnerId: 'inn', externalId: `O-${at}` }, { partnerId: 'spa' }],
        },
        {
          memberId: `new${at}`,
          address: addressOf(`new${at}`),
          previousAddresses: [],
          enrollments: [{ partnerId: 'inn', externalId: `N-${at}` }],
        },
      ]);
      await standings.record([
        activity(`a${at}`, `old${at}`, 5),
        activity(`s${at}`, `old${at}`, 7, 'spa'),
        activity(`b${at}`, `new${at}`, 20),
      ]);
    });
  }

  /** Whether the process was killed before the merge was done. */
  async function mergeUntil(write: number, at: number): Promise<boolean> {
    const args = [`${write}`, 'members', 'merge', `old${at}`, `new${at}`, '--json'];
    const child = spawn(
      process.execPath,
      [...programArgs('test/support/store/merger.ts'), ...args],
      { env: { ...bareEnv(), ...env }, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const [code, signal] = await once(child, 'exit');
    if (signal === null) expect(code).toBe(0);
    return signal !== null;
  }

  /** What a partner sees, as the gateway puts it together. */
  async function seen({ members, standings }: Stores, partnerId: string, by: object) {
    const [key] = Object.entries(by).map(([by, value]) => ({ by, value }));
    const [found] = await members.lookUp(partnerId, [key as never]);
    const memberId = found?.member?.memberId;
    if (memberId === undefined) return undefined;
    const sums = await standings.standing(partnerId, memberId, YEAR);
    const activities = await standings.latestActivities(partnerId, memberId, 10);
    return [memberId, sums?.points, activities.map(({ activityId }) => activityId).sort()];
  }

  async function expectBeforeOrAfter(stores: Stores, at: number): Promise<void> {
    const [old, next] = [`old${at}`, `new${at}`];
    const keys = [{ email: `old${at}@x.example` }, { memberId: old }, { externalId: `O-${at}` }];
    for (const key of keys) {
      const before = [old, 5, [`a${at}`]];
      expect([before, [next, 25, [`a${at}`, `b${at}`]]]).toContainEqual(
        await seen(stores, 'inn', key),
      );
    }
    for (const key of keys.slice(0, 2))
      expect([
        [old, 7, [`s${at}`]],
        [next, 7, [`s${at}`]],
      ]).toContainEqual(await seen(stores, 'spa', key));
    const [memberId, points, activities] =
      (await seen(stores, 'inn', {
        email: `new${at}@x.example`,
      })) ?? [];
    expect(memberId).toBe(next);
    expect([20, 25]).toContain(points);
    expect([[`b${at}`], [`a${at}`, `b${at}`]]).toContainEqual(activities);
  }

  /** Calls of partners between the kill and the repetition. */
  async function write({ members, standings }: Stores, at: number): Promise<void> {
    const recorded = await standings.record([
      activity(`w${at}`, `old${at}`, 1),
      activity(`a${at}`, `old${at}`, 5),
      activity(`v${at}`, `new${at}`, 2),
    ]);
    expect(recorded).toEqual(['recorded', 'already-recorded', 'recorded']);
    expect(await members.updateNames('spa', `old${at}`, { firstName: 'Spa' })).toBeDefined();
    expect(await members.changeExternalId('inn', `new${at}`, `M-${at}`)).toMatchObject({
      outcome: 'changed',
    });
    const enrolled = await members.enroll({ partnerId: 'bar', address: addressOf(`old${at}`) });
    expect(enrolled).toMatchObject({ outcome: 'enrolled', created: true });
  }

  async function expectMerged(stores: Stores, at: number): Promise<void> {
    const next = `new${at}`;
    const inn = [next, 28, [`a${at}`, `b${at}`, `v${at}`, `w${at}`]];
    for (const key of [
      { email: `old${at}@x.example` },
      { email: `new${at}@x.example` },
      { memberId: `old${at}` },
      { memberId: next },
      { externalId: `M-${at}` },
    ])
      expect(await seen(stores, 'inn', key)).toEqual(inn);
    expect(await seen(stores, 'spa', { memberId: `old${at}` })).toEqual([next, 7, [`s${at}`]]);
    expect((await stores.members.memberById('spa', next))?.firstName).toBe('Spa');
    expect((await stores.members.memberByEmail('bar', `old${at}@x.example`))?.memberId).toBe(next);
    const pending = (await stores.members.events.pending(1_000)).map(({ event }) => event);
    const merged = pending.filter(({ mergedMemberId }) => mergedMemberId === `old${at}`);
    expect(merged.map(({ partnerId }) => partnerId).sort()).toEqual(
      expect.arrayContaining(['inn', 'spa']),
    );
    expect(new Set(merged.map(({ partnerId }) => partnerId)).size).toBe(merged.length);
    expect(pending.filter(({ type }) => type === 'ENROLLMENT_ENDED')).toEqual([]);
    await stores.members.events.acknowledge(
      (await stores.members.events.pending(1_000)).map(({ ack }) => ack),
    );
  }

  async function faults(): Promise<string[]> {
    const found: string[] = [];
    const inspection = {
      report: (record: string, problem: string) => void found.push(`${record}: ${problem}`),
      hasPartner: async () => true,
    };
    await verifyMembers(all, inspection);
    await verifyStandings(all, inspection);
    return found;
  }

  test(`shows each member as before or after, takes writes, and is right once repeated (seed ${SEED})`, async () => {
    const first = 1 + Math.floor(seeded(SEED)() * EVERY);
    let kills = 0;
    for (let at = first; at < MOST; at += EVERY) {
      await add(at);
      const isKilled = await mergeUntil(at, at);
      await withStores((stores) => expectBeforeOrAfter(stores, at));
      expect([at, await faults()]).toEqual([at, []]);
      await withStores((stores) => write(stores, at));
      const repeated = await loyalty(env, 'members', 'merge', `old${at}`, `new${at}`);
      expect([at, repeated]).toMatchObject([at, { code: 0 }]);
      await withStores((stores) => expectMerged(stores, at));
      expect([at, await faults()]).toEqual([at, []]);
      if (!isKilled) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(0);
  }, 1_200_000);
});
