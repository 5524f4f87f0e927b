// Opens the gateway's stores and counters, and verifies stores, on the engine that is set.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openByEngine } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { type Counters, createMemoryCounters } from './budget/counters.ts';
import type { RedisLog } from './budget/redis.ts';
import type { GraphStore } from './graph/graph.ts';
import type { KeyStore } from './identity/keystore.ts';

export const openKeyStore = openByEngine<KeyStore>({
  lmdb: async () => (await import('./identity/keystore.lmdb.ts')).openLmdbKeyStore,
  mongo: async () => (await import('./identity/keystore.mongo.ts')).openMongoKeyStore,
});

export const openGraphStore = openByEngine<GraphStore>({
  lmdb: async () => (await import('./graph/graphstore.lmdb.ts')).openLmdbGraphStore,
  mongo: async () => (await import('./graph/graphstore.mongo.ts')).openMongoGraphStore,
});

/** Each reports what is wrong with a store, and resolves with the number of its records. */
export const verifyKeys = openByEngine<number, [Inspection]>({
  lmdb: async () => (await import('./verify/verify.lmdb.ts')).verifyLmdbKeys,
  mongo: async () => (await import('./verify/verify.mongo.ts')).verifyMongoKeys,
});

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
