// The mail worker: sends the mail in the outbox, when woken or once a second, and cleans it up.
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { InvitationStore } from '../invitations/invitation.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { createClaimer } from './claim.ts';
import type { Sender } from './deliver.ts';
import { handleJob } from './handle.ts';
import { createWakeup } from './wakeup.ts';

const POLL_MS = 1_000;
/**
 * A random delay, so that the time of a response, this request's or another's, does not reveal
 * whether there was a recipient.
 */
const WAKE_DELAY_MS = { min: 50, spread: 200 };
const CLEAN_INTERVAL_MS = 600_000;
const STOP_TIMEOUT_MS = 10_000;

export type MailWorker = {
  /** Makes the worker check the outbox soon; otherwise it does so about once a second. */
  wake(): void;
  /**
   * Claims no more jobs and waits up to 10 seconds for those in progress; what is not sent by then
   * is tried again later.
   */
  stop(): Promise<void>;
};

/** Several workers may share an outbox, in one process or in many. */
export function startMailWorker(
  sender: Sender & { store: { outbox: Outbox; invitations: InvitationStore } },
  { log, metrics, now = Date.now }: { log: Log; metrics: Metrics; now?: () => number },
): MailWorker {
  const { outbox, invitations } = sender.store;
  const stopping = new AbortController();
  const sending = new AbortController();
  const wakeup = createWakeup();
  const signals = { stopping: stopping.signal, sending: sending.signal };
  const context = { sender, outbox, log, metrics, now, ...signals };
  const claimer = createClaimer({
    outbox,
    now,
    handle: (job) => handleJob(job, context),
    stopping: stopping.signal,
    onFree: wakeup.wake,
  });
  const cleanUp = createCleanUp([outbox, invitations], now);

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await claimer.claim();
        await cleanUp();
      } catch (err) {
        log.outage({ err, store: 'members' }, 'the outbox cannot be read');
      }
      await wakeup.pause(POLL_MS);
    }
  }
  const working = work();

  return {
    wake: () => wakeup.wakeAfter(WAKE_DELAY_MS.min + Math.random() * WAKE_DELAY_MS.spread),
    async stop() {
      stopping.abort();
      wakeup.wake();
      const timeout = setTimeout(() => sending.abort(), STOP_TIMEOUT_MS);
      await working;
      await claimer.idle();
      clearTimeout(timeout);
    },
  };
}

/** Cleans the stores on the first call, and then at most once in ten minutes. */
function createCleanUp(
  stores: readonly Pick<Outbox, 'clean'>[],
  now: () => number,
): () => Promise<void> {
  let cleanedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (now() - cleanedAt < CLEAN_INTERVAL_MS) return;
    cleanedAt = now();
    for (const store of stores) await store.clean(cleanedAt);
  };
}
