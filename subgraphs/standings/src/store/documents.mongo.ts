// The collections of standings and programs on MongoDB: documents, validators, the index, and the queries that need it.
import { openCollection } from '@partner-loyalty/runtime';
import type { AnyBulkWriteOperation, Collection, Db, Document } from 'mongodb';
import { INT_MAX, INT_MIN } from '../int.ts';
import type { Activity, Program, Standing } from './store.ts';

/** What one member did with one partner in one membership year, and its sums: the unit of atomicity, so that no transaction is needed. */
export type StandingDocument = Standing & { _id: string; activities: StoredActivity[] };
export type StoredActivity = { id: string; points: number; stays: number; occurredAt: Date };
export type ProgramDocument = Program & { _id: string };
export type Collections = {
  standings: Collection<StandingDocument>;
  programs: Collection<ProgramDocument>;
};

const text = { bsonType: 'string', minLength: 1 };
const int = { bsonType: 'int' };
const SCHEMAS = {
  standings: {
    bsonType: 'object',
    required: ['_id', 'points', 'stays', 'activities'],
    properties: {
      _id: { bsonType: 'string', minLength: 5 },
      points: int,
      stays: int,
      activities: {
        bsonType: 'array',
        minItems: 1,
        items: {
          bsonType: 'object',
          required: ['id', 'points', 'stays', 'occurredAt'],
          properties: { id: text, points: int, stays: int, occurredAt: { bsonType: 'date' } },
        },
      },
    },
  },
  programs: {
    bsonType: 'object',
    required: ['_id', 'membershipYear', 'tiers'],
    properties: {
      _id: text,
      membershipYear: {
        bsonType: 'object',
        required: ['start', 'timeZone'],
        properties: {
          start: { bsonType: 'string', pattern: '^[0-9]{2}-[0-9]{2}$' },
          timeZone: text,
        },
      },
      tiers: {
        bsonType: 'array',
        minItems: 1,
        items: {
          bsonType: 'object',
          required: ['name', 'points'],
          properties: { name: text, points: { bsonType: 'int', minimum: 0 } },
        },
      },
    },
  },
} satisfies Record<keyof Collections, Document>;

/** The collections with their validators, and the index by which an activity's id is in one document at most; within one the filter of `counting` sees to that. */
export async function openCollections(db: Db): Promise<Collections> {
  const [standings, programs] = await Promise.all([
    openCollection<StandingDocument>(db, 'standings', SCHEMAS.standings, [
      [{ 'activities.id': 1 }, { unique: true }],
    ]),
    openCollection<ProgramDocument>(db, 'programs', SCHEMAS.programs),
  ]);
  return { standings, programs };
}

/** The id of a standing's document; no part of it holds a control character. */
export function standingId(partnerId: string, memberId: string, year: string): string {
  return `${partnerId}\0${memberId}\0${year}`;
}

/** Programs, as the driver asks for them. */
export function programsQuery({ programs }: Collections, partnerIds: readonly string[]) {
  return programs.find({ _id: { $in: partnerIds } });
}

/** The sums of standings, as the driver asks for them. */
export function sumsQuery({ standings }: Collections, ids: readonly string[]) {
  return standings.find(
    { _id: { $in: ids } },
    { projection: { points: 1, stays: 1 }, batchSize: wholeAnswer(ids) },
  );
}

/** Those of the activities that are stored, each with the id of the standing it counts for, as the driver asks for them. */
export function activitiesQuery({ standings }: Collections, activityIds: readonly string[]) {
  const among = { 'activities.id': { $in: activityIds } };
  return standings.aggregate<{ _id: string; activities: StoredActivity }>(
    [
      { $match: among },
      { $project: { activities: 1 } },
      { $unwind: '$activities' },
      { $match: among },
    ],
    { batchSize: wholeAnswer(activityIds) },
  );
}

/** Has the first answer bring all there is for these keys, so that the driver does not ask for more. */
function wholeAnswer(keys: readonly string[]): number {
  return keys.length + 1;
}

/**
 * Counts activities of one standing, none of them twice and all or none, in one step. Where the standing has one of them already, or its sums would
 * leave Int, the filter finds nothing, and the upsert becomes an insertion of an id that is there. So does the unique index where another standing
 * has one. Each of them is a duplicate key. The ids differ, and their own sums keep within Int.
 */
export function counting(standing: string, activities: readonly Activity[]) {
  const points = activities.reduce((sum, activity) => sum + activity.points, 0);
  const stays = activities.reduce((sum, activity) => sum + activity.stays, 0);
  const stored = activities.map((activity): StoredActivity => {
    return {
      id: activity.activityId,
      points: activity.points,
      stays: activity.stays,
      occurredAt: activity.occurredAt,
    };
  });
  const withinInt = (change: number) => ({ $gte: INT_MIN - change, $lte: INT_MAX - change });
  return {
    updateOne: {
      filter: {
        _id: standing,
        'activities.id': { $nin: stored.map(({ id }) => id) },
        points: withinInt(points),
        stays: withinInt(stays),
      },
      update: { $inc: { points, stays }, $push: { activities: { $each: stored } } },
      upsert: true,
    },
  } satisfies AnyBulkWriteOperation<StandingDocument>;
}
