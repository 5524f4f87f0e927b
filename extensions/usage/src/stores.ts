// Opens the store of what is counted, and verifies it, on the engine that is set.
import { openByEngine } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { UsageStore } from './store.ts';

export const openUsageStore = openByEngine<UsageStore>({
  lmdb: async () => (await import('./counts.lmdb.ts')).openLmdbUsageStore,
  mongo: async () => (await import('./counts.mongo.ts')).openMongoUsageStore,
});

/** Reports what is wrong with the store, and resolves with the number of its records. */
export const verifyUsage = openByEngine<number, [Inspection]>({
  lmdb: async () => (await import('./counts.lmdb.ts')).verifyLmdbUsage,
  mongo: async () => (await import('./counts.mongo.ts')).verifyMongoUsage,
});
