// Handles one job of the outbox: delivers its mail, then removes, postpones or gives up the job.
import { setTimeout } from 'node:timers/promises';
import type { Job, Outbox } from '../outbox/outbox.ts';
import { deliver, type Sender } from './deliver.ts';
import { type FailureContext, giveUp, isExhausted, retryOrGiveUp } from './failure.ts';

const EARLY_PAUSE_MS = 2_000;
const FINISH_PAUSE_MS = 2_000;

export type JobContext = FailureContext & {
  sender: Sender;
  outbox: Pick<Outbox, 'finish'>;
  /** Aborts when the worker stops claiming jobs. */
  stopping: AbortSignal;
  /** Aborts when the worker no longer waits for mail in progress. */
  sending: AbortSignal;
};

/** Never rejects. If the outbox is unavailable, the claim expires and the job is claimed again. */
export async function handleJob(job: Job, context: JobContext): Promise<void> {
  const { sender, outbox, metrics, now, sending } = context;
  try {
    if (isExhausted(job)) return await giveUp(job, undefined, context);
    const outcome = await deliver(job, sender, now(), sending);
    if (outcome === 'early') return await outbox.postpone(job, now() + EARLY_PAUSE_MS);
    metrics.mail(job.task.kind, outcome);
    await finish(job, context);
  } catch (err) {
    await retryOrGiveUp(job, err, context).catch((cause) => logUnavailable(cause, context));
  }
}

/**
 * Tries until the claim expires: an email must not be sent twice because the outbox was unavailable
 * for a moment.
 */
async function finish(job: Job, context: JobContext): Promise<void> {
  const { outbox, now, stopping } = context;
  for (;;) {
    try {
      return await outbox.finish(job);
    } catch (err) {
      logUnavailable(err, context);
      if (now() + FINISH_PAUSE_MS >= job.dueAt || stopping.aborted) return;
      await setTimeout(FINISH_PAUSE_MS);
    }
  }
}

function logUnavailable(err: unknown, { log }: JobContext): void {
  log.outage({ err, store: 'members' }, 'the outbox cannot be written');
}
