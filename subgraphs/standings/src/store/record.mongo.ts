// Records a batch of activities on MongoDB: all are written at once, and those that were not counted are asked about together.
import { setTimeout } from 'node:timers/promises';
import { DUPLICATE_KEY, WRITE_CONFLICT } from '@partner-loyalty/runtime';
import { MongoBulkWriteError } from 'mongodb';
import { fitsInt } from '../int.ts';
import {
  activitiesQuery,
  type Collections,
  counting,
  type StoredActivity,
  standingId,
  sumsQuery,
} from './documents.mongo.ts';
import type { DatedActivity, Recorded } from './store.ts';

/** An activity of the batch, its place in it, and the standing it counts for. */
type Placed = { activity: DatedActivity; place: number; standing: string };

const MAX_ATTEMPTS = 100;

/** Counts each activity once; the answers are in the order of the batch. Where it fails, a part may be counted, and repeating it is safe. */
export async function recordSome(
  collections: Collections,
  batch: readonly DatedActivity[],
): Promise<Recorded[]> {
  const outcomes = new Array<Recorded>(batch.length);
  let waiting = batch.map((activity, place): Placed => {
    return {
      activity,
      place,
      standing: standingId(activity.partnerId, activity.memberId, activity.year),
    };
  });
  for (let attempt = 1; waiting.length > 0; ) {
    const before = waiting.length;
    // Activities of one standing go together, until that comes to nothing.
    const groups = groupsOf(waiting, attempt === 1);
    for (const { place } of await write(collections, groups)) outcomes[place] = 'counted';
    waiting = waiting.filter(({ place }) => outcomes[place] === undefined);
    await explain(collections, waiting, outcomes);
    waiting = waiting.filter(({ place }) => outcomes[place] === undefined);
    if (waiting.length < before) continue;
    if (attempt === MAX_ATTEMPTS)
      throw new Error(`a standing was written by others ${MAX_ATTEMPTS} times in a row`);
    await setTimeout(Math.random() * attempt++);
  }
  return outcomes;
}

/** Writes each group as a whole and returns the activities that were counted. */
async function write({ standings }: Collections, groups: readonly Placed[][]): Promise<Placed[]> {
  try {
    const operations = groups.map((group) =>
      counting(
        group[0]?.standing ?? '',
        group.map(({ activity }) => activity),
      ),
    );
    await standings.bulkWrite(operations, { ordered: false });
    return groups.flat();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const faults = [error.writeErrors].flat();
    if (
      faults.length === 0 ||
      faults.some(({ code }) => code !== DUPLICATE_KEY && code !== WRITE_CONFLICT)
    )
      throw error;
    const refused = new Set(faults.map(({ index }) => index));
    return groups.filter((_, index) => !refused.has(index)).flat();
  }
}

/** Notes what became of activities that were not counted; nothing for those that another write kept out, and that can be tried again. */
async function explain(
  collections: Collections,
  activities: readonly Placed[],
  outcomes: Recorded[],
): Promise<void> {
  if (activities.length === 0) return;
  const ids = activities.map(({ activity }) => activity.activityId);
  const stored = new Map(
    (await activitiesQuery(collections, ids).toArray()).map((found) => [
      found.activities.id,
      found,
    ]),
  );
  const missing: Placed[] = [];
  for (const placed of activities) {
    const found = stored.get(placed.activity.activityId);
    if (found === undefined) missing.push(placed);
    else outcomes[placed.place] = isSame(found, placed.activity) ? 'known' : 'other-content';
  }
  if (missing.length === 0) return;
  const standings = missing.map(({ standing }) => standing);
  const sums = new Map(
    (await sumsQuery(collections, standings).toArray()).map((found) => [found._id, found]),
  );
  for (const { activity, place, standing } of missing) {
    const { points, stays } = sums.get(standing) ?? { points: 0, stays: 0 };
    if (!fitsInt(points + activity.points) || !fitsInt(stays + activity.stays))
      outcomes[place] = 'out-of-range';
  }
}

/**
 * The activities in groups of one standing, or each by itself. Not in a group are, of several with the same id, all but the first, since the unique
 * index holds between documents, not within one; and what comes after sums that would leave Int. These have their turn when the group is written.
 */
function groupsOf(activities: readonly Placed[], together: boolean): Placed[][] {
  const ids = new Set<string>();
  const groups = new Map<
    string | number,
    { members: Placed[]; points: number; stays: number; full: boolean }
  >();
  for (const placed of activities) {
    const { activity, standing, place } = placed;
    const key = together ? standing : place;
    const group = groups.get(key) ?? { members: [], points: 0, stays: 0, full: false };
    groups.set(key, group);
    if (ids.has(activity.activityId)) continue;
    group.full ||=
      !fitsInt(group.points + activity.points) || !fitsInt(group.stays + activity.stays);
    if (group.full) continue;
    ids.add(activity.activityId);
    group.members.push(placed);
    group.points += activity.points;
    group.stays += activity.stays;
  }
  return [...groups.values()].map(({ members }) => members).filter((members) => members.length > 0);
}

/** The year plays no part: it follows from the rest, by the program of the day it was recorded. */
function isSame(
  { _id, activities: stored }: { _id: string; activities: StoredActivity },
  activity: DatedActivity,
): boolean {
  return (
    _id.startsWith(standingId(activity.partnerId, activity.memberId, '')) &&
    stored.points === activity.points &&
    stored.stays === activity.stays &&
    stored.occurredAt.getTime() === activity.occurredAt.getTime()
  );
}
