// Counters that the workers of one cluster share through their primary, for use without Redis.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { createRelay, serveRelay } from '@partner-loyalty/runtime/process/relay.ts';
import { createMemoryCounters } from './counters.memory.ts';
import { type Count, type Counter, type Counters, degraded } from './counters.ts';

type Consumption = { name: string; windowSeconds: number; subject: string; points: number };

const NAME = 'counters';

/**
 * Counters of a worker, whose primary must have called serveClusterCounters. If the primary does
 * not respond, the worker counts alone.
 */
export function createClusterCounters(environment: Environment): Counters {
  const memory = createMemoryCounters(environment);
  const add = createRelay<Consumption, Count>(NAME);
  return {
    counter(name, windowSeconds) {
      const fallback = degraded(memory.counter(name, windowSeconds));
      return {
        add: (subject, points) =>
          add({ name, windowSeconds, subject, points }).catch(() => fallback.add(subject, points)),
      };
    },
    close: memory.close,
  };
}

/**
 * Keeps the counters of all workers in the primary, for the primary's lifetime: a replacement
 * worker continues with the counts of the one before.
 */
export function serveClusterCounters(environment: Environment): Promise<void> {
  const memory = createMemoryCounters(environment);
  const counters = new Map<string, Counter>();
  return serveRelay(NAME, async ({ name, windowSeconds, subject, points }: Consumption) => {
    const counter = counters.get(name) ?? memory.counter(name, windowSeconds);
    counters.set(name, counter);
    const { consumedPoints, msBeforeNext } = await counter.add(subject, points);
    return { consumedPoints, msBeforeNext };
  });
}
