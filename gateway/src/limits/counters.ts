// What the limits count with; limit.memory.ts, limit.cluster.ts and limit.redis.ts answer it.

/**
 * What a subject has taken in its window, with this taking, and the milliseconds until the window ends. `alone` where this process counted for
 * itself, since what counts for all did not answer.
 */
export type Count = { consumedPoints: number; msBeforeNext: number; degraded?: true };

/** Counts per subject in a fixed window that begins with the subject's first taking. */
export type Counter = { add(subject: string, points: number): Promise<Count> };

export type Counters = {
  /** Makes the counter of a name, once. The same name is the same counter in every process that shares them. The window is at most 24 days. */
  counter(name: string, windowSeconds: number): Counter;
  close(): void;
};

/** The same counter; its counts say that this process counted alone. */
export function degraded(counter: Counter): Counter {
  return {
    add: (subject, points) =>
      counter.add(subject, points).then(({ consumedPoints, msBeforeNext }) => ({
        consumedPoints,
        msBeforeNext,
        alone: true,
      })),
  };
}
