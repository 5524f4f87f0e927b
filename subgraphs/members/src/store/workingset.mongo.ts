// A working copy of some members, read together, on which the rules act; what they write is stored together, each row only over what was read.
import type { Collection } from 'mongodb';
import type { MemberRecords } from '../rules/enrollment.ts';
import { keysOf, type StoredMember } from '../rules/record.ts';
import { heldOf, idsQuery, keysQuery, type MemberDocument, replaceAll } from './documents.mongo.ts';

export type WorkingSet = MemberRecords & {
  /** Whom the rules have written, one entry a write. */
  written: readonly string[];
  /** Stores what the rules have written; returns the ids of the members who were not, because another write came first. */
  store(): Promise<Set<string>>;
};

/** Reads the members of these ids and keys. A rule that acts on the view must ask for no others. */
export async function readWorkingSet(
  members: Collection<MemberDocument>,
  ids: readonly string[],
  keys: readonly string[],
): Promise<WorkingSet> {
  const [byId, byKey] = await Promise.all([
    ids.length === 0 ? [] : idsQuery(members, [...new Set(ids)]).toArray(),
    keys.length === 0 ? [] : keysQuery(members, [...new Set(keys)]).toArray(),
  ]);
  const rows = new Map<string, StoredMember>();
  const holders = new Map<string, string>();
  const versions = new Map<string, number>();
  const written: string[] = [];
  const hold = (row: StoredMember) => {
    rows.set(row.memberId, row);
    for (const key of keysOf(row)) holders.set(key, row.memberId);
  };
  // By id first: a member found both ways may have changed between the two reads.
  const found = new Map([...byId, ...byKey].map((document) => [document._id, document]));
  for (const { row, version } of Array.from(found.values(), heldOf)) {
    hold(row);
    versions.set(row.memberId, version);
  }

  return {
    byId: (memberId) => rows.get(memberId),
    byKey: (key) => rows.get(holders.get(key) ?? ''),
    write(before, next) {
      if (before) for (const key of keysOf(before)) holders.delete(key);
      hold(next);
      written.push(next.memberId);
    },
    written,
    async store() {
      // In the order of the last writes: a member who gives an address up was written before the one who takes it.
      const ids = [...new Set(written.toReversed())].reverse();
      const changed = ids.flatMap((memberId) => {
        const row = rows.get(memberId);
        return row === undefined ? [] : [{ row, version: versions.get(memberId) ?? 0 }];
      });
      const lost = await replaceAll(members, changed);
      return new Set(ids.filter((_, place) => lost.has(place)));
    },
  };
}
