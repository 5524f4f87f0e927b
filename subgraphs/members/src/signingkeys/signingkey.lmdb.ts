// The signing keys in the members store's LMDB: one value, replaced in one transaction.
import type { RootDatabase } from 'lmdb';
import type { KeyVault } from './keyvault.ts';
import { type SigningKey, type SigningKeyStore, versionOf } from './signingkey.ts';

export function createLmdbSigningKeys(root: RootDatabase, vault: KeyVault): SigningKeyStore {
  const stored = root.openDB<SigningKey[], string>({ name: 'signing-keys', encoding: 'json' });
  const issuers = root.openDB<string, string>({ name: 'issuer', encoding: 'json' });
  const keys = () => stored.get('keys') ?? [];
  return {
    ...vault,
    keys,
    async replace(before, next) {
      const replaced = await root.transaction(() => {
        if (versionOf(keys()) !== versionOf(before)) return false;
        stored.put('keys', [...next]);
        return true;
      });
      await root.flushed;
      return replaced;
    },
    issuer: () => issuers.get('issuer'),
    async setIssuer(issuer) {
      await root.transaction(() => issuers.put('issuer', issuer));
      await root.flushed;
    },
  };
}
