// The members collection on MongoDB: its documents, validator and index, and the reads and guarded writes that the store is made of.
import { DUPLICATE_KEY, openCollection, WRITE_CONFLICT } from '@partner-loyalty/runtime';
import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import { keysOf, type StoredMember } from '../rules/record.ts';
import type { Identity } from './store.ts';

/** `version` counts the changes, so that a write can tell whether another came first. `keys` are keysOf(row). */
export type MemberDocument = Omit<StoredMember, 'memberId'> & {
  _id: string;
  version: number;
  keys: string[];
};

/** A row as it was read, with what a write has to find unchanged; `version` is 0 for a member who is not stored yet. */
export type Held = { row: StoredMember; version: number };

const strings = { bsonType: 'array', items: { bsonType: 'string', minLength: 1 } };
const SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'version', 'email', 'address', 'earlier', 'released', 'enrollments', 'keys'],
  properties: {
    _id: { bsonType: 'string', minLength: 1 },
    version: { bsonType: 'int', minimum: 1 },
    email: { bsonType: 'string', minLength: 3 },
    firstName: { bsonType: 'string', minLength: 1 },
    lastName: { bsonType: 'string', minLength: 1 },
    address: { bsonType: 'string', pattern: '^[^@]+@[a-z0-9.-]+$' },
    earlier: strings,
    released: strings,
    enrollments: {
      bsonType: 'array',
      items: {
        bsonType: 'object',
        required: ['partnerId', 'status'],
        properties: {
          partnerId: { bsonType: 'string', minLength: 1 },
          status: { enum: ['ACTIVE', 'ENDED'] },
          externalId: { bsonType: 'string', minLength: 1 },
        },
      },
    },
    keys: { ...strings, minItems: 1 },
    tokens: {
      bsonType: 'array',
      items: {
        bsonType: 'object',
        required: ['hash', 'use', 'expiresAt'],
        properties: {
          hash: { bsonType: 'string', pattern: '^[0-9a-f]{64}$' },
          use: { enum: ['sign-in', 'change', 'undo'] },
          expiresAt: { minimum: 0 },
        },
      },
    },
    changes: {
      bsonType: 'array',
      items: { bsonType: 'object', required: ['id', 'at', 'from', 'to', 'known'] },
    },
    undone: { bsonType: 'object', required: ['id', 'at'] },
  },
};

/** The collection with its validator and index. The index serves every look-up, and keeps members apart without a transaction: a key is in one document at most. */
export function openMembers(db: Db): Promise<Collection<MemberDocument>> {
  return openCollection(db, 'members', SCHEMA, [[{ keys: 1 }, { unique: true }]]);
}

/** The look-up of members by keys, as the driver sends it. */
export function keysQuery(members: Collection<MemberDocument>, keys: readonly string[]) {
  return members.find({ keys: { $in: keys } });
}

/** The look-up of members by id, as the driver sends it. */
export function idsQuery(members: Collection<MemberDocument>, ids: readonly string[]) {
  return members.find({ _id: { $in: ids } });
}

/** Who each of the keys leads to. */
export async function identitiesByKey(
  members: Collection<MemberDocument>,
  sought: readonly string[],
): Promise<Map<string, Identity>> {
  const identities = new Map<string, Identity>();
  const documents = await keysQuery(members, sought)
    .project<MemberDocument>({ email: 1, firstName: 1, lastName: 1, keys: 1 })
    .toArray();
  // A document brings all its keys; those that nobody asked for do no harm.
  for (const { _id, email, firstName, lastName, keys } of documents) {
    for (const key of keys) identities.set(key, { memberId: _id, email, firstName, lastName });
  }
  return identities;
}

/** The row of a document, with what replaceAll has to find unchanged. */
export function heldOf({ _id, version, keys: _, ...rest }: MemberDocument): Held {
  return { row: { memberId: _id, ...rest }, version };
}

/**
 * Writes rows over those they were made from, each by itself and in no certain order; returns the places of those that were not written,
 * because another write came first or another member holds one of the keys.
 */
export async function replaceAll(
  members: Collection<MemberDocument>,
  rows: readonly Held[],
): Promise<Set<number>> {
  if (rows.length === 0) return new Set();
  try {
    await members.bulkWrite(rows.map(guarded), { ordered: false });
    return new Set();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const faults = [error.writeErrors].flat();
    if (faults.length === 0 && isConflict(error)) return new Set(rows.keys());
    if (faults.length === 0 || !faults.every(isConflict)) throw error;
    return new Set(faults.map(({ index }) => index));
  }
}

function isConflict({ code }: { code?: number | string }): boolean {
  return code === DUPLICATE_KEY || code === WRITE_CONFLICT;
}

// Where the version has moved on, the upsert turns into an insertion of an id that is there: a duplicate, which names the place in the list.
function guarded({
  row: { memberId, ...rest },
  version,
}: Held): AnyBulkWriteOperation<MemberDocument> {
  const replacement = { ...rest, version: version + 1, keys: keysOf({ memberId, ...rest }) };
  return { replaceOne: { filter: { _id: memberId, version }, replacement, upsert: true } };
}
