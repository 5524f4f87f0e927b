// The standings store in embedded LMDB, which several processes on one machine may share.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { type EmbeddedStore, openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { markErased } from '@partner-loyalty/runtime/store/rewrite.lmdb.ts';
import { activitiesOf, deleteSome, latestActivitiesOf, standingsOf } from './member.lmdb.ts';
import { cachePrograms } from './programs.ts';
import { recordBatch } from './record.lmdb.ts';
import type { StandingsStore } from './store.ts';
import { decodeStanding, openTables, type Tables } from './tables.lmdb.ts';

/**
 * Opens the store in `dataDir/standings`. Rejects if the folder is not writable or the store
 * belongs to the other environment.
 */
export async function openLmdbStandingsStore(
  dataDir: string,
  environment: Environment,
): Promise<StandingsStore> {
  const store = await openLmdb(dataDir, 'standings', environment);
  return createLmdbStandingsStore(store, await openTables(store.root), dataDir);
}

function createLmdbStandingsStore(
  { root, ready }: EmbeddedStore,
  tables: Tables,
  dataDir: string,
): StandingsStore {
  const { programs, standings, activities, marks } = tables;
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
      return stored && decodeStanding(stored);
    },
    async record(batch) {
      const outcomes = await root.transaction(() => recordBatch(tables, batch));
      await root.flushed;
      return outcomes;
    },
    latestActivities: (...of) => latestActivitiesOf(tables, ...of),
    activitiesOf: (memberId) => activitiesOf(tables, memberId),
    standingsOf: async (memberId) => standingsOf(tables, memberId),
    async eraseMember(memberId) {
      markErased(dataDir, 'standings');
      // First the mark, which keeps out whatever is recorded from now on.
      await root.transaction(() => marks.add(memberId, new Date()));
      let deleted = 0;
      for (let some = -1; some !== 0; deleted += some) some = await deleteSome(tables, memberId);
      await root.flushed;
      return deleted;
    },
    async liftMark(memberId) {
      const isLifted = await root.transaction(() => marks.remove(memberId));
      await root.flushed;
      return isLifted;
    },
    async hasStandings(partnerId) {
      const [first] = standings.getKeys({ start: [partnerId, '', ''], limit: 1 });
      return first?.[0] === partnerId;
    },
    isEmpty: async () =>
      programs.getKeysCount({ limit: 1 }) + activities.getKeysCount({ limit: 1 }) === 0,
    ready,
    close: () => root.close(),
  };
}
