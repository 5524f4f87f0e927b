// A working copy of some members that rules act on and that is then stored as one batch.

import type { MembersCollection } from '../documents/collection.mongo.ts';
import {
  findByIds,
  findByKeys,
  replaceUnchanged,
  versionedRecord,
} from '../documents/documents.mongo.ts';
import type { MemberRecords } from '../rules/record.ts';
import { keysOf, type MemberRecord } from '../rules/record.ts';

export type WorkingSet = MemberRecords & {
  /** The IDs of the members that rules have written, one for each write. */
  written: readonly string[];
  /**
   * Stores what rules have written. Returns the IDs of the members that were not stored, because
   * another write came first.
   */
  store(): Promise<Set<string>>;
};

/**
 * Reads the members with these IDs and keys. A rule that acts on the working set must ask for no
 * others.
 */
export async function readWorkingSet(
  members: MembersCollection,
  ids: readonly string[],
  keys: readonly string[],
): Promise<WorkingSet> {
  const records = new Map<string, MemberRecord>();
  const holders = new Map<string, string>();
  const versions = new Map<string, number>();
  const written: string[] = [];
  const hold = (record: MemberRecord) => {
    records.set(record.memberId, record);
    for (const key of keysOf(record)) holders.set(key, record.memberId);
  };
  for (const { record, version } of await readOnce(members, ids, keys)) {
    hold(record);
    versions.set(record.memberId, version);
  }

  return {
    byId: (memberId) => records.get(memberId),
    byKey: (key) => records.get(holders.get(key) ?? ''),
    write(before, next) {
      if (before) for (const key of keysOf(before)) holders.delete(key);
      hold(next);
      written.push(next.memberId);
    },
    written,
    async store() {
      // In the order of the last writes: a member who gives up an address was written before the
      // one who takes it.
      const memberIds = [...new Set(written.toReversed())].reverse();
      const changed = memberIds.flatMap((memberId) => {
        const record = records.get(memberId);
        return record === undefined ? [] : [{ record, version: versions.get(memberId) ?? 0 }];
      });
      const conflicts = await replaceUnchanged(members, changed);
      return new Set(memberIds.filter((_, index) => conflicts.has(index)));
    },
  };
}

/**
 * A member found by both ID and key may have changed between the two reads: the one by key counts.
 */
async function readOnce(
  members: MembersCollection,
  ids: readonly string[],
  keys: readonly string[],
) {
  const [byId, byKey] = await Promise.all([
    ids.length === 0 ? [] : findByIds(members, [...new Set(ids)]).toArray(),
    keys.length === 0 ? [] : findByKeys(members, [...new Set(keys)]).toArray(),
  ]);
  const documents = new Map([...byId, ...byKey].map((document) => [document._id, document]));
  return Array.from(documents.values(), versionedRecord);
}
