// The members store in an embedded LMDB: reads are synchronous, each change is one transaction, several processes of one machine may share it.
import { type Environment, openLmdb } from '@partner-loyalty/runtime';
import type { RootDatabase } from 'lmdb';
import { createLmdbOutbox } from '../outbox/outbox.lmdb.ts';
import { createLmdbMailPartners } from '../outbox/partner.lmdb.ts';
import { endEnrollment, enroll, importMember, type MemberRecords } from '../rules/enrollment.ts';
import { enrolledKey, externalKey, keysOf, type StoredMember } from '../rules/record.ts';
import { createLmdbSigningKeys } from '../signingkeys/signingkey.lmdb.ts';
import type { Identity, MembersStore } from './store.ts';
import { createTokenStore } from './tokenstore.ts';

/**
 * What a key leads to: all that a look-up answers, so that it is one read, where going on from an id to the row would be two.
 * A list without field names, since there is one for every key.
 */
type StoredIdentity = [
  memberId: string,
  email: string,
  firstName: string | null,
  lastName: string | null,
];

/** Opens the store in `dataDir/members`. Throws where the folder cannot be written or the store belongs to the other environment. */
export async function openLmdbMembersStore(
  dataDir: string,
  environment: Environment,
): Promise<MembersStore> {
  return createLmdbMembersStore(await openLmdb(dataDir, 'members', environment));
}

function createLmdbMembersStore(root: RootDatabase): MembersStore {
  const members = root.openDB<StoredMember, string>({ name: 'members', encoding: 'json' });
  const identities = root.openDB<StoredIdentity, string>({ name: 'keys', encoding: 'json' });

  const rows: MemberRecords = {
    byId: (memberId) => members.get(memberId),
    byKey(key) {
      const found = identities.get(key);
      return found && members.get(found[0]);
    },
    write(before, next) {
      const keys = new Set(keysOf(next));
      if (before) for (const key of keysOf(before)) if (!keys.has(key)) identities.remove(key);
      for (const key of keys) identities.put(key, stored(next));
      members.put(next.memberId, next);
    },
  };

  /** In a child transaction, so that an error in the middle leaves nothing behind. Resolves once the change is on disk. */
  const change = async <T>(act: () => T): Promise<T> => {
    const done = await root.childTransaction(act);
    await root.flushed;
    return done;
  };

  return {
    memberByEmail: (partnerId, canonical) =>
      identity(identities.get(enrolledKey(partnerId, canonical))),
    memberByExternalId: (partnerId, externalId) =>
      identity(identities.get(externalKey(partnerId, externalId))),
    member: (memberId) => members.get(memberId),
    enroll: (input) => change(() => enroll(rows, input)),
    endEnrollment: (partnerId, memberId) => change(() => endEnrollment(rows, partnerId, memberId)),
    importMembers: (records) => change(() => records.map((record) => importMember(rows, record))),
    tokens: createTokenStore({
      find: rows.byKey,
      change: (_ids, _keys, act) => change(() => act(rows)),
    }),
    outbox: createLmdbOutbox(root),
    partners: createLmdbMailPartners(root),
    signingKeys: createLmdbSigningKeys(root),
    isEmpty: async () => members.getKeysCount({ limit: 1 }) === 0,
    async ready() {
      root.get('environment');
    },
    close: () => root.close(),
  };
}

function stored({ memberId, email, firstName, lastName }: Identity): StoredIdentity {
  return [memberId, email, firstName ?? null, lastName ?? null];
}

function identity(found: StoredIdentity | undefined): Identity | undefined {
  if (found === undefined) return undefined;
  const [memberId, email, firstName, lastName] = found;
  return { memberId, email, firstName: firstName ?? undefined, lastName: lastName ?? undefined };
}
