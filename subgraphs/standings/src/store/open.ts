// Opens the standings store on the engine that the settings select.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import { openMarks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import type { DatedActivity } from '../rules/activity.ts';
import { programChanged } from '../rules/event.ts';
import { isSameProgram } from '../rules/program.ts';
import { activitiesOf, eraseMember, latestActivitiesOf } from './member.ts';
import { mergeCalls } from './mergecalls.ts';
import { createMerges } from './merges.ts';
import { putPending } from './pending.ts';
import { openFeed } from './positions.ts';
import { cachePrograms } from './programs.ts';
import { readsOf, recordBatch } from './record.ts';
import type { RecordOutcome, StandingsStore } from './store.ts';
import { ACTIVITIES, MEMBERS, PROGRAMS, standingsIn, TABLES } from './tables.ts';
import { openWebhookTables } from './webhooks.ts';

const BATCH_SIZE = 500;

export function openTables(settings: StoreSettings): Promise<Store> {
  return openStore(settings, 'standings', TABLES);
}

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openStandingsStore(settings: StoreSettings): Promise<StandingsStore> {
  return createStandingsStore(await openTables(settings), () => markErased(settings));
}

/** The embedded store's files keep what was erased until they are rewritten. */
async function markErased({ mongodbUrl, dataDir }: StoreSettings): Promise<void> {
  if (mongodbUrl !== undefined) return;
  const { markErased } = await import('@partner-loyalty/runtime/store/rewrite.lmdb.ts');
  markErased(dataDir, 'standings');
}

/** `erasing` is called before something is erased. */
export async function createStandingsStore(
  store: Store,
  erasing: () => Promise<void>,
): Promise<StandingsStore> {
  const marks = await openMarks(store);
  const programs = cachePrograms((partnerId) => store.get(PROGRAMS, [partnerId]));
  let order = 0;
  const nextOrder = () => {
    order += 1;
    return order;
  };
  // If two batches wrote one member's standings at once, one of them would have to start over.
  const recordMerged = mergeCalls(
    (batch: readonly DatedActivity[]) => {
      const order = nextOrder();
      return store.transact((tx) => recordBatch(tx, marks, batch, order), readsOf(batch));
    },
    ({ memberId }) => memberId,
    BATCH_SIZE,
  );

  return {
    program: programs.get,
    async putProgram(partnerId, program) {
      await store.transact((tx) => tx.put(PROGRAMS, [partnerId], program));
      programs.forget(partnerId);
    },
    async changeProgram(partnerId, program) {
      const order = nextOrder();
      await store.transact((tx) => {
        if (isSameProgram(tx.get(PROGRAMS, [partnerId]), program)) return;
        tx.put(PROGRAMS, [partnerId], program);
        const at = Date.now();
        putPending(tx, at, [programChanged(partnerId, at)], order);
      });
      programs.forget(partnerId);
    },
    standing: (partnerId, memberId, year) =>
      mapMaybe(store.get(MEMBERS, [memberId]), (row) => {
        const found = row?.standings.find((one) => one[0] === partnerId && one[1] === year);
        return found && { points: found[2], stays: found[3] };
      }),
    async record(batch) {
      const outcomes: RecordOutcome[] = [];
      for (let from = 0; from < batch.length; from += BATCH_SIZE) {
        if (from > 0) await nextTurn();
        outcomes.push(...(await recordMerged(batch.slice(from, from + BATCH_SIZE))));
      }
      return outcomes;
    },
    latestActivities: (...query) => latestActivitiesOf(store, ...query),
    activitiesOf: (memberId) => activitiesOf(store, memberId),
    standingsOf: async (memberId) => store.view((tx) => standingsIn(tx.peek(MEMBERS, [memberId]))),
    async eraseMember(memberId) {
      await erasing();
      return eraseMember(store, marks, memberId);
    },
    liftMark: (memberId) => store.transact((tx) => marks.remove(tx, memberId)),
    hasStandings: async (partnerId) =>
      (await store.range(ACTIVITIES, { prefix: [partnerId], limit: 1 })).length > 0,
    async isEmpty() {
      const first = { prefix: [], limit: 1 };
      const found = [await store.range(PROGRAMS, first), await store.range(ACTIVITIES, first)];
      return found.flat().length === 0;
    },
    merges: createMerges(store, marks),
    feed: await openFeed(store, marks),
    webhooks: await openWebhookTables(tablesIn(store)),
    ready: store.ready,
    close: store.close,
  };
}
