// Handles one job of the outbox: sends its mail, then removes, postpones or gives up the job.
import { setTimeout } from 'node:timers/promises';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Job, Outbox } from '../tables/outbox.ts';
import { type Composer, compose, type NotComposed } from './compose.ts';
import type { Inbox } from './inbox.ts';
import { isRefused, type Mailer, mailFault } from './mailer.ts';
import type { TakePlace } from './slow.ts';

/** With the pauses between them, the attempts take about an hour. */
const MAX_ATTEMPTS = 14;
const MAX_PAUSE_MS = 600_000;
/** In all attempts, more than a change may take. */
const EARLY_PAUSE_MS = 5_000;
const MAX_CROWDED_MS = 60_000;
const FINISH_PAUSE_MS = 2_000;
/** Nobody waits for a link any longer. */
const MAX_WAIT_MS = 3_600_000;

export type Sender = Composer & {
  mailer: Mailer;
  /** The domain of message IDs. */
  mailDomain: string;
  /** Undefined in production. */
  inbox?: Inbox | undefined;
};

type JobContext = {
  sender: Sender;
  takePlace: TakePlace;
  outbox: Pick<Outbox, 'finish' | 'postpone' | 'putBack' | 'giveUp'>;
  log: Log;
  metrics: Metrics;
  now: () => number;
  /** Aborts when the worker stops claiming jobs. */
  stopping: AbortSignal;
  /** Aborts when the worker no longer waits for mail in progress. */
  sending: AbortSignal;
};

/** Never rejects. If the outbox is unavailable, the claim expires and the job is claimed again. */
export async function handleJob(job: Job, context: JobContext): Promise<void> {
  const { sender, takePlace, outbox, metrics, now, sending } = context;
  let leave: (() => void) | undefined;
  try {
    // The claims before this one ended without a result, perhaps in a crash.
    if (job.attempts > MAX_ATTEMPTS) return await giveUp(job, 'tried too often', context);
    const waited = job.task.kind === 'magic-link' ? now() - job.requestedAt : 0;
    if (job.attempts === 1 && waited > MAX_WAIT_MS)
      return await giveUp(job, 'waited too long', context);
    const hasPlace = (to: string) => {
      leave = takePlace(to);
      return leave !== undefined;
    };
    const outcome = await deliver(job, { ...sender, hasPlace }, now(), sending);
    if (outcome === 'crowded') {
      const pause = Math.min(Math.round((now() - job.requestedAt) / 4), MAX_CROWDED_MS);
      return await outbox.putBack(job, now() + Math.max(pause, EARLY_PAUSE_MS));
    }
    if (outcome === 'early') return await outbox.postpone(job, now() + EARLY_PAUSE_MS);
    const { task } = job;
    if (outcome === 'limited' && 'partnerId' in task && task.partnerId !== undefined)
      metrics.mailLimited(task.partnerId);
    metrics.mail(task.kind, outcome === 'limited' ? 'dropped' : outcome);
    await finish(job, context);
  } catch (err) {
    await retryOrGiveUp(job, err, context).catch((cause) => logUnavailable(cause, context));
  } finally {
    leave?.();
  }
}

/** Rejects if the email is not accepted or the store is unavailable. */
export async function deliver(
  job: Job,
  sender: Sender,
  now: number,
  signal: AbortSignal,
): Promise<'sent' | NotComposed> {
  const email = await compose(job, sender, now);
  if (typeof email === 'string') return email;
  // The recipient may have been erased, or the claim may have expired.
  if (!(await sender.store.outbox.holds(job))) return 'dropped';
  const to = canonicalEmail(email.to) ?? email.to;
  if (sender.inbox?.has(to)) await sender.inbox.keep(job, { ...email, to }, now);
  else await sender.mailer.send(email, `${job.jobId}@${sender.mailDomain}`, signal);
  return 'sent';
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

/** Retries with growing pauses. Rejects if the outbox is unavailable. */
async function retryOrGiveUp(job: Job, err: unknown, context: JobContext): Promise<void> {
  if (isRefused(err) || job.attempts >= MAX_ATTEMPTS) return giveUp(job, err, context);
  const { outbox, log, metrics, now } = context;
  log.outage(explain(err), 'an email could not be sent yet');
  metrics.mail(job.task.kind, 'retried');
  await outbox.postpone(job, now() + Math.min(1_000 * 2 ** job.attempts, MAX_PAUSE_MS));
}

/** Sets the job aside as failed. Rejects if the outbox is unavailable. */
async function giveUp(job: Job, reason: unknown, context: JobContext): Promise<void> {
  const { outbox, log, metrics, now } = context;
  metrics.mail(job.task.kind, 'failed');
  await outbox.giveUp(job, now());
  log.outage(explain(reason), 'an email was given up');
}

/** A stack explains only what nobody expects. */
function explain(err: unknown): LogFields {
  const reason = typeof err === 'string' ? err : mailFault(err);
  return reason === undefined ? { err } : { reason };
}

function logUnavailable(err: unknown, { log }: JobContext): void {
  log.outage({ err, store: 'members' }, 'the outbox cannot be written');
}
