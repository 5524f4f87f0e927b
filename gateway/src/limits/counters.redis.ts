// Counters that all processes share in Redis; during an outage each process counts alone.
import { type Environment, type Log, withTimeout } from '@partner-loyalty/runtime';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { createMemoryCounters, limiterOptions } from './counters.memory.ts';
import { type Counter, type Counters, degraded } from './counters.ts';
import { RedisHealth } from './redishealth.ts';

// A request waits for Redis for at most 50 ms (docs/contract.md, Budget). The event loop ticks
// before and after the command need part of that.
const DEADLINE_MS = 45;

/**
 * Resolves when Redis responds, or after a second without a response: Redis may be down at the
 * start, and the counters switch over to it when it comes up.
 */
export async function openRedisCounters(
  url: string,
  environment: Environment,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Counters> {
  const redis = connect(url);
  const sharedCounter = (name: string, windowSeconds: number): Counter => {
    const limiter = new RateLimiterRedis({
      ...limiterOptions(environment, name, windowSeconds),
      storeClient: redis,
    });
    return {
      add: (subject, points) =>
        withTimeout(limiter.penalty(subject, points), DEADLINE_MS, timeoutError),
    };
  };
  // Unlike a ping, consuming 0 points fails if Redis responds but cannot write.
  const probe = sharedCounter('probe', 60);
  const health = new RedisHealth(redis, () => probe.add('probe', 0), log);
  const memory = createMemoryCounters(environment);

  await health.known;
  return {
    counter(name, windowSeconds) {
      const fallback = degraded(memory.counter(name, windowSeconds));
      return withFallback(sharedCounter(name, windowSeconds), fallback, health);
    },
    state: () => (health.isUp() ? 'up' : 'degraded'),
    close: () => health.close(),
  };
}

function connect(url: string): Redis {
  return new Redis(url, {
    connectTimeout: 2_000,
    // How long close() may keep the process alive if Redis is gone.
    disconnectTimeout: 100,
    retryStrategy: () => 500,
    // A command without a response has been counted locally: it must fail at once and never be
    // queued or sent again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // The primary became a replica: by now its address may lead to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}

/**
 * Counts with `shared` while Redis is up. Every consumption is counted by `fallback` too, so that a
 * lost response or an outage does not give back what was consumed before.
 */
function withFallback(shared: Counter, fallback: Counter, health: RedisHealth): Counter {
  return {
    add(subject, points) {
      const local = fallback.add(subject, points);
      if (!health.isUp()) return local;
      return shared.add(subject, points).catch((error) => {
        health.reportFailure(error);
        return local;
      });
    },
  };
}

function timeoutError(): Error {
  return Object.assign(new Error('no response in time'), { code: 'ETIMEDOUT' });
}
