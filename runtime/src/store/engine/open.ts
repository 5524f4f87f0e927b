// Opens a store on the engine that the settings select.
import { openByEngine } from '../engine.ts';
import type { StoreName } from '../private.ts';
import type { Store, Table } from './store.ts';

export const openStore = openByEngine<Store, [StoreName, readonly Table[]]>({
  lmdb: async () => (await import('./store.lmdb.ts')).openLmdbStore,
  mongo: async () => (await import('./store.mongo.ts')).openMongoStore,
});
