// Opens the counters that the settings ask for.
import type { Log, Settings } from '@partner-loyalty/runtime';
import { createMemoryCounters } from './counters.memory.ts';
import { openRedisCounters } from './counters.redis.ts';
import type { Counters } from './counters.ts';
import { createClusterCounters, serveClusterCounters } from './counters.workers.ts';

/** In Redis where REDIS_URL is set; else with the cluster's primary where this process is one of its workers; else in this process. */
export async function openCounters(
  settings: Pick<Settings, 'redisUrl' | 'environment'>,
  isWorker: boolean,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Counters> {
  const { redisUrl, environment } = settings;
  if (redisUrl !== undefined) return openRedisCounters(redisUrl, environment, log);
  return isWorker ? createClusterCounters(environment) : createMemoryCounters(environment);
}

/** What a primary has to do so that its workers share their counters; undefined where Redis keeps them. */
export function sharedCounters({ redisUrl }: Pick<Settings, 'redisUrl'>): (() => void) | undefined {
  return redisUrl === undefined ? serveClusterCounters : undefined;
}
