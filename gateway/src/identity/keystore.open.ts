// Opens the store of partners and keys on the engine that the settings select.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { StoreMigration } from '@partner-loyalty/runtime/store/migrate.open.ts';
import { openLmdbKeyStore } from './keystore.lmdb.ts';
import type { KeyStore } from './keystore.ts';

/**
 * MongoDB if MONGODB_URL is set, otherwise the embedded store. Rejects if the store cannot be
 * opened or belongs to the other environment.
 */
export async function openKeyStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
): Promise<KeyStore> {
  const { mongodbUrl, dataDir, environment } = settings;
  if (mongodbUrl === undefined) return openLmdbKeyStore(dataDir, environment);
  // The driver takes a while to load, and is needed only here.
  const { openMongoKeyStore } = await import('./keystore.mongo.ts');
  return openMongoKeyStore(mongodbUrl, environment);
}

/** The way of this store from its older formats. */
export const KEYS_MIGRATION: StoreMigration = {
  mongo: async () => (await import('./keystore.mongo.ts')).MIGRATION,
};
