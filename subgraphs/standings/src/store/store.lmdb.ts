// The standings store in embedded LMDB, which several processes on one machine may share.
import { type EmbeddedStore, type Environment, openLmdb } from '@partner-loyalty/runtime';
import type { RootDatabase } from 'lmdb';
import { type ActivityContent, type DatedActivity, isSameActivity } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import { addStandings, NO_ACTIVITY, type Standing } from '../rules/standing.ts';
import {
  decodeActivity,
  decodeStanding,
  encodeActivity,
  encodeStanding,
  type StandingKey,
  type StoredActivity,
  type StoredStanding,
} from './format.lmdb.ts';
import { cachePrograms } from './programs.ts';
import type { RecordOutcome, StandingsStore } from './store.ts';

/**
 * Opens the store in `dataDir/standings`. Rejects if the folder is not writable or the store
 * belongs to the other environment.
 */
export async function openLmdbStandingsStore(
  dataDir: string,
  environment: Environment,
): Promise<StandingsStore> {
  const store = await openLmdb(dataDir, 'standings', environment);
  // In one transaction: otherwise each database begins its own, which blocks this whole process
  // while another process writes.
  const databases = await store.root.transaction(() => openDatabases(store.root));
  return createLmdbStandingsStore(store, databases);
}

type Databases = ReturnType<typeof openDatabases>;

function openDatabases(root: RootDatabase) {
  return {
    programs: root.openDB<Program, string>({ name: 'programs', encoding: 'json' }),
    standings: root.openDB<StoredStanding, StandingKey>({ name: 'standings' }),
    activities: root.openDB<StoredActivity, string>({ name: 'activities' }),
  };
}

function createLmdbStandingsStore(
  { root, ready }: EmbeddedStore,
  databases: Databases,
): StandingsStore {
  const { programs, standings, activities } = databases;
  const programCache = cachePrograms((partnerId) => programs.get(partnerId));
  return {
    program: programCache.get,
    async putProgram(partnerId, program) {
      await root.transaction(() => programs.put(partnerId, program));
      await root.flushed;
      programCache.forget(partnerId);
    },
    standing(partnerId, memberId, year) {
      const stored = standings.get([partnerId, memberId, year]);
      return mapDefined(stored, decodeStanding);
    },
    async record(batch) {
      const outcomes = await root.transaction(() => recordBatch(databases, batch));
      await root.flushed;
      return outcomes;
    },
    isEmpty: async () =>
      programs.getKeysCount({ limit: 1 }) + activities.getKeysCount({ limit: 1 }) === 0,
    ready,
    close: () => root.close(),
  };
}

/**
 * Records a batch in the current transaction. The writes come last, so that an error before them
 * leaves nothing behind.
 */
function recordBatch(
  { standings, activities }: Databases,
  batch: readonly DatedActivity[],
): RecordOutcome[] {
  const newActivities = new Map<string, ActivityContent>();
  const newStandings = new Map<string, { key: StandingKey; standing: Standing }>();
  const outcomes = batch.map((activity): RecordOutcome => {
    const { activityId, partnerId, memberId, year } = activity;
    const recorded =
      newActivities.get(activityId) ?? mapDefined(activities.get(activityId), decodeActivity);
    if (recorded !== undefined)
      return isSameActivity(recorded, activity) ? 'already-recorded' : 'conflict';
    const key: StandingKey = [partnerId, memberId, year];
    const name = key.join('\0');
    const before =
      newStandings.get(name)?.standing ??
      mapDefined(standings.get(key), decodeStanding) ??
      NO_ACTIVITY;
    const standing = addStandings(before, activity);
    if (standing === undefined) return 'out-of-range';
    newStandings.set(name, { key, standing });
    newActivities.set(activityId, activity);
    return 'recorded';
  });
  for (const [activityId, content] of newActivities)
    activities.put(activityId, encodeActivity(content));
  for (const { key, standing } of newStandings.values())
    standings.put(key, encodeStanding(standing));
  return outcomes;
}

function mapDefined<T, U>(value: T | undefined, map: (value: T) => U): U | undefined {
  return value === undefined ? undefined : map(value);
}
