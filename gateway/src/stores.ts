// Opens the gateway's stores and counters, on the engine that is set.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import { type Counters, createMemoryCounters } from './budget/counters.ts';
import type { RedisLog } from './budget/redis.outages.ts';
import { createGraphStore, GRAPH_TABLES, type GraphStore } from './graph/graph.ts';
import { createKeyStore, KEY_TABLES, type KeyStore } from './identity/keystore.ts';

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openKeyStore(settings: StoreSettings): Promise<KeyStore> {
  return createKeyStore(await openStore(settings, 'keys', KEY_TABLES));
}

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openGraphStore(settings: StoreSettings): Promise<GraphStore> {
  return createGraphStore(await openStore(settings, 'graph', GRAPH_TABLES));
}

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
