// Counters that all processes share in Redis; during an outage each process counts for itself.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { Redis } from 'ioredis';
import { type Count, type Counter, type Counters, createMemoryCounters } from './counters.ts';
import { connectCluster, isClusterUrl } from './redis.cluster.ts';
import {
  CONNECTION,
  NOTHING,
  probeCounter,
  type RedisCounter,
  type RedisLog,
  redisCounter,
  type SharedRedis,
} from './redis.ts';
import { RedisHealth } from './redishealth.ts';

/**
 * Resolves when Redis responds, or after a second without a response: Redis may be down at the
 * start, and the counters switch over to it when it comes up.
 */
export async function openRedisCounters(
  url: string,
  environment: Environment,
  log: RedisLog,
): Promise<Counters> {
  const connect = isClusterUrl(url) ? connectCluster : connectServer;
  const redis = connect(url, environment, log);
  const memory = createMemoryCounters(environment);
  await redis.known;
  return {
    counter(name, windowSeconds) {
      const shared = redisCounter(redis.client, environment, name, windowSeconds);
      return withFallback(redis, shared, memory.counter(name, windowSeconds));
    },
    state: redis.state,
    close: redis.close,
  };
}

/**
 * Counts in Redis while the server of the subject's key is up. Every consumption is counted by
 * `fallback` too, so that a lost response or an outage does not give back what was consumed before.
 */
function withFallback(redis: SharedRedis, shared: RedisCounter, fallback: Counter): Counter {
  return {
    add(subject, consumption) {
      const local = fallback.add(subject, consumption).then(degraded);
      const health = redis.healthOf(shared.keyOf(subject));
      if (!health?.isUp()) {
        (health ?? redis).reportAbsence();
        return local;
      }
      return shared.add(subject, consumption).catch((error) => {
        health.reportFailure(error);
        return local;
      });
    },
  };
}

function degraded(count: Count): Count {
  return { ...count, degraded: true };
}

/** The counters switch over to it when it comes up, if it is down at the start. */
function connectServer(url: string, environment: Environment, log: RedisLog): SharedRedis {
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
