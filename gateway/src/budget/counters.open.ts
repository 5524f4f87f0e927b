// Opens the counters that the settings select.
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { type Counters, createMemoryCounters } from './counters.ts';
import type { RedisLog } from './redis.ts';

/** Counters in Redis if REDIS_URL is set, and otherwise in the memory of this process. */
export async function openCounters(
  settings: Pick<Settings, 'redisUrl' | 'environment'>,
  log: RedisLog,
): Promise<Counters> {
  const { redisUrl, environment } = settings;
  if (redisUrl !== undefined) {
    // The driver takes a while to load, and is needed only here.
    const { openRedisCounters } = await import('./counters.redis.ts');
    return openRedisCounters(redisUrl, environment, log);
  }
  return createMemoryCounters(environment);
}
