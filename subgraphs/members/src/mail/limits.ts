// The limits on mail, so that nobody can flood a mailbox through this service.
import type { Job, Limit, Outbox } from '../tables/outbox.ts';

const WINDOW_MS = 15 * 60_000;
/**
 * Of magic links or invitations to one mailbox for one partner, and of changes by one member or to
 * one address.
 */
const PER_MAILBOX = 5;
const PER_PARTNER = 1_000;
const DAY_MS = 24 * 60 * 60_000;

/** By member instead of address, since all addresses of a member lead to one mailbox. */
export function magicLinkLimits(partnerId: string, memberId: string): Limit[] {
  return [mailboxLimit(`link\n${partnerId}\n${memberId}`), partnerLimit(partnerId)];
}

/**
 * `mailbox` is a member's ID, or the canonical address of a person who is not a member. The limit
 * of the day comes before the one that the partner's magic links share, so that invitations beyond
 * it take nothing from them.
 */
export function invitationLimits(partnerId: string, mailbox: string, perDay: number): Limit[] {
  return [
    mailboxLimit(`invitation\n${partnerId}\n${mailbox}`),
    { key: `invitations\n${partnerId}`, count: perDay, windowMs: DAY_MS },
    partnerLimit(partnerId),
  ];
}

export function changeLimits(memberId: string, canonical: string): Limit[] {
  return [mailboxLimit(`change\n${memberId}`), mailboxLimit(`target\n${canonical}`)];
}

function mailboxLimit(key: string): Limit {
  return { key, count: PER_MAILBOX, windowMs: WINDOW_MS };
}

function partnerLimit(partnerId: string): Limit {
  return { key: `partner\n${partnerId}`, count: PER_PARTNER, windowMs: WINDOW_MS };
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
