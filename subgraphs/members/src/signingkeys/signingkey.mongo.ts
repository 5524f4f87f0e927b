// The signing keys on MongoDB: one document, replaced only while its keys are those that were read.
import { isDuplicate } from '@partner-loyalty/runtime';
import type { Db } from 'mongodb';
import { type SigningKey, type SigningKeyStore, versionOf } from './signingkey.ts';

/** `version` names the keys and their states, so that it changes with them. */
type KeysDocument = { _id: string; version: string; keys: SigningKey[] };

export function createMongoSigningKeys(db: Db): SigningKeyStore {
  const stored = db.collection<KeysDocument>('signingkeys');
  return {
    keys: async () => (await stored.findOne({ _id: 'keys' }))?.keys ?? [],
    async replace(before, next) {
      const replacement = { version: versionOf(next), keys: [...next] };
      try {
        // With no keys before, the filter matches nothing that is there, and of several insertions one succeeds.
        const { matchedCount, upsertedCount } = await stored.replaceOne(
          { _id: 'keys', version: versionOf(before) },
          replacement,
          {
            upsert: before.length === 0,
          },
        );
        return matchedCount + upsertedCount === 1;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
  };
}
