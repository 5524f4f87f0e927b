// The limits on mail, so that nobody can flood mailboxes through this service.
import type { Job, Limit, MailTask, Outbox } from '../tables/outbox.ts';
import { DAILY_INVITATIONS, type MailPartner } from '../tables/partner.ts';

const WINDOW_MS = 15 * 60_000;
/**
 * The limit on magic links or invitations to one mailbox for one partner, and on changes by one
 * member or to one address.
 */
const PER_MAILBOX = 5;
const PER_PARTNER = 1_000;
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** `outcome` is what becomes of mail beyond the limit. */
type MailLimit = Limit & { outcome: 'dropped' | 'limited' };

/**
 * The limits on asking for mail, beyond which nothing is stored. So they also bound how much of it
 * waits. Those on codes depend on the browser.
 */
function askLimits(task: MailTask): Limit[] {
  if (task.kind === 'magic-link' || task.kind === 'invitation')
    return [partnerLimit(task.partnerId)];
  if (task.kind === 'change') {
    const key = `change\n${task.memberId}`;
    // Whoever is a member could mail to strangers all day.
    return [mailboxLimit(key), { key: `${key}\nday`, count: 20, windowMs: DAY_MS }];
  }
  if (task.kind !== 'notice') return [];
  const { partnerId, address, letter } = task;
  // An admin can take anybody for staff, and make as many keys expire.
  const key = `notice\n${partnerId}\n${address}`;
  const ofAddress = { key, count: 20, windowMs: DAY_MS };
  return letter === 'staffInvited' ? [partnerLimit(partnerId), ofAddress] : [ofAddress];
}

/** Counts the mail and says whether it may be stored, the same for unknown addresses. */
export async function admitTask(
  task: MailTask,
  outbox: Pick<Outbox, 'admit'>,
  now: number,
): Promise<boolean> {
  for (const limit of askLimits(task)) if (!(await outbox.admit(limit, now))) return false;
  return true;
}

/**
 * `mailbox` is a member's ID, since all addresses of a member lead to one mailbox, or the canonical
 * address of a person who is not a member.
 */
export function partnerLimits(
  kind: 'link' | 'invitation',
  partner: MailPartner,
  mailbox: string,
  isStranger: boolean,
): MailLimit[] {
  return [
    mailboxLimit(`${kind}\n${partner.partnerId}\n${mailbox}`),
    ...(isStranger ? [strangersLimit(partner)] : []),
  ];
}

/**
 * The limits on codes: for an address from a client address, from a client address, and for an
 * address. The first and the last count the members' page and the console apart. A browser that has
 * signed in with the address before has a limit of its own instead, and one that such browsers
 * share, so that no stranger can use them up. Nothing counts against a partner.
 */
export function codeLimits(
  kind: 'code' | 'console',
  address: string,
  client: string,
  browser: string | undefined,
): Limit[] {
  const key = `${kind}\n${address}`;
  if (browser !== undefined)
    return [
      { key: `${key}\nbrowser ${browser}`, count: PER_MAILBOX, windowMs: WINDOW_MS },
      { key: `${key}\nknown`, count: 20, windowMs: HOUR_MS },
    ];
  return [
    { key: `${key}\n${client}`, count: PER_MAILBOX, windowMs: WINDOW_MS },
    { key: `codes of\n${client}`, count: 100, windowMs: HOUR_MS },
    { key, count: 20, windowMs: HOUR_MS },
  ];
}

export function targetLimit(canonical: string): MailLimit {
  return mailboxLimit(`target\n${canonical}`);
}

function mailboxLimit(key: string): MailLimit {
  return { key, count: PER_MAILBOX, windowMs: WINDOW_MS, outcome: 'dropped' };
}

/** One limit on all mail to people who may not know the partner. */
export function strangersLimit({
  partnerId,
  invitations = DAILY_INVITATIONS,
}: MailPartner): MailLimit {
  const key = `invitations\n${partnerId}`;
  return { key, count: invitations, windowMs: DAY_MS, outcome: 'limited' };
}

/** One limit on all mail that a partner asks for. */
export function partnerLimit(partnerId: string): Limit {
  return { key: `partner\n${partnerId}`, count: PER_PARTNER, windowMs: WINDOW_MS };
}

/** A job that the limits have admitted before is not counted again. */
export async function admit(
  job: Job,
  limits: readonly MailLimit[],
  outbox: Pick<Outbox, 'admit' | 'markAdmitted'>,
  now: number,
): Promise<'admitted' | MailLimit['outcome']> {
  if (job.admitted) return 'admitted';
  for (const limit of limits) if (!(await outbox.admit(limit, now))) return limit.outcome;
  await outbox.markAdmitted(job);
  return 'admitted';
}
