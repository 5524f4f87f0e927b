// The store of partners and keys in an embedded LMDB, which the processes of one machine may share.
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';
import { openStaffTables } from './staff.ts';

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
  const staffTables = await openStaffTables(lmdbTables(root));
  return {
    ...partnerMethods(tables),
    ...keyMethods(tables),
    staffTables: async () => staffTables,
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
        partners.put(partner.partnerId, toStored(partner));
        return true;
      });
    },
    changePartner(partnerId, change) {
      return root.transaction(() => {
        const before = partners.get(partnerId);
        if (before === undefined) return undefined;
        const changed = omitUndefined({ ...toRecord<Partner>(before), ...change });
        partners.put(partnerId, toStored(changed));
        return changed;
      });
    },
    async partner(partnerId) {
      const partner = partners.get(partnerId);
      return partner && toRecord<Partner>(partner);
    },
    async partners() {
      return Array.from(partners.getRange(), ({ value }) => toRecord<Partner>(value));
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
      return (
        key && partner && { key: toRecord<KeyRecord>(key), partner: toRecord<Partner>(partner) }
      );
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
      return key && toRecord<KeyRecord>(key);
    },
    async keys(partnerId) {
      const keyIds = keyIdsByPartner.get(partnerId) ?? [];
      return keyIds.flatMap((keyId) => keys.get(keyId) ?? []).map(toRecord<KeyRecord>);
    },
    async expiringKeys(after, until) {
      const found: KeyRecord[] = [];
      for (let start = ''; ; await nextTick()) {
        const range = { start, exclusiveStart: true, limit: PAGE_SIZE };
        const page = Array.from(keys.getRange(range));
        for (const { value } of page) {
          const { expiresAt = 0, revokedAt } = value;
          if (expiresAt > after.getTime() && expiresAt <= until.getTime() && !revokedAt)
            found.push(toRecord<KeyRecord>(value));
        }
        if (page.length < PAGE_SIZE) return found;
        start = page.at(-1)?.key ?? '';
      }
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

const TIMES: ReadonlySet<string> = new Set(['createdAt', 'suspendedAt', 'expiresAt', 'revokedAt']);

function toStored<T extends object>(record: T): Stored<T> {
  const stored = Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, value instanceof Date ? value.getTime() : value]);
  return Object.fromEntries(stored) as Stored<T>; // Cast: the same, but for the form of times.
}

function toRecord<T extends object>(stored: Stored<T>): T {
  const record = Object.entries(stored).map(([name, value]) => [
    name,
    typeof value === 'number' && TIMES.has(name) ? new Date(value) : value,
  ]);
  return Object.fromEntries(record) as T; // Cast: the same, but for the form of times.
}
