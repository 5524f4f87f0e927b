// The counters behind the limits: in Redis, or in the memory of this process.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { RateLimiterMemory } from 'rate-limiter-flexible';

/** The state of a subject's window right after a consumption. */
export type Count = {
  consumedPoints: number;
  /** Whether the points were added, because the sum is within the limit. */
  isWithin: boolean;
  msBeforeNext: number;
  /** Set if only this process counted because the shared counters did not respond. */
  degraded?: true | undefined;
};

export type Consumption = {
  points: number;
  /** The most that the sum may be; otherwise 1 is added instead. */
  limit: number;
};

/** Counts each subject in a fixed window that begins with the subject's first consumption. */
export type Counter = { add(subject: string, consumption: Consumption): Promise<Count> };

export type Counters = {
  /**
   * Creates the counter of a name; call it once for each name. Processes that share counters share
   * the counter of a name. A window lasts at most 24 days.
   */
  counter(name: string, windowSeconds: number): Counter;
  /** For counters in Redis: `degraded` while each process counts for itself. */
  state?(): 'up' | 'degraded';
  close(): void;
};

export function createMemoryCounters(environment: Environment): Counters {
  return {
    counter(name, windowSeconds) {
      const limiter = new RateLimiterMemory(limiterOptions(environment, name, windowSeconds));
      // One after the other, so that no other addition sees points that are taken back.
      let last: Promise<unknown> = Promise.resolve();
      return {
        add(subject, consumption) {
          const count = last.then(() => addWithin(limiter, subject, consumption));
          last = count;
          return count;
        },
      };
    },
    close() {},
  };
}

async function addWithin(
  limiter: RateLimiterMemory,
  subject: string,
  { points, limit }: Consumption,
): Promise<Count> {
  const counted = await limiter.penalty(subject, points);
  const { consumedPoints } = counted;
  // If the clock was put back, its end is further away than a window is long.
  const msBeforeNext = Math.min(counted.msBeforeNext, limiter.msDuration);
  if (consumedPoints <= limit) return { consumedPoints, isWithin: true, msBeforeNext };
  const left = await limiter.reward(subject, points - 1);
  return { consumedPoints: left.consumedPoints, isWithin: false, msBeforeNext };
}

/**
 * Options of a rate-limiter-flexible limiter that only counts. Its `penalty` adds points and
 * returns the sum without comparing it with `points`, so that one counter serves every budget.
 * The key prefix contains the environment.
 */
export function limiterOptions(environment: Environment, name: string, windowSeconds: number) {
  return { keyPrefix: `loyalty:${environment}:${name}`, points: 0, duration: windowSeconds };
}
