// Counters in the memory of this process.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
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
 * Options of a rate-limiter-flexible limiter that only counts. Its `penalty` adds points and
 * returns the sum without comparing it with `points`, so that one counter serves every budget.
 * The key prefix contains the environment.
 */
export function limiterOptions(environment: Environment, name: string, windowSeconds: number) {
  return { keyPrefix: `loyalty:${environment}:${name}`, points: 0, duration: windowSeconds };
}
