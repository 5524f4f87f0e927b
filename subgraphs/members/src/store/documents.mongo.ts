// Reads documents of members on MongoDB, and replaces those that nobody else has written since.
import { hash, randomUUID } from 'node:crypto';
import {
  DUPLICATE_KEY,
  openCollection,
  WRITE_CONFLICT,
} from '@partner-loyalty/runtime/store/mongo.ts';
import { oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import {
  type AnyBulkWriteOperation,
  type Collection,
  type Db,
  type Document,
  MongoBulkWriteError,
} from 'mongodb';
import { eventsOf, type MemberEvent, withoutExternalId } from '../rules/events.ts';
import { type ListPosition, listKeysOf } from '../rules/list.ts';
import type { Enrollment, MergedMember, MergedPair } from '../rules/member.ts';
import { keysOf, type MemberRecord } from '../rules/record.ts';

/**
 * `version` counts the writes, so that a write notices whether another came first; `batch`
 * identifies the last one. `keys` are keysOf(record), and `listed` is listedOf(record). The events
 * of its changes are in the document until they are acknowledged; `pendingAt` is when the first one
 * occurred.
 */
export type MemberDocument = Omit<MemberRecord, 'memberId'> & {
  _id: string;
  version: number;
  batch?: string;
  keys: string[];
  listed?: Listed;
  outbox?: MemberEvent[];
  pendingAt?: number;
  /** Set on both members while they are being merged (merge.mongo.ts). */
  joining?: MergedPair;
  /** Only of a tombstone. */
  erasedAt?: number;
} & Partial<MergedMember>; // Set on a tombstone that stays.

export type MembersCollection = Collection<MemberDocument>;

/**
 * Opens the collection with its indexes. That of keys serves every look-up and keeps members apart
 * without transactions: a key is in one document at most. The others have the lists of all
 * partners, and find events.
 */
export function openMembers(db: Db): Promise<MembersCollection> {
  return openCollection(db, 'members', undefined, [
    [{ keys: 1 }, { unique: true }],
    [{ 'listed.$**': 1 }, {}],
    [{ pendingAt: 1 }, { sparse: true }],
  ]);
}

/**
 * A record with the version that it was read in, 0 for a member who is not stored yet, and its
 * pending events.
 */
export type VersionedRecord = { record: MemberRecord; version: number; outbox: MemberEvent[] };

/** How a member has a key as long as another one, who becomes part of the former, has it too. */
export function movedKey(key: string): string {
  return `m\n${key}`;
}

export function isMovedKey(key: string): boolean {
  return key.startsWith('m\n');
}

/** Finds members by keys, moved ones too. Without a projection, whole documents. */
export function findByKeys(
  members: MembersCollection,
  keys: readonly string[],
  projection: Document = {},
) {
  const names = keys.flatMap((key) => [key, movedKey(key)]);
  return members.find({ keys: { $in: names } }, { projection, ...oneResponse(names.length) });
}

/** Finds members by IDs, and tombstones too. Without a projection, whole documents. */
export function findByIds(
  members: MembersCollection,
  ids: readonly string[],
  projection: Document = {},
) {
  return members.find({ _id: { $in: ids } }, { projection, ...oneResponse(ids.length) });
}

export function isTombstone({ erasedAt }: Pick<MemberDocument, 'erasedAt'>): boolean {
  return erasedAt !== undefined;
}

export function versionedRecord({
  _id,
  version,
  batch: _batch,
  keys: _keys,
  listed: _listed,
  outbox = [],
  pendingAt: _pendingAt,
  joining: _joining,
  ...rest
}: MemberDocument): VersionedRecord {
  return { record: { memberId: _id, ...rest }, version, outbox };
}

/**
 * Erases a member, with the events of it; earlier ones lose what they have beside the ID. False if
 * the document was written since it was read.
 */
export async function eraseDocument(
  members: MembersCollection,
  document: MemberDocument,
): Promise<boolean> {
  const { record, version, outbox } = versionedRecord(document);
  const filter = { _id: record.memberId, version };
  const events = [...outbox.map(withoutExternalId), ...eventsOf(record, undefined)];
  if (events.length === 0) return (await members.deleteOne(filter)).deletedCount === 1;
  const { _id: _, ...tombstone } = tombstoneOf(record.memberId, version + 1, events);
  return (await members.replaceOne(filter, tombstone)).matchedCount === 1;
}

/** What keeps the events of a member who is gone until they are acknowledged. It is no member. */
export function tombstoneOf(_id: string, version: number, events: MemberEvent[]): MemberDocument {
  const tombstone = {
    _id,
    version,
    // The index takes only one document that has none. No look-up asks for this one.
    keys: [`d\n${_id}`],
    erasedAt: Date.now(),
    ...pendingFields(events),
  };
  // Cast: every read of members leaves tombstones out.
  return tombstone as Partial<MemberDocument> as MemberDocument;
}

/** How a document keeps events. */
export function pendingFields(outbox: MemberEvent[]): Pick<MemberDocument, 'outbox' | 'pendingAt'> {
  const [first] = outbox;
  return first === undefined ? {} : { outbox, pendingAt: first.occurredAt };
}

/**
 * Replaces each record that still has its version, in the given order as far as the server keeps
 * it. Returns the indexes of the records that were not written, because another write came first,
 * the member was deleted, or another member has one of the keys.
 */
export async function replaceUnchanged(
  members: MembersCollection,
  records: readonly VersionedRecord[],
): Promise<Set<number>> {
  if (records.length === 0) return new Set();
  const batch = randomUUID();
  const writes = records.map((one) => writeIfUnchanged(one, batch));
  let conflicts: Set<number>;
  let matched: number;
  try {
    const result = await members.bulkWrite(writes, { ordered: false });
    [conflicts, matched] = [new Set(), result.matchedCount];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    if (failures.length === 0 && isConflict(error)) return new Set(records.keys());
    if (failures.length === 0 || !failures.every(isConflict)) throw error;
    [conflicts, matched] = [new Set(failures.map(({ index }) => index)), error.matchedCount];
  }
  const expected = records.filter(({ version }, index) => version > 0 && !conflicts.has(index));
  if (matched === expected.length) return conflicts;
  return new Set([...conflicts, ...(await unwritten(members, records, batch))]);
}

/** The indexes of the records whose documents are not of this batch. */
async function unwritten(
  members: MembersCollection,
  records: readonly VersionedRecord[],
  batch: string,
): Promise<number[]> {
  const ids = records.map(({ record }) => record.memberId);
  const options = { projection: { _id: 1 }, ...oneResponse(ids.length) } as const;
  const found = members.find({ _id: { $in: ids }, batch }, options);
  const written = new Set((await found.toArray()).map(({ _id }) => _id));
  return ids.flatMap((id, index) => (written.has(id) ? [] : [index]));
}

export function isConflict({ code }: { code?: number | string }): boolean {
  return code === DUPLICATE_KEY || code === WRITE_CONFLICT;
}

// Without an upsert, since that would bring a member back who has been erased.
function writeIfUnchanged(
  { record, version, outbox }: VersionedRecord,
  batch: string,
): AnyBulkWriteOperation<MemberDocument> {
  const { memberId, ...rest } = record;
  const next = {
    ...rest,
    version: version + 1,
    batch,
    keys: keysOf(record),
    listed: listedOf(record),
    ...pendingFields(outbox),
  };
  if (version === 0) return { insertOne: { document: { _id: memberId, ...next } } };
  return { replaceOne: { filter: { _id: memberId, version }, replacement: next } };
}

/** The place in the list of each partner, by status and by the partner's field. */
type Listed = { [Status in Enrollment['status']]?: Record<string, string> };

export function listedOf(record: Pick<MemberRecord, 'memberId' | 'enrollments'>): Listed {
  const listed: Listed = {};
  for (const { partnerId, status, ...position } of listKeysOf(record))
    listed[status] = { ...listed[status], [fieldOf(partnerId)]: placeOf(position) };
  return listed;
}

const TIME_DIGITS = 16;

/** A text in the order of lists. */
export function placeOf({ updatedAt, memberId }: ListPosition): string {
  return `${String(updatedAt).padStart(TIME_DIGITS, '0')}\n${memberId}`;
}

/** The time of a place. */
export function timeOf(place: string): number {
  return Number(place.slice(0, TIME_DIGITS));
}

/** Short, and without characters that mean something in a path. */
export function fieldOf(partnerId: string): string {
  return hash('sha256', partnerId, 'base64url').slice(0, 22);
}
