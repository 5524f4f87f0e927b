// Opens the small tables of a store for tests, without the store.
import { openByEngine } from '@partner-loyalty/runtime/store/engine.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { openMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import { mongoTables } from '@partner-loyalty/runtime/store/table.mongo.ts';
import type { OpenTable } from '@partner-loyalty/runtime/store/table.ts';

export type OpenedTables = { open: OpenTable; close(): Promise<void> };

export const openTables = openByEngine<OpenedTables>({
  lmdb: async () => async (dataDir, environment) => {
    const { root } = await openLmdb(dataDir, 'members', environment);
    return { open: lmdbTables(root), close: () => root.close() };
  },
  mongo: async () => (url, environment) =>
    openMongo(url, 'members', environment, async ({ db, close }) => ({
      ...{ open: mongoTables(db), close },
    })),
});
