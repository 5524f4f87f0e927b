// The rules of confirming a change of address and of undoing it; engines apply them atomically.
import { type AddressChange, type StoredToken, TOKEN_USES } from './mailedtoken.ts';
import type { Address } from './member.ts';
import { claim } from './ownership.ts';
import {
  isLocked,
  type MemberRecord,
  type MemberRecords,
  withConfirmed,
  withCurrent,
} from './record.ts';
import { findToken, unexpiredTokens, usedToken } from './token.ts';

export type EmailChangeResult =
  | { outcome: 'changed'; member: MemberRecord }
  | { outcome: 'email-in-use' }
  | { outcome: 'invalid-token' };

/** `changed-since`: the undoing would take away more than the caller knows of. */
export type UndoResult = EmailChangeResult | { outcome: 'changed-since' };

/** How many of the lost addresses get a notice, so that many changes cannot make undoing slow. */
const MAX_TAKEN = 5;

/** `attemptId` identifies the call. `formId` is the form that the token came with. */
type Attempt = {
  hash: string;
  memberId: string;
  attemptId: string;
  formId?: string | undefined;
};

/**
 * Makes the token's address the member's current one and keeps the former one as history;
 * `attemptId` becomes the ID of the change. The member's sign-in and change tokens become invalid.
 * If it is refused, because one of the addresses is another member's or locked, nothing changes.
 */
export function confirmChange(
  records: MemberRecords,
  { hash, memberId, attemptId, formId }: Attempt,
  now: number,
): EmailChangeResult {
  const record = records.byId(memberId);
  const token = record && findToken(record, hash, 'change', now, formId);
  if (record === undefined || token === undefined) return { outcome: 'invalid-token' };
  if (token.usedBy !== undefined) return { outcome: 'changed', member: record };
  const { canonical } = token.address;
  if (isLocked(record, record.address)) return { outcome: 'invalid-token' };
  if (isLocked(record, canonical)) return { outcome: 'email-in-use' };
  const change: AddressChange = {
    id: attemptId,
    at: now,
    from: currentAddress(record),
    to: canonical,
    typed: token.address.typed,
    known: record.earlier.includes(canonical),
  };
  return moveTo(records, record, token.address, {
    ...withConfirmed(record, [canonical]),
    earlier: [...record.earlier, record.address],
    tokens: [
      ...unexpiredTokens(record, now).filter(({ use }) => use !== 'sign-in' && use !== 'change'),
      ...usedToken(token, now, formId),
    ],
    changes: [
      ...(record.changes ?? []).filter(({ at }) => at + TOKEN_USES.undo.lifetimeMs > now),
      ...(record.address === canonical ? [] : [change]),
    ],
  });
}

/**
 * The changes that a token would undo, and the addresses that this would take away from the member:
 * the latest first, and not more than get a notice.
 */
type Undoing = { token: StoredToken; changes: AddressChange[]; taken: string[] };

/**
 * Finds what a token would undo now: nothing if its form has undone it. Undefined if the token is
 * not valid.
 */
export function findUndoing(
  record: MemberRecord,
  hash: string,
  now: number,
  formId?: string,
): Undoing | undefined {
  const token = findToken(record, hash, 'undo', now, formId);
  if (token?.usedBy !== undefined) return { token, changes: [], taken: [] };
  const index = (record.changes ?? []).findIndex(({ id }) => id === token?.changeId);
  const changes = index < 0 ? [] : (record.changes ?? []).slice(index);
  const [first] = changes;
  if (token === undefined || first === undefined) return undefined;
  const taken = changes
    .filter(({ known, to }) => to !== first.from.canonical && (!known || to === record.address))
    .map(({ to }) => to);
  return { token, changes, taken: [...new Set(taken.reverse())].slice(0, MAX_TAKEN) };
}

/**
 * Undoes the token's change and all later ones: the member gets the address from before that change
 * back, and the addresses that the undone changes introduced no longer lead to the member. A
 * current address that none of them introduced stays current. All tokens become invalid, except
 * those that undo still earlier changes or contest other losses. `taken` are the addresses that
 * findUndoing has returned. If it is refused, nothing changes.
 */
export function undoChange(
  records: MemberRecords,
  { hash, memberId, attemptId, formId }: Attempt,
  taken: readonly string[],
  now: number,
): UndoResult {
  const record = records.byId(memberId);
  const undoing = record && findUndoing(record, hash, now, formId);
  if (record === undefined || undoing === undefined) return { outcome: 'invalid-token' };
  const { token, changes: undone } = undoing;
  const [first] = undone;
  if (first === undefined) return { outcome: 'changed', member: record };
  if (undone.some((one) => isLocked(record, one.to) || isLocked(record, one.from.canonical)))
    return { outcome: 'invalid-token' };
  if (undoing.taken.some((one) => !taken.includes(one))) return { outcome: 'changed-since' };
  const isCurrentUndone = undone.some(({ to }) => to === record.address);
  // The link was mailed to the address from before the first change.
  const confirmed = withConfirmed(record, [first.from.canonical]);
  const without = withoutChanges(confirmed, undoing, { id: attemptId, at: now });
  const tokens = [...(without.tokens ?? []), ...usedToken(token, now, formId)];
  const next = { ...without, tokens };
  return moveTo(records, record, isCurrentUndone ? first.from : currentAddress(record), next);
}

/** The record after undoing, except for the current address. */
function withoutChanges(
  record: MemberRecord,
  { changes, taken }: Undoing,
  undone: { id: string; at: number },
): MemberRecord {
  const isUndone = (changeId: string) => changes.some(({ id }) => id === changeId);
  const [first] = changes;
  const introduced = changes
    .filter(({ known, to }) => !known && to !== first?.from.canonical)
    .map(({ to }) => to);
  const losses = taken.map((address) => {
    const typed = changes.findLast(({ to }) => to === address)?.typed;
    return { undoId: undone.id, at: undone.at, address, ...(typed !== undefined && { typed }) };
  });
  const contestable = (record.takenAway ?? []).filter(
    ({ at }) => at + TOKEN_USES.contest.lifetimeMs > undone.at,
  );
  return {
    ...record,
    earlier: [...record.earlier, record.address].filter((one) => !introduced.includes(one)),
    released: [...record.released, ...introduced],
    tokens: unexpiredTokens(record, undone.at).filter(
      (one) => one.use === 'contest' || (one.use === 'undo' && !isUndone(one.changeId)),
    ),
    changes: (record.changes ?? []).filter(({ id }) => !isUndone(id)),
    undone,
    takenAway: [...contestable, ...losses.reverse()],
  };
}

/** Writes `next` with another current address. */
function moveTo(
  records: MemberRecords,
  before: MemberRecord,
  address: Address,
  next: MemberRecord,
): EmailChangeResult {
  const member = withCurrent(next, address);
  return claim(records, before, member) === undefined
    ? { outcome: 'changed', member }
    : { outcome: 'email-in-use' };
}

function currentAddress({ email, address }: MemberRecord): Address {
  return { typed: email, canonical: address };
}
