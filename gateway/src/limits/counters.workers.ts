// Counters that the worker processes of one cluster share through their primary, where there is no Redis.
import type { Environment } from '@partner-loyalty/runtime';
import { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { createMemoryCounters, limiterOptions } from './counters.memory.ts';
import { type Counters, degraded } from './counters.ts';

// The primary does nothing else, so that only a broken one takes this long.
const DEADLINE_MS = 1_000;

/** Counters of a worker process. The primary has to have called serveClusterCounters; while it does not answer, the worker counts by itself. */
export function createClusterCounters(environment: Environment): Counters {
  const memory = createMemoryCounters(environment);
  return {
    counter(name, windowSeconds) {
      const limiter = new RateLimiterCluster({
        ...limiterOptions(environment, name, windowSeconds),
        timeoutMs: DEADLINE_MS,
      });
      const own = degraded(memory.counter(name, windowSeconds));
      return {
        add: (subject, points) =>
          process.connected
            ? limiter.penalty(subject, points).catch(() => own.add(subject, points))
            : own.add(subject, points),
      };
    },
    close: memory.close,
  };
}

/** Keeps the counters of all workers in the primary process, for as long as it lives; a worker that is replaced finds them as they were. */
export function serveClusterCounters(): void {
  new RateLimiterClusterMaster();
}
