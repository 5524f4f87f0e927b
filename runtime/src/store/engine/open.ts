// Opens a store on the engine that the settings select.
import type { StoreSettings } from '../engine.ts';
import type { StoreName } from '../private.ts';
import type { Store, Table } from './store.ts';

/**
 * Opens a store with its tables on MongoDB if the settings name one, and the embedded store
 * otherwise. Rejects if it cannot be opened or belongs to the other environment. The engines take a
 * while to load: only the selected one is.
 */
export async function openStore(
  { mongodbUrl, dataDir, environment, metrics }: StoreSettings,
  name: StoreName,
  tables: readonly Table[],
): Promise<Store> {
  if (mongodbUrl === undefined) {
    const { openLmdbStore } = await import('./store.lmdb.ts');
    return openLmdbStore(dataDir, environment, name, tables);
  }
  const { openMongoStore } = await import('./store.mongo.ts');
  return openMongoStore(mongodbUrl, environment, name, tables, () => metrics?.storeRetry(name));
}
