// Verifies the standings store: tables and their indexes, the sums, and the positions of events.
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import { verifyTable } from '@partner-loyalty/runtime/store/engine/verify.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { decodeChanges } from '../store/changes.ts';
import { openTables } from '../store/store.ts';
import { ACTIVITIES, EVENTS, HEADS } from '../store/tables.ts';
import { checkSums } from './sums.ts';

/** Reports what is wrong with the store. Resolves with the number of activities. */
export async function verifyStandings(
  settings: StoreSettings,
  inspection: Inspection,
): Promise<number> {
  const store = await openTables(settings);
  try {
    const count = await verifyTable(store, ACTIVITIES, ([, activityId], problem) =>
      inspection.report(`activity ${activityId}`, problem),
    );
    await checkSums(store, inspection);
    await checkFeed(store, inspection);
    return count;
  } finally {
    await store.close();
  }
}

/** Reports gaps between positions, and a feed that ends before the last one that was given. */
async function checkFeed(store: Store, { report }: Inspection): Promise<void> {
  const feedOf = (partnerId: string) => `the feed of partner ${partnerId}`;
  const heads = new Map<string, number>();
  for await (const page of pagesOf(store, HEADS))
    for (const { key, row } of page) heads.set(String(key[0]), row.last);
  const found = new Map<string, number>();
  const unreadable = ([partnerId, first]: Key, problem: string) =>
    report(`event ${first} of partner ${partnerId}`, problem);
  await verifyTable(store, EVENTS, unreadable, {
    inspect(page) {
      for (const { key, row } of page) {
        const [partnerId, first] = [String(key[0]), Number(key[1])];
        const last = found.get(partnerId);
        // The first ones may have been dropped.
        if (last !== undefined && first !== last + 1)
          report(feedOf(partnerId), `has no event at position ${last + 1}`);
        found.set(partnerId, first + decodeChanges(partnerId, row.events).length - 1);
      }
    },
  });
  for (const [partnerId, last] of found) {
    const head = heads.get(partnerId) ?? 0;
    if (last < head) report(feedOf(partnerId), `ends at position ${last}, but ${head} were given`);
  }
}
