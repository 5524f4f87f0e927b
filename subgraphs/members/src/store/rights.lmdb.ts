// Members' rights on LMDB: each step is one transaction.
import type { LmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import { markErased } from '@partner-loyalty/runtime/store/rewrite.lmdb.ts';
import type { Database } from 'lmdb';
import type { RightsEngine } from '../rights/rights.ts';
import { addressesIn, withoutAddresses } from '../rights/traces.ts';
import { eventsOf } from '../rules/events.ts';
import { isEqual, type MemberRecord, type MemberRecords } from '../rules/record.ts';
import type { LmdbEvents } from './events.lmdb.ts';
import type { MergedMembers } from './merge.lmdb.ts';

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
        if (key !== memberId && hasAny(value, addresses)) others.push(key);
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

function hasAny(record: MemberRecord, addresses: ReadonlySet<string>): boolean {
  return [...addressesIn(record)].some((address) => addresses.has(address));
}
