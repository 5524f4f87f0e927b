// Writes to the usage store what was counted, at intervals.
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';

const DEADLINE_MS = 10_000;

export type Writer = {
  /**
   * Writes what there is, unless a write is under way. Never rejects: what cannot be written is
   * logged and lost.
   */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

/** `take` gives what is to be written, the last time all of it; undefined if there is nothing. */
export function createWriter<Batch>(
  take: (isLast: boolean) => Batch | undefined,
  add: (batch: Batch) => Promise<void>,
  { intervalMs, what, log }: { intervalMs: number; what: string; log: Pick<Log, 'outage'> },
): Writer {
  let writing: Promise<void> | undefined;

  async function writeBatch(batch: Batch): Promise<void> {
    try {
      await withTimeout(add(batch), DEADLINE_MS, 'the usage store did not respond in time');
    } catch (error) {
      log.outage({ store: 'usage', err: error }, `${what} could not be written`);
    } finally {
      writing = undefined;
    }
  }

  function write(isLast = false): Promise<void> {
    if (writing !== undefined) return writing;
    const batch = take(isLast);
    if (batch === undefined) return Promise.resolve();
    writing = writeBatch(batch);
    return writing;
  }

  const timer = setInterval(() => write(), intervalMs).unref();
  return {
    write: () => write(),
    async close() {
      clearInterval(timer);
      await writing;
      await write(true);
    },
  };
}
