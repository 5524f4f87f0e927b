// Records a batch of activities on MongoDB: all are written at once, and those that were not counted are asked about together.
import { setTimeout } from 'node:timers/promises';
import { MongoBulkWriteError } from 'mongodb';
import { activitiesQuery, type Collections, counting, type StoredActivity, standingId, sumsQuery } from './documents.mongo.ts';
import { fitsInt } from './int.ts';
import type { DatedActivity, Recorded } from './store.ts';

/** An activity of the batch and its place in it. */
type Placed = { activity: DatedActivity; place: number };

const MAX_ATTEMPTS = 100;
const DUPLICATE_KEY = 11000;
const WRITE_CONFLICT = 112;

/** Counts each activity once; the answers are in the order of the batch. Where it fails, a part may be counted, and repeating it is safe. */
export async function recordSome(collections: Collections, batch: readonly DatedActivity[]): Promise<Recorded[]> {
  const outcomes = new Array<Recorded>(batch.length);
  let waiting: Placed[] = batch.map((activity, place) => ({ activity, place }));
  for (let attempt = 1; waiting.length > 0; ) {
    const before = waiting.length;
    const written = await write(collections, firstOfEachId(waiting));
    for (const { place } of written) outcomes[place] = 'counted';
    waiting = waiting.filter(({ place }) => outcomes[place] === undefined);
    await explain(collections, waiting, outcomes);
    waiting = waiting.filter(({ place }) => outcomes[place] === undefined);
    if (waiting.length < before) continue;
    // Others have written each of the standings in between.
    if (attempt === MAX_ATTEMPTS) throw new Error(`a standing was written by others ${MAX_ATTEMPTS} times in a row`);
    await setTimeout(Math.random() * attempt++);
  }
  return outcomes;
}

/** Returns those that it has counted. */
async function write({ standings }: Collections, activities: Placed[]): Promise<Placed[]> {
  try {
    await standings.bulkWrite(
      activities.map(({ activity }) => counting(activity)),
      { ordered: false },
    );
    return activities;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const faults = [error.writeErrors].flat();
    if (faults.length === 0 || faults.some(({ code }) => code !== DUPLICATE_KEY && code !== WRITE_CONFLICT)) throw error;
    const refused = new Set(faults.map(({ index }) => index));
    return activities.filter((_, index) => !refused.has(index));
  }
}

/** Notes what became of activities that were not counted; nothing for those that another write kept out, and that can be tried again. */
async function explain(collections: Collections, activities: readonly Placed[], outcomes: Recorded[]): Promise<void> {
  if (activities.length === 0) return;
  const ids = activities.map(({ activity }) => activity.activityId);
  const stored = new Map((await activitiesQuery(collections, ids).toArray()).map((found) => [found.activities.id, found]));
  const missing: Placed[] = [];
  for (const placed of activities) {
    const found = stored.get(placed.activity.activityId);
    if (found === undefined) missing.push(placed);
    else outcomes[placed.place] = isSame(found, placed.activity) ? 'known' : 'other-content';
  }
  if (missing.length === 0) return;
  const standingIds = missing.map(({ activity }) => standingId(activity.partnerId, activity.memberId, activity.year));
  const sums = new Map((await sumsQuery(collections, standingIds).toArray()).map((found) => [found._id, found]));
  for (const [index, { activity, place }] of missing.entries()) {
    const { points, stays } = sums.get(standingIds[index] ?? '') ?? { points: 0, stays: 0 };
    if (!fitsInt(points + activity.points) || !fitsInt(stays + activity.stays)) outcomes[place] = 'out-of-range';
  }
}

/** Of several with the same id only the first is written: the unique index holds between documents, not between writes of one. */
function firstOfEachId(activities: readonly Placed[]): Placed[] {
  const first = new Map<string, Placed>();
  for (const placed of activities) if (!first.has(placed.activity.activityId)) first.set(placed.activity.activityId, placed);
  return [...first.values()];
}

/** The year plays no part: it follows from the rest, by the program of the day it was recorded. */
function isSame({ _id, activities: stored }: { _id: string; activities: StoredActivity }, activity: DatedActivity): boolean {
  return (
    _id.startsWith(standingId(activity.partnerId, activity.memberId, '')) &&
    stored.points === activity.points &&
    stored.stays === activity.stays &&
    stored.occurredAt.getTime() === activity.occurredAt.getTime()
  );
}
