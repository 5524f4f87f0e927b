// The limits on mail, so that nobody can flood a mailbox through this service.
import type { Job, Limit, Outbox } from '../outbox/outbox.ts';

const WINDOW_MS = 15 * 60_000;
/** Of magic links to one member for one partner, and of changes by one member or to one address. */
const PER_MAILBOX = 5;
const PER_PARTNER = 1_000;

/** By member instead of address, since all addresses of a member lead to one mailbox. */
export function magicLinkLimits(partnerId: string, memberId: string): Limit[] {
  return [
    { key: `link\n${partnerId}\n${memberId}`, count: PER_MAILBOX, windowMs: WINDOW_MS },
    { key: `partner\n${partnerId}`, count: PER_PARTNER, windowMs: WINDOW_MS },
  ];
}

export function changeLimits(memberId: string, canonical: string): Limit[] {
  return [
    { key: `change\n${memberId}`, count: PER_MAILBOX, windowMs: WINDOW_MS },
    { key: `target\n${canonical}`, count: PER_MAILBOX, windowMs: WINDOW_MS },
  ];
}

/** Whether all limits admit the job. A job that they have admitted before is not counted again. */
export async function isAdmitted(
  job: Job,
  limits: readonly Limit[],
  outbox: Pick<Outbox, 'admit' | 'markAdmitted'>,
  now: number,
): Promise<boolean> {
  if (job.admitted) return true;
  for (const limit of limits) if (!(await outbox.admit(limit, now))) return false;
  await outbox.markAdmitted(job);
  return true;
}
