// The activities of one member, in their order, and what an erasure removes.
import { allMaybe, type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { compareTexts, type Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import type { Activity } from '../rules/activity.ts';
import { eraseEvents } from './positions.ts';
import {
  ACTIVITIES,
  activityIn,
  activityKeyOf,
  MEMBER_ACTIVITIES,
  MEMBERS,
  ONLY,
  SEQUENCER,
  SLICE,
  timePart,
} from './tables.ts';

/** A place in the activities of one partner; without an ID, before all of its instant. */
export type Before = { occurredAtMs: number; activityId?: string | undefined };

/** By partner and in the order of time. Those of merged members come last. */
export async function* activitiesOf(store: Store, memberId: string): AsyncGenerator<Activity> {
  const row = await store.view((tx) => tx.peek(MEMBERS, [memberId]));
  for (const id of [memberId, ...(row?.merged ?? [])])
    for await (const page of pagesOf(store, MEMBER_ACTIVITIES, { prefix: [id] }))
      yield* await activitiesAt(
        store,
        page.map(({ key }) => key),
      );
}

/** The activities of entries of MEMBER_ACTIVITIES. */
export function activitiesAt(store: Store, entries: readonly Key[]): MaybePromise<Activity[]> {
  const keys = entries.map(activityKeyOf);
  return mapMaybe(store.getAll(ACTIVITIES, keys), (rows) =>
    keys.flatMap((key, place) => {
      const row = rows[place];
      return row === undefined ? [] : activityIn(key, row);
    }),
  );
}

/** The newest first, from below `before`; of members who were merged into this one, too. */
export function latestActivitiesOf(
  store: Store,
  partnerId: string,
  memberId: string,
  limit: number,
  before?: Before,
): MaybePromise<Activity[]> {
  const latestOf = (id: string) => {
    const prefix = [id, partnerId];
    const { occurredAtMs, activityId } = before ?? {};
    const time = occurredAtMs === undefined ? [] : [timePart(occurredAtMs)];
    const until = [...prefix, ...time, ...(activityId === undefined ? [] : [activityId])];
    const range = { prefix, limit, reverse: true, ...(before && { until }) };
    return mapMaybe(store.keys(MEMBER_ACTIVITIES, range), (keys) => activitiesAt(store, keys));
  };
  return mapMaybe(store.get(MEMBERS, [memberId]), (row) => {
    if (row?.merged === undefined) return latestOf(memberId);
    return mapMaybe(allMaybe([memberId, ...row.merged].map(latestOf)), (found) =>
      found.flat().sort(newestFirst).slice(0, limit),
    );
  });
}

/** The order of the index. */
function newestFirst(one: Activity, other: Activity): number {
  const later = other.occurredAt.getTime() - one.occurredAt.getTime();
  return later || compareTexts(other.activityId, one.activityId);
}

/**
 * The mark is set in the transaction that removes the standings: nothing is recorded from then on.
 * The record of a merge stays, since the other member has to be erased as well.
 */
export async function eraseMember(store: Store, marks: Marks, memberId: string): Promise<number> {
  await store.transact((tx) => {
    marks.add(tx, memberId);
    const { taken, erasures } = tx.get(SEQUENCER, ONLY) ?? { taken: [], erasures: 0 };
    tx.put(SEQUENCER, ONLY, { taken, erasures: erasures + 1 });
    const { into, merged } = tx.get(MEMBERS, [memberId]) ?? {};
    if (into === undefined && merged === undefined) tx.remove(MEMBERS, [memberId]);
    else
      tx.put(MEMBERS, [memberId], {
        standings: [],
        ...(into && { into }),
        ...(merged && { merged }),
      });
  });
  let deleted = 0;
  for await (const page of pagesOf(store, MEMBER_ACTIVITIES, { prefix: [memberId] }, SLICE)) {
    const keys = page.map(({ key }) => activityKeyOf(key));
    deleted += await store.transact((tx) => {
      // Somebody else may be erasing the member.
      const found = tx.peekAll(ACTIVITIES, keys);
      const left = keys.filter((_, place) => found[place]?.memberId === memberId);
      for (const key of left) tx.remove(ACTIVITIES, key);
      return left.length;
    });
  }
  await eraseEvents(store, memberId);
  return deleted;
}
