// The rules of adding a mailed token to its member's record, and of redeeming it.
import {
  activeEnrollment,
  confirmed,
  confirmedByApp,
  withEnrollment,
  withoutApps,
} from './enrollment.ts';
import {
  type AddressChange,
  type ChangeToken,
  REPEAT_MS,
  type SignInToken,
  type StoredToken,
  type TakenAddress,
  TOKEN_USES,
} from './mailedtoken.ts';
import type { Enrollment } from './member.ts';
import {
  addressKey,
  enrolledKey,
  isEqual,
  isLocked,
  type MemberRecord,
  type MemberRecords,
  tokenKey,
  withConfirmed,
} from './record.ts';

/**
 * How long after an undo no change can start: whoever made the undone change may still have an
 * external provider's ID token, which undoing does not end.
 */
const REST_MS = 60 * 60_000;
/** Of a member, undone ones too: each write of the member writes all of them. */
const MAX_ADDRESSES = 100;
/** Of changes that a member can undo, and of losses that they can contest. */
const MAX_RECENT = 20;

/**
 * Adds a sign-in token to the member who has the address and is actively enrolled with the token's
 * partner. Returns the member; undefined if there is none or the current address is locked.
 */
export function addSignInToken(
  records: MemberRecords,
  token: Omit<SignInToken, 'address'>,
  canonical: string,
  now: number,
): MemberRecord | undefined {
  const record = records.byKey(enrolledKey(token.partnerId, canonical));
  if (record === undefined || isLocked(record, record.address)) return undefined;
  return addToken(records, record, { ...token, address: record.address }, now);
}

/**
 * Adds a token for a change of address. False if there is no such member, a change was undone less
 * than an hour ago, one of the two addresses is locked, or the member has had too many, of all time
 * or within 7 days.
 */
export function addChangeToken(
  records: MemberRecords,
  token: ChangeToken,
  memberId: string,
  now: number,
): boolean {
  const record = records.byId(memberId);
  const { canonical } = token.address;
  const holder = records.byKey(addressKey(canonical));
  if (record === undefined || (record.undone !== undefined && record.undone.at + REST_MS > now))
    return false;
  if (isLocked(record, record.address) || (holder && isLocked(holder, canonical))) return false;
  if (record.earlier.length + record.released.length >= MAX_ADDRESSES) return false;
  if (recentOf(record, now).length >= MAX_RECENT) return false;
  addToken(records, record, token, now);
  return true;
}

function recentOf({ changes = [], takenAway = [] }: MemberRecord, now: number) {
  return [
    ...changes.filter(({ at }) => at + TOKEN_USES.undo.lifetimeMs > now),
    ...takenAway.filter(({ at }) => at + TOKEN_USES.contest.lifetimeMs > now),
  ];
}

/**
 * Adds a token that undoes a change of address, and returns the change; undefined if there is no
 * such change or one of its addresses is locked.
 */
export function addUndoToken(
  records: MemberRecords,
  hash: string,
  memberId: string,
  changeId: string,
  now: number,
): AddressChange | undefined {
  const record = records.byId(memberId);
  const change = record?.changes?.find(({ id }) => id === changeId);
  if (record === undefined || change === undefined) return undefined;
  if (isLocked(record, change.to) || isLocked(record, change.from.canonical)) return undefined;
  const expiresAt = change.at + TOKEN_USES.undo.lifetimeMs;
  addToken(records, record, { use: 'undo', hash, changeId, expiresAt }, now);
  return change;
}

/**
 * Adds a token that contests the loss of an address, and returns the loss; undefined if the address
 * was not taken away, or is locked already.
 */
export function addContestToken(
  records: MemberRecords,
  hash: string,
  { memberId, undoId, address }: { memberId: string; undoId: string; address: string },
  now: number,
): TakenAddress | undefined {
  const record = records.byId(memberId);
  const taken = record?.takenAway?.find((one) => one.undoId === undoId && one.address === address);
  if (record === undefined || taken === undefined || isLocked(record, address)) return undefined;
  const expiresAt = taken.at + TOKEN_USES.contest.lifetimeMs;
  addToken(records, record, { use: 'contest', hash, address, expiresAt }, now);
  return taken;
}

function addToken(
  records: MemberRecords,
  record: MemberRecord,
  token: StoredToken,
  now: number,
): MemberRecord {
  const tokens = [...unexpiredTokens(record, now), token];
  return records.write(record, { ...record, tokens });
}

/**
 * Who redeems a sign-in token: the partner that requested it, or the member on this service's own
 * page.
 */
export type Redeemer = { partnerId: string } | 'own-page';

/**
 * Redeems a sign-in token, which confirms the address and the partner that requested it, and
 * returns its member. Undefined if the token is not valid for this redeemer; then it stays as it
 * is.
 */
export function redeemSignInToken(
  records: MemberRecords,
  hash: string,
  redeemer: Redeemer,
  now: number,
  formId?: string,
): MemberRecord | undefined {
  const record = records.byKey(tokenKey(hash));
  const token = record && findToken(record, hash, 'sign-in', now, formId);
  if (record === undefined || token === undefined || !isValidFor(record, token, redeemer))
    return undefined;
  if (token.usedBy !== undefined) return record;
  const others = unexpiredTokens(record, now).filter((one) => one !== token);
  const tokens = [...others, ...usedToken(token, now, formId)];
  return records.write(record, { ...signedIn(record, token), tokens });
}

/**
 * What a sign-in proves: an address, or the partner through which it was, or both; with `clientId`,
 * the partner by this app.
 */
export type Proof = {
  address?: string | undefined;
  partnerId?: string | undefined;
  clientId?: string | undefined;
};

/**
 * Confirms what a sign-in has proved. Returns the member; undefined if the address is not the
 * current one any more, or locked.
 */
export function confirmSignIn(
  records: MemberRecords,
  memberId: string,
  proof: Proof,
): MemberRecord | undefined {
  const record = records.byId(memberId);
  if (record === undefined || isLocked(record, record.address)) return undefined;
  if (record.address !== (proof.address ?? record.address)) return undefined;
  const next = signedIn(record, proof);
  return isEqual(record, next) ? record : records.write(record, next);
}

/** Takes back what apps have confirmed. */
export function takeBack(
  records: MemberRecords,
  memberId: string,
  clientIds: readonly string[],
): void {
  const record = records.byId(memberId);
  if (record === undefined) return;
  const enrollments = record.enrollments.map((one) =>
    withoutApps(one, (id) => clientIds.includes(id)),
  );
  const next = { ...record, enrollments };
  if (!isEqual(record, next)) records.write(record, next);
}

function signedIn(record: MemberRecord, { address, partnerId, clientId }: Proof): MemberRecord {
  const active = partnerId === undefined ? undefined : activeEnrollment(record, partnerId);
  const { enrollments: present } = record;
  const confirm = (one: Enrollment) =>
    clientId === undefined ? confirmed(one) : confirmedByApp(one, clientId);
  const enrollments = active ? withEnrollment(present, confirm(active)) : present;
  const proved = address === undefined ? record : withConfirmed(record, [address]);
  return { ...proved, enrollments };
}

/** What is left of a token. */
export function usedToken(token: StoredToken, now: number, formId?: string): StoredToken[] {
  return formId === undefined ? [] : [{ ...token, usedBy: formId, expiresAt: now + REPEAT_MS }];
}

/** The member's token with this hash, if it has this use, and nothing but this form has used it. */
export function findToken<Use extends StoredToken['use']>(
  record: MemberRecord,
  hash: string,
  use: Use,
  now: number,
  formId?: string,
): Extract<StoredToken, { use: Use }> | undefined {
  const matches = (token: StoredToken): token is Extract<StoredToken, { use: Use }> =>
    token.hash === hash && token.use === use && (token.usedBy ?? formId) === formId;
  return unexpiredTokens(record, now).find(matches);
}

export function unexpiredTokens({ tokens = [] }: MemberRecord, now: number): StoredToken[] {
  return tokens.filter(({ expiresAt }) => expiresAt > now);
}

function isValidFor(record: MemberRecord, token: SignInToken, redeemer: Redeemer): boolean {
  if (token.address !== record.address || isLocked(record, record.address)) return false;
  if (redeemer === 'own-page') return token.ownPage;
  const { partnerId } = redeemer;
  return token.partnerId === partnerId && activeEnrollment(record, partnerId) !== undefined;
}
