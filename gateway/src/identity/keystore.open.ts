// Opens the store of partners and keys on the engine that the settings select.
import type { Settings } from '@partner-loyalty/runtime';
import { openLmdbKeyStore } from './keystore.lmdb.ts';
import { openMongoKeyStore } from './keystore.mongo.ts';
import type { KeyStore } from './keystore.ts';

/**
 * MongoDB if MONGODB_URL is set, otherwise the embedded store. Rejects if the store cannot be
 * opened or belongs to the other environment.
 */
export function openKeyStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
): Promise<KeyStore> {
  const { mongodbUrl, dataDir, environment } = settings;
  return mongodbUrl === undefined
    ? openLmdbKeyStore(dataDir, environment)
    : openMongoKeyStore(mongodbUrl, environment);
}
