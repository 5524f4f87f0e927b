// The store of partners and keys in an embedded LMDB: reads are synchronous, several processes of one machine may share it.
import { type Environment, openLmdb } from '@partner-loyalty/runtime';
import type { RootDatabase } from 'lmdb';
import type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';

/** Opens the store in `dataDir/keys`. Throws where the folder cannot be written or the store belongs to the other environment. */
export async function openLmdbKeyStore(dataDir: string, environment: Environment): Promise<KeyStore> {
  return createLmdbKeyStore(await openLmdb(dataDir, 'keys', environment));
}

function createLmdbKeyStore(root: RootDatabase): KeyStore {
  const partners = root.openDB<Partner, string>({ name: 'partners' });
  const keys = root.openDB<KeyRecord, string>({ name: 'keys' });
  const idsByHash = root.openDB<string, string>({ name: 'hashes' });
  const idsByPartner = root.openDB<string[], string>({ name: 'partnerKeys' });

  return {
    keyByHash(hash) {
      const keyId = idsByHash.get(hash);
      const key = keyId === undefined ? undefined : keys.get(keyId);
      const partner = key && partners.get(key.partnerId);
      return key && partner && { key, partner };
    },
    createPartner(partner) {
      return root.transaction(() => {
        if (partners.doesExist(partner.partnerId)) return false;
        partners.put(partner.partnerId, partner);
        return true;
      });
    },
    async partner(partnerId) {
      return partners.get(partnerId);
    },
    async partners() {
      return Array.from(partners.getRange(), ({ value }) => value);
    },
    createKey(key) {
      return root.transaction(() => {
        if (!partners.doesExist(key.partnerId) || keys.doesExist(key.keyId) || idsByHash.doesExist(key.hash)) {
          throw new Error(`the key cannot be added: no partner ${key.partnerId}, or the key is there already`);
        }
        keys.put(key.keyId, key);
        idsByHash.put(key.hash, key.keyId);
        idsByPartner.put(key.partnerId, [...(idsByPartner.get(key.partnerId) ?? []), key.keyId]);
      });
    },
    async keys(partnerId) {
      return (idsByPartner.get(partnerId) ?? []).flatMap((keyId) => keys.get(keyId) ?? []);
    },
    revokeKey(keyId, at) {
      return root.transaction(() => {
        const key = keys.get(keyId);
        if (key && key.revokedAt === undefined) keys.put(keyId, { ...key, revokedAt: at });
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
