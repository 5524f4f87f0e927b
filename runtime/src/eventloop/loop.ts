// Work that a process repeats in the background, and never runs twice at the same time.

export type Loop = ReturnType<typeof startLoop>;

type LoopOptions = {
  /** The time between two runs, and before the first. A tenth of it at most is left out. */
  everyMs: number;
  /** Is called for each run that fails, to log the outage. */
  failed(error: unknown): void;
  /** Is called for the first run after it that does not. */
  recovered?(): void;
};

/**
 * Repeats `work`, which may resolve with the milliseconds until its next run. Processes that start
 * together do not stay in step. `signal` is aborted by `stop`.
 */
export function startLoop(
  work: (signal: AbortSignal) => Promise<void> | Promise<number | undefined>,
  { everyMs, failed, recovered = () => {} }: LoopOptions,
) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isWoken = false;
  let isFailing = false;

  function schedule(waitMs = everyMs * (1 - Math.random() / 10)): void {
    running = undefined;
    if (!signal.aborted) timer = setTimeout(run, isWoken ? 0 : waitMs).unref();
  }

  async function runOnce(): Promise<void> {
    try {
      const waitMs = await work(signal);
      if (isFailing) recovered();
      isFailing = false;
      schedule(waitMs ?? undefined);
    } catch (error) {
      isFailing = true;
      failed(error);
      schedule();
    }
  }

  function run(): Promise<void> {
    if (running !== undefined) return running;
    clearTimeout(timer);
    isWoken = false;
    running = runOnce();
    return running;
  }

  schedule();
  return {
    /** Begins a run, unless one is in progress, and resolves when it has ended. Never rejects. */
    run,
    /** Begins a run now, or right after the one in progress. */
    wake(): void {
      isWoken = true;
      if (!signal.aborted) void run();
    },
    /** Begins no other run, and resolves when the one in progress has ended. */
    async stop(): Promise<void> {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
