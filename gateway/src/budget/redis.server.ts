// One Redis server, as the counters use it.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { Redis } from 'ioredis';
import { CONNECTION, NOTHING, probeCounter, type RedisLog, type SharedRedis } from './redis.ts';
import { RedisHealth } from './redishealth.ts';

/** The counters switch over to it when it comes up, if it is down at the start. */
export function connectServer(url: string, environment: Environment, log: RedisLog): SharedRedis {
  const client = new Redis(url, {
    ...CONNECTION,
    enableOfflineQueue: false,
    // The primary became a replica: by now its address may lead to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  const probe = probeCounter(client, environment);
  const health = new RedisHealth(client, () => probe.add('probe', NOTHING), {
    lost: (reason) =>
      log.outage(
        { engine: 'redis', reason },
        'Redis does not respond: each process counts budgets on its own',
      ),
    found: () => log.recovered({ engine: 'redis' }, 'Redis responds again: budgets are shared'),
  });
  return {
    client,
    healthOf: () => health,
    reportAbsence: () => health.reportAbsence(),
    known: health.known,
    state: () => (health.isUp() ? 'up' : 'degraded'),
    close: () => health.close(),
  };
}
