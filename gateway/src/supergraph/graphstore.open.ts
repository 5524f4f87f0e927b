// Opens the store of published graphs on the engine that the settings select.
import type { Settings } from '@partner-loyalty/runtime';
import { openLmdbGraphStore } from './graphstore.lmdb.ts';
import { openMongoGraphStore } from './graphstore.mongo.ts';
import type { GraphStore } from './graphstore.ts';

/**
 * MongoDB if MONGODB_URL is set, otherwise the embedded store. Rejects if the store cannot be
 * opened or belongs to the other environment.
 */
export function openGraphStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'environment'>,
): Promise<GraphStore> {
  const { mongodbUrl, dataDir, environment } = settings;
  return mongodbUrl === undefined
    ? openLmdbGraphStore(dataDir, environment)
    : openMongoGraphStore(mongodbUrl, environment);
}
