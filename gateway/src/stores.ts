// Opens the gateway's stores and counters, and verifies stores, on the engine that is set.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import { openByEngine, type StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { type Counters, createMemoryCounters } from './budget/counters.ts';
import type { RedisLog } from './budget/redis.ts';
import type { GraphStore } from './graph/graph.ts';
import type { KeyStore } from './identity/keystore.ts';
import { createKeyStore, KEY_TABLES } from './identity/storedkeys.ts';

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openKeyStore(settings: StoreSettings): Promise<KeyStore> {
  return createKeyStore(await openStore(settings, 'keys', KEY_TABLES));
}

export const openGraphStore = openByEngine<GraphStore>({
  lmdb: async () => (await import('./graph/graphstore.lmdb.ts')).openLmdbGraphStore,
  mongo: async () => (await import('./graph/graphstore.mongo.ts')).openMongoGraphStore,
});

/** Each reports what is wrong with a store, and resolves with the number of its records. */
export const verifyGraphs = openByEngine<number, [Inspection]>({
  lmdb: async () => (await import('./verify/verify.lmdb.ts')).verifyLmdbGraphs,
  mongo: async () => (await import('./verify/verify.mongo.ts')).verifyMongoGraphs,
});

/** Counters in Redis if REDIS_URL is set, and otherwise in the memory of this process. */
export async function openCounters(
  { redisUrl, environment }: Pick<Settings, 'redisUrl' | 'environment'>,
  log: RedisLog,
): Promise<Counters> {
  if (redisUrl === undefined) return createMemoryCounters(environment);
  // The driver takes a while to load, and is needed only here.
  const { openRedisCounters } = await import('./budget/counters.redis.ts');
  return openRedisCounters(redisUrl, environment, log);
}
