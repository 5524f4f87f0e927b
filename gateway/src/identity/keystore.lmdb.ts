// The store of partners and keys in an embedded LMDB, which the processes of one machine may share.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';

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
    partners: root.openDB<Partner, string>({ name: 'partners' }),
    keys: root.openDB<KeyRecord, string>({ name: 'keys' }),
    keyIdByHash: root.openDB<string, string>({ name: 'hashes' }),
    keyIdsByPartner: root.openDB<string[], string>({ name: 'partnerKeys' }),
  };
}

function partnerMethods({ root, partners }: Tables) {
  return {
    createPartner(partner) {
      return root.transaction(() => {
        if (partners.doesExist(partner.partnerId)) return false;
        partners.put(partner.partnerId, omitUndefined(partner));
        return true;
      });
    },
    changePartner(partnerId, change) {
      return root.transaction(() => {
        const before = partners.get(partnerId);
        if (before === undefined) return undefined;
        const changed = omitUndefined({ ...before, ...change });
        partners.put(partnerId, changed);
        return changed;
      });
    },
    async partner(partnerId) {
      return partners.get(partnerId);
    },
    async partners() {
      return Array.from(partners.getRange(), ({ value }) => value);
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
      return key && partner && { key, partner };
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
        keys.put(keyId, omitUndefined(key));
        keyIdByHash.put(hash, keyId);
        keyIdsByPartner.put(partnerId, [...(keyIdsByPartner.get(partnerId) ?? []), keyId]);
      });
    },
    async key(keyId) {
      return keys.get(keyId);
    },
    async keys(partnerId) {
      const keyIds = keyIdsByPartner.get(partnerId) ?? [];
      return keyIds.flatMap((keyId) => keys.get(keyId) ?? []);
    },
    expireKey(keyId, at) {
      return root.transaction(() => {
        const key = keys.get(keyId);
        if (key && (key.expiresAt === undefined || key.expiresAt > at))
          keys.put(keyId, { ...key, expiresAt: at });
        return key !== undefined;
      });
    },
    revokeKey(keyId, at) {
      return root.transaction(() => {
        const key = keys.get(keyId);
        if (key && key.revokedAt === undefined) keys.put(keyId, { ...key, revokedAt: at });
        return key !== undefined;
      });
    },
  } satisfies Partial<KeyStore>;
}
