// Writes to the usage store what was counted, at intervals.
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
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
  let isLast = false;
  async function writeBatch(): Promise<void> {
    const batch = take(isLast);
    if (batch !== undefined)
      await withTimeout(add(batch), DEADLINE_MS, 'the usage store did not respond in time');
  }

  const { run, stop } = startLoop(writeBatch, {
    everyMs: intervalMs,
    failed: (err) => log.outage({ store: 'usage', err }, `${what} could not be written`),
  });
  return {
    write: run,
    async close() {
      await stop();
      isLast = true;
      await run();
    },
  };
}
