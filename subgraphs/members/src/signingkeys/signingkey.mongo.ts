// The signing keys on MongoDB: one document, replaced only if its keys are those that were read.
import { isDuplicate } from '@partner-loyalty/runtime/store/mongo.ts';
import type { Db } from 'mongodb';
import type { KeyVault } from './keyvault.ts';
import { type SigningKey, type SigningKeyStore, versionOf } from './signingkey.ts';

/** `version` is versionOf(keys). */
type KeysDocument = { _id: string; version: string; keys: SigningKey[] };
type IssuerDocument = { _id: string; issuer: string };

export function createMongoSigningKeys(db: Db, vault: KeyVault): SigningKeyStore {
  const stored = db.collection<KeysDocument>('signingkeys');
  const issuers = db.collection<IssuerDocument>('signingkeys');
  return {
    ...vault,
    keys: async () => (await stored.findOne({ _id: 'keys' }))?.keys ?? [],
    async replace(before, next) {
      try {
        // Without keys before, the filter matches no document, and one of several concurrent
        // insertions succeeds.
        const { matchedCount, upsertedCount } = await stored.replaceOne(
          { _id: 'keys', version: versionOf(before) },
          { version: versionOf(next), keys: [...next] },
          { upsert: before.length === 0 },
        );
        return matchedCount + upsertedCount === 1;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
    issuer: async () => (await issuers.findOne({ _id: 'issuer' }))?.issuer,
    async setIssuer(issuer) {
      await issuers.updateOne({ _id: 'issuer' }, { $set: { issuer } }, { upsert: true });
    },
  };
}
