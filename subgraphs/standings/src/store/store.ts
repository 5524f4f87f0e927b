// The store of the standings subgraph: programs, activities with their sums, and the feed.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import { openMarks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import type { DatedActivity } from '../rules/activity.ts';
import { programChanged } from '../rules/event.ts';
import { isSameProgram, type Program } from '../rules/program.ts';
import { activitiesOf, type Before, eraseMember, latestActivitiesOf } from './member.ts';
import { mergeCalls } from './mergecalls.ts';
import { createMerges } from './merges.ts';
import { putPending } from './pending.ts';
import { openFeed } from './positions.ts';
import { cachePrograms } from './programs.ts';
import { type RecordOutcome, readsOf, recordBatch } from './record.ts';
import { ACTIVITIES, MEMBERS, PROGRAMS, standingsIn, TABLES } from './tables.ts';
import { openWebhookTables } from './webhooks.ts';

const BATCH_SIZE = 500;

export type StandingsStore = Awaited<ReturnType<typeof createStandingsStore>>;

/** Opens the tables of the store. Rejects if it belongs to the other environment, for example. */
export function openTables(settings: StoreSettings): Promise<Store> {
  return openStore(settings, 'standings', TABLES);
}

/** `erasing` is called before something is erased. */
export async function createStandingsStore(store: Store, erasing: () => Promise<void>) {
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
    /** The partner's program, at most a few seconds old; undefined if it has none. */
    program: programs.get,
    /** Sets the program of a new partner. */
    async putProgram(partnerId: string, program: Program): Promise<void> {
      await store.transact((tx) => tx.put(PROGRAMS, [partnerId], program));
      programs.forget(partnerId);
    },
    /** Replaces the program that applies to a partner, of which its feed has an event. */
    async changeProgram(partnerId: string, program: Program): Promise<void> {
      const order = nextOrder();
      await store.transact((tx) => {
        if (isSameProgram(tx.get(PROGRAMS, [partnerId]), program)) return;
        tx.put(PROGRAMS, [partnerId], program);
        const at = Date.now();
        putPending(tx, at, [programChanged(partnerId, at)], order);
      });
      programs.forget(partnerId);
    },
    /** The standing of one membership year, by one read; undefined without activity. */
    standing: (partnerId: string, memberId: string, year: string) =>
      mapMaybe(store.get(MEMBERS, [memberId]), (row) => {
        const found = row?.standings.find((one) => one[0] === partnerId && one[1] === year);
        return found && { points: found[2], stays: found[3] };
      }),
    /**
     * Records each activity exactly once, whatever else runs at the same time and wherever an
     * earlier run crashed. The outcomes are in the order of the activities.
     */
    async record(batch: readonly DatedActivity[]): Promise<RecordOutcome[]> {
      const outcomes: RecordOutcome[] = [];
      for (let from = 0; from < batch.length; from += BATCH_SIZE) {
        if (from > 0) await nextTurn();
        outcomes.push(...(await recordMerged(batch.slice(from, from + BATCH_SIZE))));
      }
      return outcomes;
    },
    /**
     * The member's newest activities with a partner, newest first, at most `limit`. With `before`,
     * only what comes after this place in that order. Reads only what it returns.
     */
    latestActivities: (partnerId: string, memberId: string, limit: number, before?: Before) =>
      latestActivitiesOf(store, partnerId, memberId, limit, before),
    /** The member's activities, by partner and in the order of time, within bounded memory. */
    activitiesOf: (memberId: string) => activitiesOf(store, memberId),
    /** The member's standings with all partners, in all years. */
    standingsOf: async (memberId: string) =>
      store.view((tx) => standingsIn(tx.peek(MEMBERS, [memberId]))),
    /**
     * Deletes the member's activities and standings, and leaves a mark by which activities of this
     * member are refused from now on. The member's events keep no ID but his. It can be killed and
     * repeated. Resolves with the number of activities deleted.
     */
    async eraseMember(memberId: string): Promise<number> {
      await erasing();
      return eraseMember(store, marks, memberId);
    },
    /** Takes away the mark that `eraseMember` left. Whether there was one. */
    liftMark: (memberId: string) => store.transact((tx) => marks.remove(tx, memberId)),
    /** Whether there is an activity with the partner. */
    hasStandings: async (partnerId: string) =>
      (await store.range(ACTIVITIES, { prefix: [partnerId], limit: 1 })).length > 0,
    /** Whether there is neither a program nor an activity. */
    async isEmpty(): Promise<boolean> {
      const first = { prefix: [], limit: 1 };
      const found = [await store.range(PROGRAMS, first), await store.range(ACTIVITIES, first)];
      return found.flat().length === 0;
    },
    merges: createMerges(store, marks),
    feed: await openFeed(store, marks),
    webhooks: await openWebhookTables(tablesIn(store)),
    /** Resolves if the engine responds; rejects otherwise. */
    ready: store.ready,
    close: store.close,
  };
}
