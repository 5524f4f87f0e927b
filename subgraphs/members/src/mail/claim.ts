// Claims jobs of the outbox and handles several at a time.
import type { Job, Outbox } from '../outbox/outbox.ts';

const CONCURRENCY = 8;
/** Longer than it can take to deliver an email. */
const LEASE_MS = 120_000;

export type Claimer = {
  /** Starts as many jobs as are due and may run at the same time. */
  claim(): Promise<void>;
  /** Resolves when no job is running. */
  idle(): Promise<void>;
};

export function createClaimer({
  outbox,
  now,
  handle,
  stopping,
  onFree,
}: {
  outbox: Pick<Outbox, 'claim'>;
  now: () => number;
  /** Never rejects. */
  handle: (job: Job) => Promise<void>;
  /** No job is claimed after it aborts. */
  stopping: AbortSignal;
  /** Called when there is room for a job again, since more may be due than could be claimed. */
  onFree: () => void;
}): Claimer {
  const running = new Set<Promise<void>>();
  return {
    async claim() {
      while (running.size < CONCURRENCY && !stopping.aborted) {
        const job = await outbox.claim(now(), LEASE_MS);
        if (job === undefined) return;
        const run = handle(job).finally(() => {
          running.delete(run);
          if (running.size === CONCURRENCY - 1) onFree();
        });
        running.add(run);
      }
    },
    idle: async () => void (await Promise.all(running)),
  };
}
