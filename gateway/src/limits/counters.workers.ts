// Counters that the workers of one cluster share through their primary, for use without Redis.
import { type Environment, withTimeout } from '@partner-loyalty/runtime';
import { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { createMemoryCounters, limiterOptions } from './counters.memory.ts';
import { type Counters, degraded } from './counters.ts';

// The primary does nothing else, so only a broken one takes this long.
const DEADLINE_MS = 1_000;
// The limiter's own timer would refuse a count that arrived while the event loop was blocked.
const ABANDONED_MS = 10 * DEADLINE_MS;

/**
 * Counters of a worker, whose primary must have called serveClusterCounters. If the primary does
 * not respond, the worker counts alone.
 */
export function createClusterCounters(environment: Environment): Counters {
  const memory = createMemoryCounters(environment);
  return {
    counter(name, windowSeconds) {
      const shared = new RateLimiterCluster({
        ...limiterOptions(environment, name, windowSeconds),
        timeoutMs: ABANDONED_MS,
      });
      const fallback = degraded(memory.counter(name, windowSeconds));
      return {
        add: (subject, points) =>
          process.connected
            ? withTimeout(shared.penalty(subject, points), DEADLINE_MS, noAnswer).catch(() =>
                fallback.add(subject, points),
              )
            : fallback.add(subject, points),
      };
    },
    close: memory.close,
  };
}

/**
 * Keeps the counters of all workers in the primary, for the primary's lifetime: a replacement
 * worker continues with the counts of the one before.
 */
export function serveClusterCounters(): void {
  new RateLimiterClusterMaster();
}

function noAnswer(): Error {
  return new Error('the primary does not respond');
}
