// How much mail waits, for the metrics.
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import type { Outbox } from '../tables/outbox.ts';

/** The store is read no more often than this, however often metrics are. */
const FRESH_MS = 5_000;
const DEADLINE_MS = 1_000;

/** While the outbox cannot be read, the metrics have no value. */
export function watchQueue(
  outbox: Pick<Outbox, 'waiting'>,
  metrics: Pick<Metrics, 'mailQueue' | 'mailOldest'>,
  now: () => number,
): void {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Awaited<ReturnType<Outbox['waiting']>> | undefined>;

  function waiting() {
    if (performance.now() - readAt < FRESH_MS) return reading;
    readAt = performance.now();
    reading = withTimeout(outbox.waiting(), DEADLINE_MS, 'no answer in time').catch(
      () => undefined,
    );
    return reading;
  }

  metrics.mailQueue(async () => {
    const queue = await waiting();
    return queue === undefined ? [] : [[{}, queue.count]];
  });
  metrics.mailOldest(async () => {
    const queue = await waiting();
    const since = queue?.oldestAt ?? now();
    return queue === undefined ? [] : [[{}, Math.max(0, now() - since) / 1_000]];
  });
}
