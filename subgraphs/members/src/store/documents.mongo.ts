// Reads member documents on MongoDB, and replaces those that nobody else has written since.
import { DUPLICATE_KEY, WRITE_CONFLICT } from '@partner-loyalty/runtime/mongo';
import { type AnyBulkWriteOperation, MongoBulkWriteError } from 'mongodb';
import type { Identity, WholeIdentity } from '../rules/member.ts';
import { keysOf, type MemberRecord } from '../rules/record.ts';
import type { MemberDocument, MembersCollection } from './collection.mongo.ts';

/** A record with the version that it was read in; 0 for a member who is not stored yet. */
export type VersionedRecord = { record: MemberRecord; version: number };

/** Finds members by keys. */
export function findByKeys(members: MembersCollection, keys: readonly string[]) {
  return members.find({ keys: { $in: keys } });
}

/** Finds members by IDs. */
export function findByIds(members: MembersCollection, ids: readonly string[]) {
  return members.find({ _id: { $in: ids } });
}

const IDENTITY = { email: 1, firstName: 1, lastName: 1, keys: 1 } as const satisfies Record<
  Exclude<keyof Identity, 'memberId'> | 'keys',
  1
>;

/** The identity that each of the keys leads to. The map may have more keys. */
export async function identitiesByKey(
  members: MembersCollection,
  keys: readonly string[],
): Promise<Map<string, Identity>> {
  const identities = new Map<string, Identity>();
  const documents = await findByKeys(members, keys).project<MemberDocument>(IDENTITY).toArray();
  for (const document of documents) {
    const { _id: memberId, email, firstName, lastName } = document;
    const identity: WholeIdentity = { memberId, email, firstName, lastName };
    for (const key of document.keys) identities.set(key, identity);
  }
  return identities;
}

export function versionedRecord({
  _id,
  version,
  keys: _,
  ...rest
}: MemberDocument): VersionedRecord {
  return { record: { memberId: _id, ...rest }, version };
}

/**
 * Replaces each record that still has its version, in no particular order. Returns the indexes of
 * the records that were not written, because another write came first or another member has one of
 * the keys.
 */
export async function replaceUnchanged(
  members: MembersCollection,
  records: readonly VersionedRecord[],
): Promise<Set<number>> {
  if (records.length === 0) return new Set();
  try {
    await members.bulkWrite(records.map(replaceIfUnchanged), { ordered: false });
    return new Set();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    if (failures.length === 0 && isConflict(error)) return new Set(records.keys());
    if (failures.length === 0 || !failures.every(isConflict)) throw error;
    return new Set(failures.map(({ index }) => index));
  }
}

function isConflict({ code }: { code?: number | string }): boolean {
  return code === DUPLICATE_KEY || code === WRITE_CONFLICT;
}

// If the version has moved on, the upsert becomes an insertion of an ID that exists: a duplicate,
// reported with its index.
function replaceIfUnchanged({
  record,
  version,
}: VersionedRecord): AnyBulkWriteOperation<MemberDocument> {
  const { memberId, ...rest } = record;
  const replacement = { ...rest, version: version + 1, keys: keysOf(record) };
  return { replaceOne: { filter: { _id: memberId, version }, replacement, upsert: true } };
}
