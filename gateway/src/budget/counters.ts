// The counters behind the limits: the interface of counters.{memory,redis}.ts.

/** The state of a subject's window right after a consumption. */
export type Count = {
  /** Everything the subject consumed in this window. */
  consumedPoints: number;
  /** Milliseconds until the window ends. */
  msBeforeNext: number;
  /** Set if this process counted alone because the shared counters did not respond. */
  degraded?: true | undefined;
};

/** Counts each subject in a fixed window that begins with the subject's first consumption. */
export type Counter = { add(subject: string, points: number): Promise<Count> };

export type Counters = {
  /**
   * Creates the counter of a name; call it once for each name. Processes that share counters share
   * the counter of a name. A window lasts at most 24 days.
   */
  counter(name: string, windowSeconds: number): Counter;
  /** For counters in Redis: `degraded` while this process counts alone. */
  state?(): 'up' | 'degraded';
  close(): void;
};

/** The same counter, with each count marked as degraded. */
export function degraded(counter: Counter): Counter {
  return {
    async add(subject, points) {
      const { consumedPoints, msBeforeNext } = await counter.add(subject, points);
      return { consumedPoints, msBeforeNext, degraded: true };
    },
  };
}
