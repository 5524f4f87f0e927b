// Opens the store of usage counts on the engine that the settings select.
import type { Settings } from '@partner-loyalty/runtime';
import { openLmdbUsageStore } from './usagestore.lmdb.ts';
import { openMongoUsageStore } from './usagestore.mongo.ts';
import type { UsageStore } from './usagestore.ts';

/**
 * MongoDB if MONGODB_URL is set, otherwise the embedded store. Rejects if the store cannot be
 * opened or belongs to the other environment.
 */
export function openUsageStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
): Promise<UsageStore> {
  const { mongodbUrl, dataDir, environment } = settings;
  return mongodbUrl === undefined
    ? openLmdbUsageStore(dataDir, environment)
    : openMongoUsageStore(mongodbUrl, environment);
}
