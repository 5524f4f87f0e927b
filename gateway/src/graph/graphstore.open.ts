// Opens the store of published graphs on the engine that the settings select.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openLmdbGraphStore } from './graphstore.lmdb.ts';
import type { GraphStore } from './graphstore.ts';

/**
 * MongoDB if MONGODB_URL is set, otherwise the embedded store. Rejects if the store cannot be
 * opened or belongs to the other environment.
 */
export async function openGraphStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
): Promise<GraphStore> {
  const { mongodbUrl, dataDir, environment } = settings;
  if (mongodbUrl === undefined) return openLmdbGraphStore(dataDir, environment);
  // Loading the driver takes a while, and only this case needs it.
  const { openMongoGraphStore } = await import('./graphstore.mongo.ts');
  return openMongoGraphStore(mongodbUrl, environment);
}
