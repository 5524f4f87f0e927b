// What happens to a job that failed: retries with growing pauses, for about an hour.
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Job, Outbox } from '../outbox/outbox.ts';
import { isRefused, mailFault } from './mailer.ts';

/** With the pauses between them, the attempts take about an hour. */
const MAX_ATTEMPTS = 14;
const MAX_PAUSE_MS = 600_000;

export type FailureContext = {
  outbox: Pick<Outbox, 'postpone' | 'giveUp'>;
  log: Log;
  metrics: Metrics;
  now: () => number;
};

/**
 * Whether a job was claimed more often than it may be tried. The claims before it ended without a
 * result, perhaps in a crash.
 */
export function isExhausted(job: Job): boolean {
  return job.attempts > MAX_ATTEMPTS;
}

/** Rejects if the outbox is unavailable. */
export function retryOrGiveUp(job: Job, err: unknown, context: FailureContext): Promise<void> {
  return isRefused(err) || job.attempts >= MAX_ATTEMPTS
    ? giveUp(job, err, context)
    : retry(job, err, context);
}

async function retry(
  job: Job,
  err: unknown,
  { outbox, log, metrics, now }: FailureContext,
): Promise<void> {
  const { kind } = job.task;
  log.outage(explain(err), 'an email could not be sent yet');
  metrics.mail(kind, 'retried');
  await outbox.postpone(job, now() + Math.min(1_000 * 2 ** job.attempts, MAX_PAUSE_MS));
}

/** Sets the job aside as failed. Rejects if the outbox is unavailable. */
export async function giveUp(
  job: Job,
  err: unknown,
  { outbox, log, metrics, now }: FailureContext,
): Promise<void> {
  const { kind } = job.task;
  metrics.mail(kind, 'failed');
  await outbox.giveUp(job, now());
  log.outage(explain(err), 'an email was given up');
}

/** A stack explains only what nobody expects. */
function explain(err: unknown): LogFields {
  const reason = err === undefined ? 'tried too often' : mailFault(err);
  return reason === undefined ? { err } : { reason };
}
