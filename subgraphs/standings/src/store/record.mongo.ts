// Records a batch of activities on MongoDB and finds out what became of each.
import { setTimeout } from 'node:timers/promises';
import { DUPLICATE_KEY, WRITE_CONFLICT } from '@partner-loyalty/runtime/mongo';
import { MongoBulkWriteError } from 'mongodb';
import { type DatedActivity, isSameActivity } from '../rules/activity.ts';
import { addStandings, NO_ACTIVITY, type Standing } from '../rules/standing.ts';
import type { Collections } from './collections.mongo.ts';
import {
  activitiesQuery,
  contentOf,
  recordOperation,
  standingId,
  sumsQuery,
} from './queries.mongo.ts';
import type { RecordOutcome } from './store.ts';

/** An activity without an outcome, its index in the batch and the standing it counts towards. */
type Pending = { activity: DatedActivity; index: number; standing: string };

const MAX_ATTEMPTS = 100;

/**
 * Records each activity once; the outcomes are in the order of the batch. If it rejects, some
 * activities may be recorded, and the batch can be repeated.
 */
export async function recordBatch(
  collections: Collections,
  batch: readonly DatedActivity[],
): Promise<RecordOutcome[]> {
  const outcomes = new Array<RecordOutcome>(batch.length);
  const withoutOutcome = (all: Pending[]) =>
    all.filter(({ index }) => outcomes[index] === undefined);
  let pending = batch.map((activity, index): Pending => {
    const { partnerId, memberId, year } = activity;
    return { activity, index, standing: standingId(partnerId, memberId, year) };
  });
  for (let attempt = 1; pending.length > 0; ) {
    const before = pending.length;
    // Activities of one standing are written together until that makes no progress.
    const groups = groupsOf(pending, attempt === 1 ? 'standing' : 'index');
    for (const { index } of await write(collections, groups)) outcomes[index] = 'recorded';
    pending = withoutOutcome(pending);
    await explainUnrecorded(collections, pending, outcomes);
    pending = withoutOutcome(pending);
    if (pending.length < before) continue;
    if (attempt === MAX_ATTEMPTS)
      throw new Error(`other writers changed a standing ${MAX_ATTEMPTS} times in a row`);
    await setTimeout(Math.random() * attempt++);
  }
  return outcomes;
}

/** Writes each group as a whole and returns the activities that were recorded. */
async function write({ standings }: Collections, groups: readonly Pending[][]): Promise<Pending[]> {
  try {
    const operations = groups.map((group) =>
      recordOperation(
        group[0]?.standing ?? '',
        group.map(({ activity }) => activity),
      ),
    );
    await standings.bulkWrite(operations, { ordered: false });
    return groups.flat();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    const expected = failures.every(
      ({ code }) => code === DUPLICATE_KEY || code === WRITE_CONFLICT,
    );
    if (failures.length === 0 || !expected) throw error;
    const failed = new Set(failures.map(({ index }) => index));
    return groups.filter((_, index) => !failed.has(index)).flat();
  }
}

/**
 * Sets the outcomes of activities that were not recorded. Sets none for those that a concurrent
 * write kept out, which can be written again.
 */
async function explainUnrecorded(
  collections: Collections,
  pending: readonly Pending[],
  outcomes: RecordOutcome[],
): Promise<void> {
  if (pending.length === 0) return;
  const ids = pending.map(({ activity }) => activity.activityId);
  const recorded = new Map(
    (await activitiesQuery(collections, ids).toArray()).map((found) => [
      found.activities.id,
      contentOf(found),
    ]),
  );
  const unknown: Pending[] = [];
  for (const each of pending) {
    const content = recorded.get(each.activity.activityId);
    if (content === undefined) unknown.push(each);
    else
      outcomes[each.index] = isSameActivity(content, each.activity)
        ? 'already-recorded'
        : 'conflict';
  }
  if (unknown.length === 0) return;
  const standings = await sumsQuery(
    collections,
    unknown.map(({ standing }) => standing),
  ).toArray();
  const sums = new Map(standings.map((found) => [found._id, found]));
  for (const { activity, index, standing } of unknown) {
    if (addStandings(sums.get(standing) ?? NO_ACTIVITY, activity) === undefined)
      outcomes[index] = 'out-of-range';
  }
}

/**
 * Groups activities for writing. Two kinds are left out until their group is written: those that
 * repeat an ID, since the unique index holds between documents and not within one, and those that
 * follow an activity that would take the sums of its group out of Int.
 */
function groupsOf(pending: readonly Pending[], key: 'standing' | 'index'): Pending[][] {
  const ids = new Set<string>();
  const groups = new Map<string | number, { sums: Standing | undefined; group: Pending[] }>();
  for (const each of pending) {
    const entry = groups.get(each[key]) ?? { sums: NO_ACTIVITY, group: [] };
    groups.set(each[key], entry);
    const { activity } = each;
    if (ids.has(activity.activityId)) continue;
    entry.sums = entry.sums && addStandings(entry.sums, activity);
    if (entry.sums === undefined) continue;
    ids.add(activity.activityId);
    entry.group.push(each);
  }
  return [...groups.values()].map(({ group }) => group).filter((group) => group.length > 0);
}
