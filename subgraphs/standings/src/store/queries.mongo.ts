// The reads of the standings store on MongoDB, and the one write that records activities.
import type { AnyBulkWriteOperation } from 'mongodb';
import type { Activity, ActivityContent } from '../rules/activity.ts';
import { INT_MAX, INT_MIN } from '../rules/int.ts';
import type { ActivityEntry, Collections, StandingDocument } from './collections.mongo.ts';

/** An activity as it is recorded, with the ID of the standing that it counts towards. */
export type RecordedActivity = { _id: string; activities: ActivityEntry };

/** The ID of a standing's document. None of its parts contains a control character. */
export function standingId(partnerId: string, memberId: string, year: string): string {
  return `${partnerId}\0${memberId}\0${year}`;
}

/** Finds programs. */
export function programsQuery({ programs }: Collections, partnerIds: readonly string[]) {
  return programs.find({ _id: { $in: partnerIds } });
}

/** Finds the points and stays of standings. */
export function sumsQuery({ standings }: Collections, ids: readonly string[]) {
  return standings.find(
    { _id: { $in: ids } },
    { projection: { points: 1, stays: 1 }, batchSize: oneBatch(ids) },
  );
}

/** Finds those of the activities that are recorded. */
export function activitiesQuery({ standings }: Collections, activityIds: readonly string[]) {
  const wanted = { 'activities.id': { $in: activityIds } };
  return standings.aggregate<RecordedActivity>(
    [
      { $match: wanted },
      { $project: { activities: 1 } },
      { $unwind: '$activities' },
      { $match: wanted },
    ],
    { batchSize: oneBatch(activityIds) },
  );
}

/** The content of a recorded activity. */
export function contentOf({ _id, activities }: RecordedActivity): ActivityContent {
  const [partnerId = '', memberId = ''] = _id.split('\0');
  const { points, stays, occurredAt } = activities;
  return { partnerId, memberId, points, stays, occurredAt };
}

/**
 * An operation that records activities of one standing: all or none, and none of them twice.
 * Their IDs must differ, and their sums must be within Int.
 *
 * If the standing already has one of them, or if its sums would leave Int, the filter matches no
 * document and the upsert inserts an ID that exists: a duplicate key. If another standing has one
 * of them, the unique index reports a duplicate key as well.
 */
export function recordOperation(standing: string, activities: readonly Activity[]) {
  const points = activities.reduce((sum, activity) => sum + activity.points, 0);
  const stays = activities.reduce((sum, activity) => sum + activity.stays, 0);
  const entries = activities.map(entryOf);
  const roomFor = (change: number) => ({ $gte: INT_MIN - change, $lte: INT_MAX - change });
  return {
    updateOne: {
      filter: {
        _id: standing,
        'activities.id': { $nin: entries.map(({ id }) => id) },
        points: roomFor(points),
        stays: roomFor(stays),
      },
      update: { $inc: { points, stays }, $push: { activities: { $each: entries } } },
      upsert: true,
    },
  } satisfies AnyBulkWriteOperation<StandingDocument>;
}

function entryOf({ activityId, points, stays, occurredAt }: Activity): ActivityEntry {
  return { id: activityId, points, stays, occurredAt };
}

/** The batch size with which the first reply contains every document. */
function oneBatch(keys: readonly string[]): number {
  return keys.length + 1;
}
