// The standings store in embedded LMDB, which several processes on one machine may share.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { type EmbeddedStore, openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { markErased } from '@partner-loyalty/runtime/store/rewrite.lmdb.ts';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import { programChanged } from '../rules/event.ts';
import { isSameProgram } from '../rules/program.ts';
import { eraseEvents, openLmdbFeed } from './feed.lmdb.ts';
import type { Feed } from './feed.ts';
import { activitiesOf, deleteSome, latestActivitiesOf, standingsOf } from './member.lmdb.ts';
import { createLmdbMerges } from './merges.lmdb.ts';
import { cachePrograms } from './programs.ts';
import { recordBatch } from './record.lmdb.ts';
import type { StandingsStore } from './store.ts';
import { decodeStanding, openTables, putPending, type Tables } from './tables.lmdb.ts';
import { openWebhookTables, type WebhookTables } from './webhooks.ts';

/**
 * Opens the store in `dataDir/standings`. Rejects if the folder is not writable or the store
 * belongs to the other environment.
 */
export async function openLmdbStandingsStore(
  dataDir: string,
  environment: Environment,
): Promise<StandingsStore> {
  const store = await openLmdb(dataDir, 'standings', environment);
  const tables = await openTables(store.root);
  const feed = await openLmdbFeed(tables);
  // In a transaction, as the other databases.
  const webhooks = await store.root.transaction(() => openWebhookTables(lmdbTables(store.root)));
  return createLmdbStandingsStore(store, tables, { feed, webhooks }, dataDir);
}

function createLmdbStandingsStore(
  { root, ready }: EmbeddedStore,
  tables: Tables,
  others: { feed: Feed; webhooks: WebhookTables },
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
    async changeProgram(partnerId, program) {
      await root.transaction(() => {
        if (isSameProgram(programs.get(partnerId), program)) return;
        programs.put(partnerId, program);
        const at = Date.now();
        putPending(tables, at, [programChanged(partnerId, at)]);
      });
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
    latestActivities: (...query) => latestActivitiesOf(tables, ...query),
    activitiesOf: (memberId) => activitiesOf(tables, memberId),
    standingsOf: async (memberId) => standingsOf(tables, memberId),
    async eraseMember(memberId) {
      markErased(dataDir, 'standings');
      // First the mark, which keeps out whatever is recorded from now on.
      await root.transaction(() => marks.add(memberId, new Date()));
      let deleted = 0;
      for (let some = -1; some !== 0; deleted += some) some = await deleteSome(tables, memberId);
      await eraseEvents(tables, memberId);
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
    merges: createLmdbMerges(tables),
    ...others,
    ready,
    close: () => root.close(),
  };
}
