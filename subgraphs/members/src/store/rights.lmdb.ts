// Members' rights on LMDB: each step is one transaction.
import type { LmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import { markErased } from '@partner-loyalty/runtime/store/rewrite.lmdb.ts';
import type { Database, RootDatabase } from 'lmdb';
import type { RightsEngine } from '../rights/rights.ts';
import { addressesIn, withoutAddresses } from '../rights/traces.ts';
import { eventsOf, type MemberEvent } from '../rules/events.ts';
import type { MergedMember, MergedPair } from '../rules/member.ts';
import { eventsOfMerge, mergedRecord } from '../rules/merge.ts';
import { isEqual, type MemberRecord, type MemberRecords } from '../rules/record.ts';
import type { LmdbEvents } from './events.lmdb.ts';

type Parts = {
  members: Database<MemberRecord, string>;
  merged: MergedMembers;
  marks: LmdbMarks;
  records: MemberRecords & { remove(record: MemberRecord): void };
  events: LmdbEvents;
  /** Resolves when the change is on disk. */
  transact<T>(change: () => T): Promise<T>;
  dataDir: string;
};

export function createLmdbRightsEngine(parts: Parts): RightsEngine {
  const { members, merged, marks, records, events, transact, dataDir } = parts;
  return {
    marks: {
      has: async (memberId) => marks.has(memberId),
      async add(memberId) {
        markErased(dataDir, 'members');
        await transact(() => marks.add(memberId, new Date()));
      },
      remove: (memberId) => transact(() => marks.remove(memberId)),
    },
    find: records.byKey,
    async load(memberId) {
      const record = members.get(memberId);
      if (record !== undefined) return { record, remove: () => transact(() => remove(record)) };
      const found = merged.get(memberId);
      return found && { merged: found, remove: () => transact(() => removeMerged(memberId)) };
    },
    async forgetAddresses({ memberId, addresses }) {
      // Reads outside of a transaction: nobody else gets such an address as a former one meanwhile.
      const others: string[] = [];
      for (const { key, value } of members.getRange())
        if (key !== memberId && [...addressesIn(value)].some((one) => addresses.has(one)))
          others.push(key);
      for (const other of others)
        await transact(() => {
          const record = members.get(other);
          if (record !== undefined) records.write(record, withoutAddresses(record, addresses));
        });
    },
  };

  function removeMerged(memberId: string): boolean {
    events.forget(memberId);
    return merged.removeSync(memberId);
  }

  function remove(record: MemberRecord): boolean {
    const { memberId } = record;
    const stored = members.get(memberId);
    if (stored === undefined) return true;
    if (!isEqual(stored, record)) return false;
    records.remove(stored);
    events.forget(memberId);
    events.add(eventsOf(stored, undefined));
    return true;
  }
}

type MergedMembers = Database<MergedMember, string>;

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
