// The store of partners and keys in an embedded LMDB: reads are synchronous, several processes of one machine may share it.
import { type Environment, openLmdb } from '@partner-loyalty/runtime';
import type { RootDatabase } from 'lmdb';
import type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';

/** As stored: times are milliseconds since 1970. */
type StoredPartner = Omit<Partner, 'createdAt'> & { createdAt: number };
type StoredKey = Omit<KeyRecord, 'createdAt' | 'expiresAt' | 'revokedAt'> & {
  createdAt: number;
  expiresAt?: number;
  revokedAt?: number;
};

/** Opens the store in `dataDir/keys`. Throws where the folder cannot be written or the store belongs to the other environment. */
export async function openLmdbKeyStore(
  dataDir: string,
  environment: Environment,
): Promise<KeyStore> {
  return createLmdbKeyStore(await openLmdb(dataDir, 'keys', environment));
}

function createLmdbKeyStore(root: RootDatabase): KeyStore {
  const partners = root.openDB<StoredPartner, string>({ name: 'partners' });
  const keys = root.openDB<StoredKey, string>({ name: 'keys' });
  const idsByHash = root.openDB<string, string>({ name: 'hashes' });
  const idsByPartner = root.openDB<string[], string>({ name: 'partnerKeys' });

  return {
    keyByHash(hash) {
      const keyId = idsByHash.get(hash);
      const key = keyId === undefined ? undefined : keys.get(keyId);
      const partner = key && partners.get(key.partnerId);
      return key && partner && { key: toKey(key), partner: toPartner(partner) };
    },
    createPartner(partner) {
      return root.transaction(() => {
        if (partners.doesExist(partner.partnerId)) return false;
        partners.put(partner.partnerId, { ...partner, createdAt: partner.createdAt.getTime() });
        return true;
      });
    },
    async partner(partnerId) {
      const partner = partners.get(partnerId);
      return partner && toPartner(partner);
    },
    async partners() {
      return Array.from(partners.getRange(), ({ value }) => toPartner(value));
    },
    createKey(key) {
      return root.transaction(() => {
        if (
          !partners.doesExist(key.partnerId) ||
          keys.doesExist(key.keyId) ||
          idsByHash.doesExist(key.hash)
        ) {
          throw new Error(
            `the key cannot be added: no partner ${key.partnerId}, or the key is there already`,
          );
        }
        keys.put(key.keyId, toStored(key));
        idsByHash.put(key.hash, key.keyId);
        idsByPartner.put(key.partnerId, [...(idsByPartner.get(key.partnerId) ?? []), key.keyId]);
      });
    },
    async keys(partnerId) {
      return (idsByPartner.get(partnerId) ?? [])
        .flatMap((keyId) => keys.get(keyId) ?? [])
        .map(toKey);
    },
    revokeKey(keyId, at) {
      return root.transaction(() => {
        const key = keys.get(keyId);
        if (key && key.revokedAt === undefined)
          keys.put(keyId, { ...key, revokedAt: at.getTime() });
        return key !== undefined;
      });
    },
    async origin() {
      return root.get('origin') as Origin | undefined;
    },
    async setOrigin(origin) {
      await root.put('origin', origin);
    },
    async isEmpty() {
      return partners.getKeysCount({ limit: 1 }) === 0;
    },
    async ready() {
      root.get('environment');
    },
    close: () => root.close(),
  };
}

function toPartner(stored: StoredPartner): Partner {
  return { ...stored, createdAt: new Date(stored.createdAt) };
}

function toKey({ keyId, partnerId, hash, createdAt, expiresAt, revokedAt }: StoredKey): KeyRecord {
  return {
    keyId,
    partnerId,
    hash,
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
