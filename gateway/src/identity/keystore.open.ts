// Opens the store of partners and keys with the engine that the settings ask for.
import type { Settings } from '@partner-loyalty/runtime';
import { openLmdbKeyStore } from './keystore.lmdb.ts';
import { openMongoKeyStore } from './keystore.mongo.ts';
import type { KeyStore } from './keystore.ts';

/** MongoDB where MONGODB_URL is set, else the embedded store. Throws where it cannot be opened or belongs to the other environment. */
export function openKeyStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
): Promise<KeyStore> {
  const { mongodbUrl, dataDir, environment } = settings;
  return mongodbUrl === undefined
    ? openLmdbKeyStore(dataDir, environment)
    : openMongoKeyStore(mongodbUrl, environment);
}
