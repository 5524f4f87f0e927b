// Migrates the standings store on MongoDB from its older formats.
//
// Several may run at once: each step can be repeated, and skips what another one has done.
import type { MongoMigration } from '@partner-loyalty/runtime/store/migrate.mongo.ts';
import { countArrays, migrateArrays } from './arrays.mongo.ts';
import { closeFormer, countFormer, moveFormer } from './former.mongo.ts';

export const MIGRATION: MongoMigration = {
  count: async (db) => (await countArrays(db)) + (await countFormer(db)),
  async run(db, onProgress) {
    await closeFormer(db);
    let arrays = 0;
    await migrateArrays(db, (records) => {
      arrays = records;
      onProgress(records);
    });
    await moveFormer(db, (records) => onProgress(arrays + records));
  },
};
