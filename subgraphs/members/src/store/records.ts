// The records of members in a transaction, as rules read and write them.
import type { Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import { eventsOf, type MemberEvent } from '../rules/events.ts';
import type { MergedPair } from '../rules/member.ts';
import { eventsOfMerge, mergedRecord, timeOfMerge } from '../rules/merge.ts';
import { keysOf, type MemberRecord, type MemberRecords, updated } from '../rules/record.ts';
import { EVENTS, isMerged, KEYS, MEMBERS, type MemberRow, partsOf } from './rows.ts';

export type StoredRecords = MemberRecords & {
  /** Reads what rules will ask for, in two reads. */
  prefetch(ids: readonly string[], keys: readonly string[]): void;
  /** Gives the member who stays all that the other one has. Nothing changes if it is done. */
  merge(pair: MergedPair): void;
  /** Removes what is under an ID, with the events of it. */
  remove(memberId: string, row: MemberRow): void;
  /** The IDs of the members that were written. */
  written: ReadonlySet<string>;
};

/**
 * A key or an ID that leads to nobody may lead to somebody when the transaction ends, unless what
 * the rule writes has it.
 */
export function recordsOf(tx: Transaction): StoredRecords {
  const written = new Set<string>();

  function rowOf(memberId: string): MemberRow | undefined {
    const isThere = tx.peek(MEMBERS, [memberId]) !== undefined;
    return isThere ? tx.get(MEMBERS, [memberId]) : undefined;
  }

  function byId(memberId: string): MemberRecord | undefined {
    const row = rowOf(memberId);
    return row && !isMerged(row) ? row : undefined;
  }

  function put(next: MemberRecord, events: readonly MemberEvent[], before?: MemberRecord): void {
    const own = new Set(before && keysOf(before));
    const added = keysOf(next).filter((key) => isClaimed(key) && !own.has(key));
    // Whoever else wants one of them conflicts.
    tx.getAll(KEYS, added.map(partsOf));
    tx.put(MEMBERS, [next.memberId], next);
    written.add(next.memberId);
    addEvents(events);
  }

  function addEvents(events: readonly MemberEvent[]): void {
    const order = Math.floor(performance.now() * 1_000);
    for (const [index, event] of events.entries())
      tx.put(EVENTS, [event.occurredAt, event.memberId, order, index], event);
  }

  return {
    byId,
    byKey(key) {
      const found = tx.peek(KEYS, partsOf(key));
      if (found === undefined) return undefined;
      const record = byId(found.memberId);
      // Unless the record has the key, it was read after the key had moved.
      if (record === undefined || !keysOf(record).includes(key)) tx.get(KEYS, partsOf(key));
      return record;
    },
    merged(memberId) {
      const row = rowOf(memberId);
      return row && isMerged(row) ? row : undefined;
    },
    write(before, wanted) {
      const next = updated(before, wanted);
      put(next, eventsOf(before, next), before);
      return next;
    },
    prefetch(ids, keys) {
      const found = tx.peekAll(KEYS, keys.map(partsOf));
      const holders = found.flatMap((one) => one?.memberId ?? []);
      tx.peekAll(
        MEMBERS,
        [...new Set([...ids, ...holders])].map((id) => [id]),
      );
    },
    merge({ from, into }) {
      const [lost, kept] = [rowOf(from), byId(into)];
      if (lost !== undefined && isMerged(lost) && lost.mergedInto === into) return;
      if (lost === undefined || isMerged(lost) || kept === undefined)
        throw new Error('one of the members was erased meanwhile');
      const partnerIds = lost.enrollments.map(({ partnerId }) => partnerId);
      tx.put(MEMBERS, [from], { mergedInto: into, partnerIds });
      const at = timeOfMerge(kept, lost);
      const next = updated(kept, mergedRecord(kept, lost), at);
      put(next, eventsOfMerge(kept, lost, next, at), kept);
    },
    remove(memberId, row) {
      tx.remove(MEMBERS, [memberId]);
      if (!isMerged(row)) addEvents(eventsOf(row, undefined));
    },
    written,
  };
}

/** Only one of two members can have such a key; the others come with one of these. */
function isClaimed(key: string): boolean {
  return key.startsWith('a\n') || key.startsWith('x\n');
}
