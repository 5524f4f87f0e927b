// The store of partners and keys in an embedded LMDB, which the processes of one machine may share.
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';

/** The stored form of a record: times are milliseconds since 1970. */
type Stored<T> = {
  [Field in keyof T]: T[Field] extends Date | undefined
    ? number | Exclude<T[Field], Date>
    : T[Field];
};
type StoredPartner = Stored<Partner>;
type StoredKey = Stored<KeyRecord>;

const PAGE_SIZE = 1_000;

/** Opens `dataDir/keys`. Rejects if it cannot be written or belongs to the other environment. */
export async function openLmdbKeyStore(
  dataDir: string,
  environment: Environment,
): Promise<KeyStore> {
  const { root, ready } = await openLmdb(dataDir, 'keys', environment);
  const tables = openKeyTables(root);
  return {
    ...partnerMethods(tables),
    ...keyMethods(tables),
    async origin() {
      return root.get('origin') as Origin | undefined;
    },
    async setOrigin(origin) {
      await root.transaction(() => root.put('origin', origin));
    },
    ready,
    close: () => root.close(),
  };
}

type Tables = ReturnType<typeof openKeyTables>;

export function openKeyTables(root: RootDatabase) {
  return {
    root,
    partners: root.openDB<StoredPartner, string>({ name: 'partners' }),
    keys: root.openDB<StoredKey, string>({ name: 'keys' }),
    keyIdByHash: root.openDB<string, string>({ name: 'hashes' }),
    keyIdsByPartner: root.openDB<string[], string>({ name: 'partnerKeys' }),
  };
}

function partnerMethods({ root, partners }: Tables) {
  return {
    createPartner(partner) {
      return root.transaction(() => {
        if (partners.doesExist(partner.partnerId)) return false;
        partners.put(partner.partnerId, toStoredPartner(partner));
        return true;
      });
    },
    changePartner(partnerId, change) {
      return root.transaction(() => {
        const before = partners.get(partnerId);
        if (before === undefined) return undefined;
        const changed = omitUndefined({ ...toPartner(before), ...change });
        partners.put(partnerId, toStoredPartner(changed));
        return changed;
      });
    },
    async partner(partnerId) {
      const partner = partners.get(partnerId);
      return partner && toPartner(partner);
    },
    async partners() {
      return Array.from(partners.getRange(), ({ value }) => toPartner(value));
    },
    async isEmpty() {
      return partners.getKeysCount({ limit: 1 }) === 0;
    },
  } satisfies Partial<KeyStore>;
}

function keyMethods({ root, partners, keys, keyIdByHash, keyIdsByPartner }: Tables) {
  return {
    keyByHash(hash) {
      const keyId = keyIdByHash.get(hash);
      const key = keyId === undefined ? undefined : keys.get(keyId);
      const partner = key && partners.get(key.partnerId);
      return key && partner && { key: toKey(key), partner: toPartner(partner) };
    },
    async addedHashes(mark, add) {
      const count = keyIdByHash.getKeysCount();
      for (let start = ''; count !== mark; await nextTick()) {
        const range = { start, exclusiveStart: true, limit: PAGE_SIZE };
        const page = Array.from(keyIdByHash.getKeys(range));
        page.forEach(add);
        if (page.length < PAGE_SIZE) break;
        start = page.at(-1) ?? '';
      }
      return count;
    },
    createKey(key) {
      const { keyId, partnerId, hash } = key;
      return root.transaction(() => {
        if (
          !partners.doesExist(partnerId) ||
          keys.doesExist(keyId) ||
          keyIdByHash.doesExist(hash)
        ) {
          throw new Error(
            `the key cannot be added: no partner ${partnerId}, or the key exists already`,
          );
        }
        keys.put(keyId, toStored(key));
        keyIdByHash.put(hash, keyId);
        keyIdsByPartner.put(partnerId, [...(keyIdsByPartner.get(partnerId) ?? []), keyId]);
      });
    },
    async key(keyId) {
      const key = keys.get(keyId);
      return key && toKey(key);
    },
    async keys(partnerId) {
      const keyIds = keyIdsByPartner.get(partnerId) ?? [];
      return keyIds.flatMap((keyId) => keys.get(keyId) ?? []).map(toKey);
    },
    expireKey(keyId, at) {
      return root.transaction(() => {
        const key = keys.get(keyId);
        if (key && (key.expiresAt === undefined || key.expiresAt > at.getTime()))
          keys.put(keyId, { ...key, expiresAt: at.getTime() });
        return key !== undefined;
      });
    },
    revokeKey(keyId, at) {
      return root.transaction(() => {
        const key = keys.get(keyId);
        if (key && key.revokedAt === undefined)
          keys.put(keyId, { ...key, revokedAt: at.getTime() });
        return key !== undefined;
      });
    },
  } satisfies Partial<KeyStore>;
}

function toPartner({ suspendedAt, ...stored }: StoredPartner): Partner {
  const partner = { ...stored, createdAt: new Date(stored.createdAt) };
  return suspendedAt === undefined ? partner : { ...partner, suspendedAt: new Date(suspendedAt) };
}

function toStoredPartner({ createdAt, suspendedAt, ...partner }: Partner): StoredPartner {
  return omitUndefined({
    ...partner,
    createdAt: createdAt.getTime(),
    suspendedAt: suspendedAt?.getTime(),
  });
}

function toKey({ createdAt, expiresAt, revokedAt, ...key }: StoredKey): KeyRecord {
  return {
    ...key,
    createdAt: new Date(createdAt),
    expiresAt: toDate(expiresAt),
    revokedAt: toDate(revokedAt),
  };
}

function toStored({ createdAt, expiresAt, revokedAt, ...key }: KeyRecord): StoredKey {
  return {
    ...key,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt?.getTime(),
    revokedAt: revokedAt?.getTime(),
  };
}

function toDate(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
