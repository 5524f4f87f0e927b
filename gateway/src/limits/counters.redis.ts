// Counters that all processes share in Redis. While it is gone each process counts by itself, and no taking waits for it.
import { type Environment, type Log, withTimeout } from '@partner-loyalty/runtime';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { createMemoryCounters, limiterOptions } from './counters.memory.ts';
import { type Counter, type Counters, degraded } from './counters.ts';
import { monitorRedis } from './redishealth.ts';

// Of the 50 ms that a request may wait (contract, section 4), some are for the turns of the event loop before and after.
const DEADLINE_MS = 45;

/** Resolves when Redis answers, or has not within a second: it may be down at the start, and the counters go over to it when it comes. */
export async function openRedisCounters(
  url: string,
  environment: Environment,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Counters> {
  const redis = new Redis(url, {
    connectTimeout: 2_000,
    // How long close() may keep the process when Redis is gone.
    disconnectTimeout: 100,
    retryStrategy: () => 500,
    // A taking that was not answered has been counted elsewhere: it must fail at once, never be kept and sent again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // A primary that became a replica: its address may name the new primary by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  const counterIn = (name: string, windowSeconds: number): Counter => {
    const limiter = new RateLimiterRedis({
      ...limiterOptions(environment, name, windowSeconds),
      storeClient: redis,
    });
    return {
      add: (subject, points) =>
        withTimeout(limiter.penalty(subject, points), DEADLINE_MS, unanswered),
    };
  };
  // The probe is a taking of nothing: unlike a ping it fails where Redis answers but cannot write.
  const probe = counterIn('probe', 60);
  const watch = monitorRedis(redis, () => probe.add('probe', 0), log);
  const memory = createMemoryCounters(environment);

  await watch.known;
  return {
    counter(name, windowSeconds) {
      const shared = counterIn(name, windowSeconds);
      const own = degraded(memory.counter(name, windowSeconds));
      return {
        add(subject, points) {
          // Always counted here too, so that a lost answer or an outage does not give back what was taken before it.
          const counted = own.add(subject, points);
          if (!watch.answers()) return counted;
          return shared.add(subject, points).catch((error) => {
            watch.lost(error);
            return counted;
          });
        },
      };
    },
    close: watch.close,
  };
}

function unanswered(): Error {
  return Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });
}
