// Members who were merged into others, on LMDB.
import type { Database, RootDatabase } from 'lmdb';
import type { MemberEvent } from '../rules/events.ts';
import type { MergedMember, MergedPair } from '../rules/member.ts';
import { eventsOfMerge, mergedRecord } from '../rules/merge.ts';
import type { MemberRecord } from '../rules/record.ts';

export type MergedMembers = Database<MergedMember, string>;

/** By the IDs that they had. */
export function openMergedMembers(root: RootDatabase): MergedMembers {
  return root.openDB<MergedMember, string>({ name: 'merged', encoding: 'json' });
}

/** What a merge does to the tables, within a transaction. */
type Writes = {
  byId(memberId: string): MemberRecord | undefined;
  /** Removes a record with all that leads to it. */
  remove(record: MemberRecord): void;
  write(before: MemberRecord, wanted: MemberRecord, eventsOf: EventsOf): void;
};
export type EventsOf = (before: MemberRecord | undefined, next: MemberRecord) => MemberEvent[];

/** Makes one record of two. Call it in a transaction. */
export function mergeRecords(merged: MergedMembers, writes: Writes, { from, into }: MergedPair) {
  const [lost, kept] = [writes.byId(from), writes.byId(into)];
  if (lost === undefined && merged.get(from)?.mergedInto === into) return;
  if (lost === undefined || kept === undefined)
    throw new Error('one of the members was erased meanwhile');
  writes.remove(lost);
  writes.write(kept, mergedRecord(kept, lost), (_, next) => eventsOfMerge(kept, lost, next));
  const partnerIds = lost.enrollments.map(({ partnerId }) => partnerId);
  merged.put(from, { mergedInto: into, partnerIds });
}
