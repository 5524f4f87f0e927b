// A working copy of some members that rules act on and that is then stored as one batch.
import { eventsOf, type MemberEvent } from '../rules/events.ts';
import type { MergedMember } from '../rules/member.ts';
import { keysOf, type MemberRecord, type MemberRecords, updated } from '../rules/record.ts';
import {
  findByIds,
  findByKeys,
  isTombstone,
  type MemberDocument,
  type MembersCollection,
  replaceUnchanged,
  type VersionedRecord,
  versionedRecord,
} from './documents.mongo.ts';
import { switchOver } from './merge.mongo.ts';

export type WorkingSet = MemberRecords & {
  /** The IDs of the members that rules have read or written, in order, with repetitions. */
  touched: readonly string[];
  written: readonly Write[];
  /** Stores what rules have written. Returns false if another write of a member came first. */
  store(): Promise<boolean>;
};

type Write = {
  memberId: string;
  /** Whether `store` has stored it. */
  isStored: boolean;
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
  const outboxes = new Map<string, MemberEvent[]>();
  const touched: string[] = [];
  const written: Write[] = [];
  /** The IDs of the members who are stored by the time of the current round. */
  const stored = new Set<string>();
  let round = newRound();
  const rounds = [round];
  const hold = (record: MemberRecord) => {
    records.set(record.memberId, record);
    for (const key of keysOf(record)) holders.set(key, record.memberId);
  };
  const read = (memberId: string | undefined) => {
    const record = memberId === undefined ? undefined : records.get(memberId);
    if (record) touched.push(record.memberId);
    return record;
  };
  const conflictsOf = async (changed: VersionedRecord[]) => {
    const conflicts = await replaceUnchanged(members, changed);
    return changed.flatMap(({ record }, index) => (conflicts.has(index) ? [record.memberId] : []));
  };
  const merged = new Map<string, MergedMember>();
  for (const document of await readSettled(members, ids, keys)) {
    const { record, version, outbox } = versionedRecord(document);
    const { memberId } = record;
    // Whoever is added under its ID takes its place, with the events in it.
    if (!isTombstone(document)) hold(record);
    const { mergedInto, partnerIds = [] } = document;
    if (mergedInto !== undefined) merged.set(memberId, { mergedInto, partnerIds });
    versions.set(memberId, version);
    outboxes.set(memberId, outbox);
    stored.add(memberId);
  }

  return {
    byId: read,
    byKey: (key) => read(holders.get(key)),
    merged: (memberId) => merged.get(memberId),
    write(before, wanted) {
      const next = updated(before, wanted);
      if (!fits(round, next)) {
        for (const memberId of round.records.keys()) stored.add(memberId);
        round = newRound();
        rounds.push(round);
      }
      const events = eventsOf(before, next);
      const outbox = [...(outboxes.get(next.memberId) ?? []), ...events];
      outboxes.set(next.memberId, outbox);
      round.outboxes.set(next.memberId, outbox);
      written.push(addWrite(round, stored.has(next.memberId) ? before : undefined, next));
      if (before) for (const key of keysOf(before)) holders.delete(key);
      hold(next);
      touched.push(next.memberId);
      return next;
    },
    touched,
    written,
    async store() {
      for (const { records: last, writes, outboxes: pending } of rounds) {
        const changed = Array.from(last, ([memberId, record]) => {
          const outbox = pending.get(memberId) ?? [];
          return { record, version: versions.get(memberId) ?? 0, outbox };
        });
        const refused = new Set([
          ...(await conflictsOf(changed.filter(({ version }) => version > 0))),
          // After those who lose keys to them.
          ...(await conflictsOf(changed.filter(({ version }) => version === 0))),
        ]);
        for (const write of writes) write.isStored = !refused.has(write.memberId);
        if (refused.size > 0) return false;
        for (const { record, version } of changed) versions.set(record.memberId, version + 1);
      }
      return true;
    },
  };
}

/** Writes that are stored together, of each member only the last. */
type Round = {
  /** The last record of each member by ID, in the order in which they are stored. */
  records: Map<string, MemberRecord>;
  /** The pending events of each of them, with those of writes until then. */
  outboxes: Map<string, MemberEvent[]>;
  writes: Write[];
  /** By key, the ID of the stored member who gave it up. */
  givenUp: Map<string, string>;
  /** The IDs of the stored members who gave up a key that another one has taken. */
  losers: Set<string>;
};

function newRound(): Round {
  return {
    records: new Map(),
    outboxes: new Map(),
    writes: [],
    givenUp: new Map(),
    losers: new Set(),
  };
}

/**
 * Whether a write can be stored with a round's. Whoever loses a key must be stored before the one
 * who takes it, so a loser keeps its place and, at that place, can lose keys but take none.
 */
function fits({ records, losers }: Round, next: MemberRecord): boolean {
  const last = losers.has(next.memberId) ? records.get(next.memberId) : undefined;
  if (last === undefined) return true;
  const keys = new Set(keysOf(last));
  return keysOf(next).every((key) => keys.has(key));
}

/** Adds a write that fits; `before` is the record before it of a member who is stored. */
function addWrite(
  { records, writes, givenUp, losers }: Round,
  before: MemberRecord | undefined,
  next: MemberRecord,
): Write {
  const { memberId } = next;
  const keys = new Set(keysOf(next));
  if (before) for (const key of keysOf(before)) if (!keys.has(key)) givenUp.set(key, memberId);
  for (const key of keys) {
    const loser = givenUp.get(key);
    if (loser !== undefined && loser !== memberId) losers.add(loser);
  }
  if (!losers.has(memberId)) records.delete(memberId);
  records.set(memberId, next);
  const write = { memberId, isStored: false };
  writes.push(write);
  return write;
}

/**
 * Reads members once none of them is in the middle of a merge, and those that merged ones are part
 * of now.
 */
async function readSettled(
  members: MembersCollection,
  ids: readonly string[],
  keys: readonly string[],
): Promise<MemberDocument[]> {
  for (const all = new Set(ids); ; ) {
    const found = [...(await readOnce(members, [...all], keys))];
    const pairs = found.flatMap(({ joining }) => joining ?? []);
    const current = found.flatMap(({ mergedInto }) => mergedInto ?? []);
    if (pairs.length === 0 && current.every((id) => all.has(id))) return found;
    for (const pair of pairs) await switchOver(members, pair);
    for (const id of current) all.add(id);
  }
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
    ids.length === 0 ? [] : findByIds(members, ids).toArray(),
    keys.length === 0 ? [] : findByKeys(members, [...new Set(keys)]).toArray(),
  ]);
  return new Map([...byId, ...byKey].map((document) => [document._id, document])).values();
}
