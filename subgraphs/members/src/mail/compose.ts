// Composes the mail of a job: finds the recipient, checks the limits and stores the token.
import { makeCode, makeToken, TOKEN_USES } from '../rules/mailedtoken.ts';
import type { MembersStore } from '../store/store.ts';
import type { Job, MailTask } from '../tables/outbox.ts';
import { secretHash } from '../tables/signins.ts';
import { admit, partnerLimits, strangersLimit, targetLimit } from './limits.ts';
import { type Email, linkTo, write } from './template.ts';

export type Composer = {
  store: MembersStore;
  /** The environment's base address, without a slash at the end. */
  baseAddress: string;
  /** Whether mail to the address may be sent now; it is asked before anything is written for it. */
  hasPlace?: (to: string) => boolean;
};

/**
 * `dropped`: there is no recipient, or another limit is reached. `limited`: the partner has reached
 * its number of mails to strangers. `early`: the change that the mail is about may still be made.
 * `crowded`: it waits for a place.
 */
export type NotComposed = 'dropped' | 'limited' | 'early' | 'crowded';

type Context = Composer & { job: Job; now: number };
type TaskOf<Kind extends MailTask['kind']> = Extract<MailTask, { kind: Kind }>;

const NOTICE_PATHS = {
  keyExpires: '/keys',
  webhookFailing: '/webhooks',
  webhookDisabled: '/webhooks',
  staffInvited: '',
};
/** The kinds of mail that go to the address in the task, not to the current one of its member. */
const OWN: readonly string[] = ['change', 'undone', 'notice'];
/** How long a notice waits for its change of address, or for the undoing of one. */
const CHANGE_MS = 60_000;

export function compose(job: Job, composer: Composer, now: number): Promise<Email | NotComposed> {
  const { task } = job;
  const context = { ...composer, job, now };
  if (task.kind === 'magic-link') return composeMagicLink(task, context);
  if (task.kind === 'code') return composeCode(task, context);
  if (task.kind === 'change') return composeChange(task, context);
  if (task.kind === 'changed') return composeChangeNotice(task, context);
  if (task.kind === 'undone') return composeUndoNotice(task, context);
  if (task.kind === 'notice') return composeStaffNotice(task, context);
  return composeInvitation(task, context);
}

/** Why a mail is not composed: the limits, which count it once, or no place. */
async function refusalOf(
  limits: Parameters<typeof admit>[1],
  { job, store, now, hasPlace }: Context,
): Promise<NotComposed | undefined> {
  const admission = limits.length === 0 ? 'admitted' : await admit(job, limits, store.outbox, now);
  if (admission !== 'admitted') return admission;
  const to = await recipientOf(job.task, store);
  return to === undefined || hasPlace?.(to) !== false ? undefined : 'crowded';
}

/** Where the mail goes; undefined if nothing is to be mailed, or not yet. */
async function recipientOf(
  task: MailTask,
  { member, locks }: MembersStore,
): Promise<string | undefined> {
  if (task.kind === 'changed') {
    const record = await member(task.memberId);
    return record?.changes?.find(({ id }) => id === task.changeId)?.from.canonical;
  }
  const { address } = task;
  const canonical = typeof address === 'string' ? address : address.canonical;
  const isOwn = task.kind === 'code' ? task.staff !== undefined : OWN.includes(task.kind);
  if (isOwn) return canonical;
  return (await locks.mailbox({ typed: canonical, canonical }))?.address.canonical;
}

async function composeMagicLink(
  { partnerId, address }: TaskOf<'magic-link'>,
  context: Context,
): Promise<Email | NotComposed> {
  const { store, baseAddress, job, now } = context;
  const recipient = await store.tokens.findRecipient(partnerId, address);
  if (recipient === undefined) return 'dropped';
  const partner = (await store.partners.get(partnerId)) ?? { partnerId, name: partnerId };
  const { memberId, isConfirmed } = recipient;
  const limits = partnerLimits('link', partner, memberId, !isConfirmed);
  const refusal = await refusalOf(limits, context);
  if (refusal !== undefined) return refusal;

  const ownPage = partner.magicLinkUrl === undefined;
  const { token, hash } = makeToken('sign-in');
  const { lifetimeMs } = TOKEN_USES['sign-in'];
  const mailbox = await store.tokens.addSignIn(
    { use: 'sign-in', hash, expiresAt: now + lifetimeMs, partnerId, ownPage },
    address,
    now,
  );
  if (mailbox === undefined) return 'dropped';
  const link = linkTo(partner.magicLinkUrl ?? `${baseAddress}/sign-in`, token);
  const words = { partner: partner.name, link, minutes: lifetimeMs / 60_000 };
  return write('magicLink', mailbox.email, words, await languageOf(memberId, job, store));
}

/** Its limits were checked when the sign-in was begun. */
async function composeCode(task: TaskOf<'code'>, context: Context): Promise<Email | NotComposed> {
  const { store, baseAddress, job } = context;
  const refusal = await refusalOf([], context);
  if (refusal !== undefined) return refusal;
  const { signInId, staff } = task;
  const reader = await readerOf(task, store);
  const isOpen = (await store.signIns.find(signInId)) !== undefined;
  if (reader === undefined || !isOpen) return 'dropped';
  const { to, ...recipient } = reader;
  const { memberId } = recipient;
  const { token } = makeToken('browser');
  const code = makeCode();
  const isKept = await store.signIns.mailed(signInId, {
    ...recipient,
    code: secretHash(signInId, code),
    token: secretHash(signInId, token),
  });
  if (!isKept) return 'dropped';
  const link = linkTo(`${baseAddress}${staff ? '/console' : ''}/sign-in`, token);
  const shown = `${code.slice(0, 4)}-${code.slice(4)}`;
  const words = { code: shown, link, minutes: TOKEN_USES.browser.lifetimeMs / 60_000 };
  const language = staff?.language ?? (await languageOf(memberId, job, store));
  return write(staff ? 'console' : 'code', to, words, language);
}

/** Who signs in by the mail; undefined if nobody may. */
async function readerOf(
  { address, staff }: TaskOf<'code'>,
  { locks }: MembersStore,
): Promise<{ to: string; mailbox: string; memberId?: string } | undefined> {
  const { canonical: mailbox } = address;
  if (staff !== undefined)
    return staff.isStaff ? { to: staff.email ?? mailbox, mailbox } : undefined;
  const { memberId, address: current } = (await locks.mailbox(address)) ?? {};
  return memberId === undefined || current === undefined
    ? undefined
    : { to: current.typed, mailbox: current.canonical, memberId };
}

async function composeChange(
  { memberId, address }: TaskOf<'change'>,
  context: Context,
): Promise<Email | NotComposed> {
  const { store, baseAddress, job, now } = context;
  // Before the limits count: nothing is kept about somebody who was erased.
  if ((await store.member(memberId)) === undefined) return 'dropped';
  const limits = [targetLimit(address.canonical)];
  const refusal = await refusalOf(limits, context);
  if (refusal !== undefined) return refusal;

  const { token, hash } = makeToken('change');
  const { lifetimeMs } = TOKEN_USES.change;
  const isAdded = await store.tokens.addChange(
    { use: 'change', hash, expiresAt: now + lifetimeMs, address },
    memberId,
    now,
  );
  if (!isAdded) return 'dropped';
  const link = linkTo(`${baseAddress}/sign-in`, token);
  const words = { link, minutes: lifetimeMs / 60_000 };
  return write('change', address.typed, words, await languageOf(memberId, job, store));
}

async function composeChangeNotice(
  { memberId, changeId }: TaskOf<'changed'>,
  context: Context,
): Promise<Email | NotComposed> {
  const { store, baseAddress, job, now } = context;
  const refusal = await refusalOf([], context);
  if (refusal !== undefined) return refusal;
  const { token, hash } = makeToken('undo');
  const change = await store.tokens.addUndo(hash, memberId, changeId, now);
  if (change === undefined) return now - job.requestedAt < CHANGE_MS ? 'early' : 'dropped';
  const link = linkTo(`${baseAddress}/sign-in`, token);
  const until = new Date(change.at + TOKEN_USES.undo.lifetimeMs);
  const language = await languageOf(memberId, job, store);
  return write('changed', change.from.typed, { link, until }, language);
}

async function composeUndoNotice(
  { address, ...undo }: TaskOf<'undone'>,
  context: Context,
): Promise<Email | NotComposed> {
  const { store, baseAddress, job, now } = context;
  const refusal = await refusalOf([], context);
  if (refusal !== undefined) return refusal;
  const { token, hash } = makeToken('contest');
  const loss = await store.locks.addContest(hash, { ...undo, address }, now);
  if (loss === undefined) return now - job.requestedAt < CHANGE_MS ? 'early' : 'dropped';
  const link = linkTo(`${baseAddress}/sign-in`, token);
  const until = new Date(loss.at + TOKEN_USES.contest.lifetimeMs);
  const to = loss.typed ?? address;
  return write('undone', to, { link, until }, await languageOf(undo.memberId, job, store));
}

async function composeInvitation(
  { kind: _, ...input }: TaskOf<'invitation'>,
  context: Context,
): Promise<Email | NotComposed> {
  const { store, baseAddress, job, now } = context;
  const { partnerId } = input;
  const mailbox = await store.locks.mailbox(input.address);
  if (mailbox === undefined) return 'dropped';
  // The partner gets its own spelling back, even if another partner wrote the address first.
  const isSame = mailbox.address.canonical === input.address.canonical;
  const address = isSame ? input.address : mailbox.address;
  const { memberId = address.canonical } = mailbox;
  const partner = (await store.partners.get(partnerId)) ?? { partnerId, name: partnerId };
  const limits = partnerLimits('invitation', partner, memberId, true);
  const refusal = await refusalOf(limits, context);
  if (refusal !== undefined) return refusal;

  const { token, hash } = makeToken('invitation');
  const { lifetimeMs } = TOKEN_USES.invitation;
  // Whoever reads this mailbox is the person who agrees, so the enrollment gets its address.
  await store.invitations.add(hash, { ...input, address }, now + lifetimeMs);
  // Erasing a member removes the job before the invitations.
  if (!(await store.outbox.holds(job))) {
    await store.invitations.remove(hash);
    return 'dropped';
  }
  const link = linkTo(`${baseAddress}/invitation`, token);
  const words = { partner: partner.name, link, days: lifetimeMs / 86_400_000 };
  return write('invitation', address.typed, words, await languageOf(memberId, job, store));
}

async function composeStaffNotice(
  { letter, partnerId, about, until, address, email, language }: TaskOf<'notice'>,
  context: Context,
): Promise<Email | NotComposed> {
  const { store, baseAddress } = context;
  const partner = (await store.partners.get(partnerId)) ?? { partnerId, name: partnerId };
  const limits = letter === 'staffInvited' ? [strangersLimit(partner)] : [];
  const refusal = await refusalOf(limits, context);
  if (refusal !== undefined) return refusal;
  const link = `${baseAddress}/console${NOTICE_PATHS[letter]}`;
  const words = {
    partner: partner.name,
    about,
    link,
    ...(until !== undefined && { until: new Date(until) }),
  };
  return write(letter, email ?? address, words, language);
}

/** The language of the page that caused the mail, or else of the last page the member used. */
async function languageOf(
  memberId: string | undefined,
  { task }: Job,
  { access }: MembersStore,
): Promise<string | undefined> {
  return task.language ?? (await access.find(memberId ?? ''))?.language;
}
