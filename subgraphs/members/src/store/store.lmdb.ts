// The members store on LMDB: synchronous reads, and one transaction for each change.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { type EmbeddedStore, openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { type LmdbMarks, openLmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import { createRights } from '../rights/rights.ts';
import { currentId, enrolledMark, lookUpOf } from '../rules/enrollment.ts';
import { eventsOf } from '../rules/events.ts';
import { importMember } from '../rules/import.ts';
import type { Identity, ImportResult, LookUp, MemberImport, MemberKey } from '../rules/member.ts';
import {
  enrolledKey,
  externalKey,
  keysOf,
  type MemberRecord,
  type MemberRecords,
  updated,
} from '../rules/record.ts';
import type { KeyVault } from '../signingkeys/signingkey.ts';
import { type MembersTables, openMembersTables } from '../tables/tables.ts';
import { type ApplyRule, createEnrollmentStore, type Engine } from './engine.ts';
import { type LmdbEvents, openLmdbEvents } from './events.lmdb.ts';
import {
  decodeIdentity,
  entriesOf,
  isEqualIdentity,
  type StoredIdentity,
} from './identity.lmdb.ts';
import { stampIfLate } from './late.ts';
import { buildLists, listMembers, moveInLists, openLists } from './list.lmdb.ts';
import { createLockStore } from './lockstore.ts';
import {
  createLmdbRightsEngine,
  type EventsOf,
  mergeRecords,
  openMergedMembers,
} from './rights.lmdb.ts';
import type { BuildProgress, MembersStore } from './store.ts';
import { createTokenStore } from './tokenstore.ts';

/**
 * Opens the store in `dataDir/members`. Throws if the folder is not writable or the store belongs
 * to the other environment.
 */
export async function openLmdbMembersStore(
  dataDir: string,
  environment: Environment,
  vault: KeyVault,
  _dataDir: string,
  onProgress: BuildProgress,
): Promise<MembersStore> {
  const store = await openLmdb(dataDir, 'members', environment);
  try {
    const tables = openMemberTables(store.root);
    await buildLists(store.root, tables, onProgress);
    const others = await openMembersTables(lmdbTables(store.root), vault);
    return createLmdbMembersStore(store, { tables, others, dataDir });
  } catch (error) {
    await store.root.close();
    throw error;
  }
}

/** Each member by ID, who each key leads to, and the places of members in lists. */
export function openMemberTables(root: RootDatabase) {
  return {
    members: root.openDB<MemberRecord, string>({ name: 'members', encoding: 'json' }),
    identities: root.openDB<StoredIdentity, string>({ name: 'keys', encoding: 'json' }),
    lists: openLists(root),
    merged: openMergedMembers(root),
  };
}

type MemberTables = ReturnType<typeof openMemberTables>;

function createLmdbMembersStore(
  { root, ready }: EmbeddedStore,
  { tables, others, dataDir }: { tables: MemberTables; others: MembersTables; dataDir: string },
): MembersStore {
  const { members, identities, merged } = tables;
  const marks = openLmdbMarks(root);
  const events = openLmdbEvents(root);
  const records = createRecords(tables, events);

  const find = (key: string): Identity | undefined => {
    const stored = identities.get(key);
    return stored && decodeIdentity(stored);
  };

  /**
   * Runs `change` in a child transaction, so that an error leaves nothing behind. Resolves when the
   * change is on disk.
   */
  const transact = async <T>(change: () => T): Promise<T> => {
    const result = await root.childTransaction(() => events.storing(change));
    await root.flushed;
    return result;
  };

  const apply: ApplyRule = async (_ids, _keys, rule) => {
    const written = new Set<string>();
    let since = 0;
    const change = () => {
      since = Date.now();
      return rule({
        ...records,
        write(before, next) {
          written.add(next.memberId);
          return records.write(before, next);
        },
      });
    };
    const result = await root.childTransaction(() => events.storing(change));
    await stampIfLate((_, __, again) => transact(() => again(records)), [...written], since);
    await root.flushed;
    return result;
  };
  const engine: Engine = { find: records.byKey, apply };

  const importMarked = (line: MemberImport, known: MemberRecords): ImportResult =>
    line.memberId !== undefined && marks.has(line.memberId) ? 'erased' : importMember(known, line);

  const rights = createLmdbRightsEngine({ ...tables, marks, records, events, transact, dataDir });

  return {
    memberByEmail: (partnerId, canonical) => find(enrolledKey(partnerId, canonical)),
    memberByExternalId: (partnerId, externalId) => find(externalKey(partnerId, externalId)),
    ...createLmdbLookUp(tables, marks, find),
    list: (query) => listMembers(tables, query),
    member: (memberId) => members.get(memberId),
    ...createEnrollmentStore(engine),
    importMembers: (imports) =>
      apply([], [], (known) => {
        const importOne = marks.isEmpty()
          ? (one: MemberImport) => importMember(known, one)
          : (one: MemberImport) => importMarked(one, known);
        return imports.map(importOne);
      }),
    tokens: createTokenStore(engine),
    events: events.store,
    locks: createLockStore(engine),
    async merge(pair) {
      const since = Date.now();
      await transact(() => mergeRecords(merged, records, pair));
      await stampIfLate(apply, [pair.into], since);
    },
    rights: createRights({ engine: rights, ...others, dataDir }),
    ...others,
    isEmpty: async () => members.getKeysCount({ limit: 1 }) === 0,
    ready,
    close: () => root.close(),
  };
}

function createRecords(tables: MemberTables, events: LmdbEvents) {
  const { members, identities, lists, merged } = tables;
  const records = {
    byId: (memberId: string) => members.get(memberId),
    byKey(key: string) {
      const stored = identities.get(key);
      return stored && members.get(decodeIdentity(stored).memberId);
    },
    merged: (memberId: string) => merged.get(memberId),
    /** Removes a record, without events. */
    remove(record: MemberRecord): void {
      for (const key of keysOf(record)) identities.remove(key);
      moveInLists(lists, record, undefined);
      members.remove(record.memberId);
    },
    write(before: MemberRecord | undefined, wanted: MemberRecord, toldOf: EventsOf = eventsOf) {
      const next = updated(before, wanted);
      const stored = before && entriesOf(before);
      const entries = entriesOf(next);
      for (const key of stored?.keys() ?? []) if (!entries.has(key)) identities.remove(key);
      for (const [key, identity] of entries) {
        const present = stored?.get(key);
        if (present === undefined || !isEqualIdentity(present, identity))
          identities.put(key, identity);
      }
      moveInLists(lists, before, next);
      members.put(next.memberId, next);
      events.add(toldOf(before, next));
      return next;
    },
  };
  return records satisfies MemberRecords;
}

/** `find` reads the identity that a stored key leads to. */
function createLmdbLookUp(
  { members, merged }: Pick<MemberTables, 'members' | 'merged'>,
  marks: LmdbMarks,
  find: (key: string) => Identity | undefined,
) {
  const byId = (partnerId: string, memberId: string) => {
    const found =
      members.get(memberId) ?? members.get(currentId(merged.get(memberId), partnerId) ?? '');
    return lookUpOf(found, partnerId);
  };
  const byKey = (key: string): LookUp => {
    const member = find(key);
    return member === undefined ? { status: 'NOT_FOUND' } : { status: 'FOUND', member };
  };
  const lookUp = (partnerId: string, { by, value }: MemberKey): LookUp => {
    if (by === 'email') return byKey(enrolledKey(partnerId, value));
    if (by === 'externalId') return byKey(externalKey(partnerId, value));
    const found = byId(partnerId, value);
    const isErased = found.status === 'NOT_FOUND' && marks.has(enrolledMark(partnerId, value));
    return isErased ? { status: 'ERASED' } : found;
  };
  return {
    memberById: (partnerId: string, memberId: string) => byId(partnerId, memberId).member,
    lookUp: (partnerId: string, keys: readonly MemberKey[]) =>
      keys.map((key) => lookUp(partnerId, key)),
  };
}
