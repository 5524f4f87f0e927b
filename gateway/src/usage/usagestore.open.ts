// Opens the store of usage counts on the engine that the settings select.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openLmdbUsageStore } from './usagestore.lmdb.ts';
import type { UsageStore } from './usagestore.ts';

/**
 * MongoDB if MONGODB_URL is set, otherwise the embedded store. Rejects if the store cannot be
 * opened or belongs to the other environment.
 */
export async function openUsageStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
): Promise<UsageStore> {
  const { mongodbUrl, dataDir, environment } = settings;
  if (mongodbUrl === undefined) return openLmdbUsageStore(dataDir, environment);
  // Loading the driver takes a while, and only this case needs it.
  const { openMongoUsageStore } = await import('./usagestore.mongo.ts');
  return openMongoUsageStore(mongodbUrl, environment);
}
