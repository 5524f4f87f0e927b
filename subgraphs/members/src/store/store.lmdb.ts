// The members store on LMDB: synchronous reads, and one transaction for each change.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { type EmbeddedStore, openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { openLmdbMarks } from '@partner-loyalty/runtime/store/marks/marks.lmdb.ts';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import type { Database, RootDatabase } from 'lmdb';
import { createRights } from '../rights/rights.ts';
import { partnerMember } from '../rules/enrollment.ts';
import { eventsOf } from '../rules/events.ts';
import { importMember } from '../rules/import.ts';
import type {
  Identity,
  ImportResult,
  MemberImport,
  MemberKey,
  PartnerMember,
} from '../rules/member.ts';
import {
  enrolledKey,
  externalKey,
  type MemberRecord,
  type MemberRecords,
  updated,
} from '../rules/record.ts';
import type { KeyVault } from '../signingkeys/signingkey.ts';
import { type MembersTables, openMembersTables } from '../tables/tables.ts';
import { createEnrollmentStore, type Engine } from './engine.ts';
import { type LmdbEvents, openLmdbEvents } from './events.lmdb.ts';
import {
  decodeIdentity,
  entriesOf,
  isEqualIdentity,
  type StoredIdentity,
} from './identity.lmdb.ts';
import { createLockStore } from './lockstore.ts';
import { createLmdbRightsEngine } from './rights.lmdb.ts';
import type { MembersStore } from './store.ts';
import { createTokenStore } from './tokenstore.ts';

/**
 * Opens the store in `dataDir/members`. Throws if the folder is not writable or the store belongs
 * to the other environment.
 */
export async function openLmdbMembersStore(
  dataDir: string,
  environment: Environment,
  vault: KeyVault,
): Promise<MembersStore> {
  const store = await openLmdb(dataDir, 'members', environment);
  const others = await openMembersTables(lmdbTables(store.root), vault);
  return createLmdbMembersStore(store, others, dataDir);
}

/** Each member by ID, and who each key leads to. */
export function openMemberTables(root: RootDatabase) {
  return {
    members: root.openDB<MemberRecord, string>({ name: 'members', encoding: 'json' }),
    identities: root.openDB<StoredIdentity, string>({ name: 'keys', encoding: 'json' }),
  };
}

function createLmdbMembersStore(
  { root, ready }: EmbeddedStore,
  others: MembersTables,
  dataDir: string,
): MembersStore {
  const tables = openMemberTables(root);
  const { members, identities } = tables;
  const marks = openLmdbMarks(root);
  const events = openLmdbEvents(root);
  const records = createRecords(members, identities, events);

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

  const engine: Engine = {
    find: records.byKey,
    apply: (_ids, _keys, rule) => transact(() => rule(records)),
  };

  const importMarked = (line: MemberImport): ImportResult =>
    line.memberId !== undefined && marks.has(line.memberId)
      ? 'erased'
      : importMember(records, line);

  const rights = createLmdbRightsEngine({ ...tables, marks, records, events, transact, dataDir });

  return {
    memberByEmail: (partnerId, canonical) => find(enrolledKey(partnerId, canonical)),
    memberByExternalId: (partnerId, externalId) => find(externalKey(partnerId, externalId)),
    lookUp: createLmdbLookUp(members, find),
    member: (memberId) => members.get(memberId),
    ...createEnrollmentStore(engine),
    importMembers: (imports) =>
      transact(() =>
        imports.map(marks.isEmpty() ? (one) => importMember(records, one) : importMarked),
      ),
    tokens: createTokenStore(engine),
    events: events.store,
    locks: createLockStore(engine),
    rights: createRights({ engine: rights, ...others, dataDir }),
    ...others,
    isEmpty: async () => members.getKeysCount({ limit: 1 }) === 0,
    ready,
    close: () => root.close(),
  };
}

function createRecords(
  members: Database<MemberRecord, string>,
  identities: Database<StoredIdentity, string>,
  events: LmdbEvents,
): MemberRecords {
  return {
    byId: (memberId) => members.get(memberId),
    byKey(key) {
      const stored = identities.get(key);
      return stored && members.get(decodeIdentity(stored).memberId);
    },
    write(before, wanted) {
      const next = updated(before, wanted);
      const stored = before && entriesOf(before);
      const entries = entriesOf(next);
      for (const key of stored?.keys() ?? []) if (!entries.has(key)) identities.remove(key);
      for (const [key, identity] of entries) {
        const present = stored?.get(key);
        if (present === undefined || !isEqualIdentity(present, identity))
          identities.put(key, identity);
      }
      members.put(next.memberId, next);
      events.add(eventsOf(before, next));
      return next;
    },
  };
}

/** `find` reads whom a stored key leads to. */
function createLmdbLookUp(
  members: Database<MemberRecord, string>,
  find: (key: string) => Identity | undefined,
): MembersStore['lookUp'] {
  const lookUp = (partnerId: string, { by, value }: MemberKey): PartnerMember | undefined => {
    if (by === 'email') return find(enrolledKey(partnerId, value));
    if (by === 'externalId') return find(externalKey(partnerId, value));
    const record = members.get(value);
    return record && partnerMember(record, partnerId);
  };
  return (partnerId, keys) => keys.map((key) => lookUp(partnerId, key));
}
