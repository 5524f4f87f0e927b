// The standings store in an embedded LMDB: reads are synchronous, a batch is one transaction, several processes of one machine may share it.
import { type Environment, openLmdb } from '@partner-loyalty/runtime';
import type { RootDatabase } from 'lmdb';
import { fitsInt } from '../int.ts';
import { keepPrograms } from './programs.ts';
import type { Activity, DatedActivity, Program, Recorded, StandingsStore } from './store.ts';

// Lists without field names, since there are millions of them.
type StoredActivity = [
  partnerId: string,
  memberId: string,
  points: number,
  stays: number,
  occurredAtMs: number,
];
type StoredStanding = [points: number, stays: number];

/** Opens the store in `dataDir/standings`. Throws where the folder cannot be written or the store belongs to the other environment. */
export async function openLmdbStandingsStore(
  dataDir: string,
  environment: Environment,
): Promise<StandingsStore> {
  const root = await openLmdb(dataDir, 'standings', environment);
  // In a transaction: outside, each would begin one of its own, and have the whole process wait for whoever writes at the moment.
  const databases = await root.transaction(() => openDatabases(root));
  return createLmdbStandingsStore(root, databases);
}

function openDatabases(root: RootDatabase) {
  return {
    programs: root.openDB<Program, string>({ name: 'programs', encoding: 'json' }),
    standings: root.openDB<StoredStanding, string[]>({ name: 'standings' }),
    activities: root.openDB<StoredActivity, string>({ name: 'activities' }),
  };
}

function createLmdbStandingsStore(
  root: RootDatabase,
  databases: ReturnType<typeof openDatabases>,
): StandingsStore {
  const { programs, standings, activities } = databases;
  const kept = keepPrograms((partnerId) => programs.get(partnerId));

  /** Counts activities in the current transaction. Writes come last, so that an error before them leaves nothing behind. */
  function count(batch: readonly DatedActivity[]): Recorded[] {
    const newActivities = new Map<string, StoredActivity>();
    const newStandings = new Map<string, { key: string[]; sums: StoredStanding }>();
    const outcomes = batch.map((activity): Recorded => {
      const stored = newActivities.get(activity.activityId) ?? activities.get(activity.activityId);
      if (stored !== undefined) return isSame(stored, activity) ? 'known' : 'other-content';
      const key = [activity.partnerId, activity.memberId, activity.year];
      const name = key.join('\0');
      const [points, stays] = newStandings.get(name)?.sums ?? standings.get(key) ?? [0, 0];
      const sums: StoredStanding = [points + activity.points, stays + activity.stays];
      if (!sums.every(fitsInt)) return 'out-of-range';
      newStandings.set(name, { key, sums });
      newActivities.set(activity.activityId, toStored(activity));
      return 'counted';
    });
    for (const [activityId, stored] of newActivities) activities.put(activityId, stored);
    for (const { key, sums } of newStandings.values()) standings.put(key, sums);
    return outcomes;
  }

  return {
    program: kept.get,
    async putProgram(partnerId, program) {
      await programs.put(partnerId, program);
      await root.flushed;
      kept.forget(partnerId);
    },
    standing(partnerId, memberId, year) {
      const found = standings.get([partnerId, memberId, year]);
      return found && { points: found[0], stays: found[1] };
    },
    async record(batch) {
      const outcomes = await root.transaction(() => count(batch));
      await root.flushed;
      return outcomes;
    },
    isEmpty: async () =>
      programs.getKeysCount({ limit: 1 }) + activities.getKeysCount({ limit: 1 }) === 0,
    async ready() {
      root.get('environment');
    },
    close: () => root.close(),
  };
}

function toStored({ partnerId, memberId, points, stays, occurredAt }: Activity): StoredActivity {
  return [partnerId, memberId, points, stays, occurredAt.getTime()];
}

/** The year plays no part: it follows from the rest, by the program of the day it was recorded. */
function isSame(stored: StoredActivity, activity: Activity): boolean {
  return toStored(activity).every((value, index) => value === stored[index]);
}
