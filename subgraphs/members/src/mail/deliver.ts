// Delivers the mail of one job.
import type { Job } from '../outbox/outbox.ts';
import { type Composer, compose, type NotComposed } from './compose.ts';
import type { Mailer } from './mailer.ts';

export type Sender = Composer & {
  mailer: Mailer;
  /** The domain of message IDs. */
  mailDomain: string;
};

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
  await sender.mailer.send(email, `${job.jobId}@${sender.mailDomain}`, signal);
  return 'sent';
}
