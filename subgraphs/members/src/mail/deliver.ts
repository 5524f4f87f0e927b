// Turns a job of the outbox into a letter and hands it over: looks up whom it is for, asks the limits, makes the token.

import type { Job, MailTask } from '../outbox/outbox.ts';
import { makeToken, TOKEN_USES } from '../rules/token.ts';
import type { MembersStore } from '../store/store.ts';
import { linkTo, signInPage } from './link.ts';
import type { Mailer } from './mailer.ts';
import { changedEmail, changeEmail, type Email, magicLinkEmail } from './template.ts';

const WINDOW_MS = 15 * 60_000;
/** Mail to one member at the request of one partner or of the member; mail to one address that members want to change to. */
const PER_MAILBOX = 5;
const PER_PARTNER = 1_000;
/** How long a notice waits for its change of address to come about. */
const CHANGE_MS = 60_000;

export type Sender = {
  store: Pick<MembersStore, 'memberByEmail' | 'tokens' | 'outbox' | 'partners'>;
  post: Mailer;
  /** The environment's base address, without a slash at its end. */
  baseAddress: string;
  /** The domain of message ids. */
  mailDomain: string;
};

/** `dropped`: there is nobody to write to, or a limit is reached. `early`: what the letter is about may still come. */
type Unwritten = 'dropped' | 'early';
type Of<K extends MailTask['kind']> = Extract<MailTask, { kind: K }>;

/** Rejects where the letter could not be handed over, or the store is away. */
export async function deliver(
  job: Job,
  sender: Sender,
  now: number,
  signal: AbortSignal,
): Promise<'sent' | Unwritten> {
  const letter = await write(job, sender, now);
  if (typeof letter === 'string') return letter;
  await sender.post.send(letter, `${job.jobId}@${sender.mailDomain}`, signal);
  return 'sent';
}

function write(job: Job, sender: Sender, now: number): Promise<Email | Unwritten> {
  const { errand } = job;
  if (errand.kind === 'magic-link') return writeMagicLink(job, errand, sender, now);
  if (errand.kind === 'change') return writeChange(job, errand, sender, now);
  return writeChanged(job, errand, sender, now);
}

async function writeMagicLink(
  job: Job,
  errand: Of<'magic-link'>,
  { store, baseAddress }: Sender,
  now: number,
): Promise<Email | Unwritten> {
  const { partnerId, address } = errand;
  const member = await store.memberByEmail(partnerId, address);
  if (member === undefined) return 'dropped';
  // By member and not by address: all of a member's addresses lead to one mailbox.
  const limits = {
    [`link\n${partnerId}\n${member.memberId}`]: PER_MAILBOX,
    [`partner\n${partnerId}`]: PER_PARTNER,
  };
  if (!(await admit(job, limits, store.outbox, now))) return 'dropped';

  const partner = (await store.partners.find(partnerId)) ?? { partnerId, name: partnerId };
  const { token, hash } = makeToken('sign-in');
  const { lifetimeMs } = TOKEN_USES['sign-in'];
  const kept = {
    use: 'sign-in',
    hash,
    expiresAt: now + lifetimeMs,
    partnerId,
    ownPage: partner.magicLinkUrl === undefined,
  } as const;
  const mailbox = await store.tokens.keepSignIn(kept, address, now);
  if (mailbox === undefined) return 'dropped';
  const link = linkTo(partner.magicLinkUrl ?? signInPage(baseAddress), token);
  return magicLinkEmail(mailbox.address, partner.name, link, lifetimeMs / 60_000);
}

async function writeChange(
  job: Job,
  errand: Of<'change'>,
  { store, baseAddress }: Sender,
  now: number,
): Promise<Email | Unwritten> {
  const { memberId, address } = errand;
  const limits = {
    [`change\n${memberId}`]: PER_MAILBOX,
    [`target\n${address.canonical}`]: PER_MAILBOX,
  };
  if (!(await admit(job, limits, store.outbox, now))) return 'dropped';

  const { token, hash } = makeToken('change');
  const { lifetimeMs } = TOKEN_USES.change;
  const kept = await store.tokens.keepChange(
    { use: 'change', hash, expiresAt: now + lifetimeMs, address },
    memberId,
    now,
  );
  return kept
    ? changeEmail(address.canonical, linkTo(signInPage(baseAddress), token), lifetimeMs / 60_000)
    : 'dropped';
}

async function writeChanged(
  job: Job,
  errand: Of<'changed'>,
  { store, baseAddress }: Sender,
  now: number,
): Promise<Email | Unwritten> {
  const { token, hash } = makeToken('undo');
  const change = await store.tokens.keepUndo(hash, errand.memberId, errand.changeId, now);
  if (change === undefined) return now - job.requestedAt < CHANGE_MS ? 'early' : 'dropped';
  const until = new Date(change.at + TOKEN_USES.undo.lifetimeMs);
  return changedEmail(change.from.canonical, linkTo(signInPage(baseAddress), token), until);
}

/** Asks the limits in turn, but for a job that they have let pass before. */
async function admit(
  job: Job,
  limits: Record<string, number>,
  outbox: MembersStore['outbox'],
  now: number,
): Promise<boolean> {
  if (job.admitted) return true;
  for (const [key, count] of Object.entries(limits))
    if (!(await outbox.admit({ key, count, windowMs: WINDOW_MS }, now))) return false;
  await outbox.noteAdmitted(job);
  return true;
}
