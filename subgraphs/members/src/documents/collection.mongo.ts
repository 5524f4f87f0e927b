// The members collection on MongoDB: its documents, validator and index.
import type { MongoMigration } from '@partner-loyalty/runtime/store/migrate.mongo.ts';
import { openCollection, setValidator } from '@partner-loyalty/runtime/store/mongo.ts';
import type { Collection, Db } from 'mongodb';
import type { MemberRecord } from '../rules/record.ts';

/**
 * `version` counts the writes, so that a write can tell whether another came first; `batch`
 * identifies the last one. `keys` are keysOf(record).
 */
export type MemberDocument = Omit<MemberRecord, 'memberId'> & {
  _id: string;
  version: number;
  batch?: string;
  keys: string[];
};

export type MembersCollection = Collection<MemberDocument>;

const string = { bsonType: 'string', minLength: 1 };
const strings = { bsonType: 'array', items: string };
const enrollment = {
  bsonType: 'object',
  required: ['partnerId', 'status'],
  properties: { partnerId: string, status: { enum: ['ACTIVE', 'ENDED'] }, externalId: string },
};
const token = {
  bsonType: 'object',
  required: ['hash', 'use', 'expiresAt'],
  properties: {
    hash: { bsonType: 'string', pattern: '^[0-9a-f]{64}$' },
    use: { enum: ['sign-in', 'change', 'undo', 'contest'] },
    expiresAt: { minimum: 0 },
  },
};
const taken = { bsonType: 'object', required: ['undoId', 'at', 'address'] };
const change = { bsonType: 'object', required: ['id', 'at', 'from', 'to', 'known'] };

const SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'version', 'email', 'address', 'earlier', 'released', 'enrollments', 'keys'],
  properties: {
    _id: string,
    version: { bsonType: 'int', minimum: 1 },
    email: { bsonType: 'string', minLength: 3 },
    firstName: string,
    lastName: string,
    address: { bsonType: 'string', pattern: '^[^@]+@[a-z0-9.-]+$' },
    earlier: strings,
    released: strings,
    enrollments: { bsonType: 'array', items: enrollment },
    keys: { ...strings, minItems: 1 },
    tokens: { bsonType: 'array', items: token },
    changes: { bsonType: 'array', items: change },
    undone: { bsonType: 'object', required: ['id', 'at'] },
    takenAway: { bsonType: 'array', items: taken },
    locked: strings,
  },
};

/**
 * Opens the collection with its validator and index. The index serves every look-up and keeps
 * members apart without transactions: a key is in one document at most.
 */
export function openMembers(db: Db): Promise<MembersCollection> {
  return openCollection(db, 'members', SCHEMA, [[{ keys: 1 }, { unique: true }]]);
}

/** What format 2 adds may be absent. */
export const MIGRATION: MongoMigration = {
  count: async () => 0,
  run: (db) => setValidator(db, 'members', SCHEMA),
};
