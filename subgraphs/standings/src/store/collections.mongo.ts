// The collections of standings, activities and programs on MongoDB: documents, validators, indexes.
import { openCollection } from '@partner-loyalty/runtime/store/mongo.ts';
import type { CreateIndexesOptions, Db, Document, IndexSpecification, ObjectId } from 'mongodb';
import type { ActivityContent } from '../rules/activity.ts';
import type { Event } from '../rules/event.ts';
import type { Program } from '../rules/program.ts';
import type { Standing } from '../rules/standing.ts';
import type { Block } from './feed.ts';

/**
 * An activity; `_id` is its activityKey. `pending` names its insertion, and is absent once the
 * activity counts.
 */
export type ActivityDocument = ActivityContent & { _id: string; year: string; pending?: ObjectId };

/** A document whose changes have events. `pendingAt` is when the first of them was made. */
export type WithOutbox = { _id: string; outbox?: StoredPending[]; pendingAt?: number };

/** A POINTS_CHANGED of a standing, whose `_id` says the rest; or any other event. */
export type StoredPending = PendingPoints | Event;
/** `points` are the activity's, and `before` are the standing's. */
export type PendingPoints = Pick<Event, 'id' | 'occurredAt' | 'activityId'> & {
  points: number;
  before: number;
};
/** Events of a document that is gone or had too many; those of a standing have its member. */
export type OutboxDocument = WithOutbox & { memberId?: string };

/**
 * The sums of one member with one partner in one membership year. Every change sets a new `version`
 * and replaces `recent`: what it decided, by the IDs of activities and of their insertions.
 */
export type StandingDocument = Standing &
  WithOutbox & {
    memberId: string;
    version: ObjectId;
    recent: Decision[];
    /** The member was merged into another one: no activity is added any more. */
    isClosed?: true;
    /** The members whose closed sums are in these. */
    added?: string[];
  };
/**
 * Either the activity is in the sums, or it is refused. `id` is its ID without the partner, which
 * the standing names.
 */
export type Decision = { id: string; pending: ObjectId; refused?: true };

/** By the ID that a member had, the one that it is part of now; `claims` as long as it is to be. */
type MergeDocument = { _id: string; claims: string; into?: string };

type ProgramDocument = Program & WithOutbox;

/** Events together, with the UTC day on which they got their positions. `_id` is its blockId. */
export type BlockDocument = Block & { _id: string; day: number };
/** The last position of a partner, and its day. */
type HeadDocument = { _id: string; last: number; day: number };
export type Collections = Awaited<ReturnType<typeof openCollections>>;

/** What recording relies on: that a write is never rolled back, and that a read sees it. */
const STRICT = { readPreference: 'primary', writeConcern: { w: 'majority' } } as const;
/** For readers too: a position that they have seen never becomes another event's. */
const LASTING = { ...STRICT, readConcern: 'majority' } as const;
const PENDING: [IndexSpecification, CreateIndexesOptions] = [{ pendingAt: 1 }, { sparse: true }];

/**
 * Opens the collections with their validators and indexes. No index is unique, so that standings
 * and activities can be sharded by `_id`, hashed.
 */
export async function openCollections(db: Db) {
  const [sums, , programs] = await Promise.all([
    openCollection<StandingDocument>(db, 'standings', SCHEMAS.standings, [
      [{ memberId: 1 }, {}],
      PENDING,
    ]),
    openCollection<ActivityDocument>(db, 'activities', SCHEMAS.activities, [
      [{ memberId: 1, partnerId: 1, occurredAt: 1, _id: 1 }, {}],
    ]),
    openCollection<ProgramDocument>(db, 'programs', SCHEMAS.programs, [PENDING]),
    openCollection(db, 'eventOutbox', undefined, [PENDING, [{ memberId: 1 }, { sparse: true }]]),
    openCollection(db, 'events', undefined, [
      [{ 'events.id': 1 }, {}],
      [{ 'events.memberId': 1 }, {}],
      [{ day: 1, _id: 1 }, {}],
    ]),
    openCollection(db, 'mergedMembers', undefined, [
      [{ into: 1 }, {}],
      [{ claims: 1 }, {}],
    ]),
    openCollection(db, 'eventHeads'),
    openCollection(db, 'eventState'),
  ]);
  // `sums` are the standings, read where the URL prefers.
  return { ...strictCollections(db), programs, sums };
}

/** The collections that recording and the feed write to. */
export function strictCollections(db: Db) {
  return {
    db,
    standings: db.collection<StandingDocument>('standings', STRICT),
    activities: db.collection<ActivityDocument>('activities', STRICT),
    merges: db.collection<MergeDocument>('mergedMembers', STRICT),
    outbox: db.collection<OutboxDocument>('eventOutbox', STRICT),
    changedPrograms: db.collection<ProgramDocument>('programs', STRICT),
    events: db.collection<BlockDocument>('events', LASTING),
    eventState: db.collection<{ _id: string; until: number }>('eventState', STRICT),
    eventHeads: db.collection<HeadDocument>('eventHeads', LASTING),
  };
}

const text = { bsonType: 'string', minLength: 1 };
const int = { bsonType: 'int' };
const id = { bsonType: 'objectId' };
const SCHEMAS = {
  standings: {
    bsonType: 'object',
    required: ['_id', 'memberId', 'points', 'stays', 'version', 'recent'],
    properties: {
      _id: { bsonType: 'string', minLength: 5 },
      memberId: text,
      points: int,
      stays: int,
      version: id,
      recent: {
        bsonType: 'array',
        items: {
          bsonType: 'object',
          required: ['id', 'pending'],
          properties: { id: text, pending: id, refused: { bsonType: 'bool' } },
        },
      },
    },
  },
  activities: {
    bsonType: 'object',
    required: ['_id', 'partnerId', 'memberId', 'year', 'points', 'stays', 'occurredAt'],
    properties: {
      _id: { bsonType: 'string', minLength: 3 },
      partnerId: text,
      memberId: text,
      year: text,
      points: int,
      stays: int,
      occurredAt: { bsonType: 'date' },
      pending: id,
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
      tierValidity: { enum: ['year', 'nextYear'] },
    },
  },
} satisfies Record<string, Document>;
