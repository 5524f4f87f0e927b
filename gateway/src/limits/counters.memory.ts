// Counters of this process alone.
import type { Environment } from '@partner-loyalty/runtime';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Counters } from './counters.ts';

export function createMemoryCounters(environment: Environment): Counters {
  return {
    counter(name, windowSeconds) {
      const limiter = new RateLimiterMemory(limiterOptions(environment, name, windowSeconds));
      return { add: (subject, points) => limiter.penalty(subject, points) };
    },
    close() {},
  };
}

/**
 * The options of a limiter that only counts: `penalty` adds and tells the sum, whatever it is, so that every budget can be compared with it
 * and `points` means nothing. A counter's name holds the environment's.
 */
export function limiterOptions(environment: Environment, name: string, windowSeconds: number) {
  return { keyPrefix: `loyalty:${environment}:${name}`, points: 0, duration: windowSeconds };
}
