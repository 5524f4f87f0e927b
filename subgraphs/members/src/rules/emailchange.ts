// The rules of confirming a change of address and of undoing it; engines apply them atomically.
import { type AddressChange, TOKEN_USES } from './mailedtoken.ts';
import type { Address } from './member.ts';
import { claim } from './ownership.ts';
import type { MemberRecord, MemberRecords } from './record.ts';
import { findToken, unexpiredTokens } from './redeem.ts';

export type EmailChangeResult =
  | { outcome: 'changed'; member: MemberRecord }
  | { outcome: 'email-in-use' }
  | { outcome: 'invalid-token' };

/**
 * `attemptId` identifies the call: when an engine applies the rule again after a conflict, the rule
 * recognizes what it has already done.
 */
export type Attempt = { hash: string; memberId: string; attemptId: string };

/**
 * Makes the token's address the member's current one and keeps the former one as history;
 * `attemptId` becomes the ID of the change. The member's other tokens become invalid, except those
 * that undo earlier changes. If it is refused, nothing changes.
 */
export function confirmChange(
  records: MemberRecords,
  { hash, memberId, attemptId }: Attempt,
  now: number,
): EmailChangeResult {
  const record = records.byId(memberId);
  if (record?.changes?.some(({ id }) => id === attemptId))
    return { outcome: 'changed', member: record };
  const token = record && findToken(record, hash, 'change', now);
  if (record === undefined || token === undefined) return { outcome: 'invalid-token' };
  const { canonical } = token.address;
  const change: AddressChange = {
    id: attemptId,
    at: now,
    from: currentAddress(record),
    to: canonical,
    known: record.earlier.includes(canonical),
  };
  return moveTo(records, record, token.address, {
    ...record,
    earlier: [...record.earlier, record.address],
    tokens: unexpiredTokens(record, now).filter(({ use }) => use === 'undo'),
    changes: [
      ...(record.changes ?? []).filter(({ at }) => at + TOKEN_USES.undo.lifetimeMs > now),
      ...(record.address === canonical ? [] : [change]),
    ],
  });
}

/**
 * Undoes the token's change and all later ones: the member gets the address from before that change
 * back, and the addresses that the undone changes introduced no longer lead to the member. A
 * current address that none of them introduced stays current. All tokens become invalid, except
 * those that undo still earlier changes. If it is refused, nothing changes.
 */
export function undoChange(
  records: MemberRecords,
  { hash, memberId, attemptId }: Attempt,
  now: number,
): EmailChangeResult {
  const record = records.byId(memberId);
  if (record?.undone?.id === attemptId) return { outcome: 'changed', member: record };
  const token = record && findToken(record, hash, 'undo', now);
  const changes = record?.changes ?? [];
  const index = changes.findIndex(({ id }) => id === token?.changeId);
  const [first, ...later] = index < 0 ? [] : changes.slice(index);
  if (record === undefined || first === undefined) return { outcome: 'invalid-token' };
  const undone = [first, ...later];
  const introduced = undone
    .filter(({ known, to }) => !known && to !== first.from.canonical)
    .map(({ to }) => to);
  const isCurrentUndone = undone.some(({ to }) => to === record.address);
  return moveTo(records, record, isCurrentUndone ? first.from : currentAddress(record), {
    ...record,
    earlier: [...record.earlier, record.address].filter((one) => !introduced.includes(one)),
    released: [...record.released, ...introduced],
    tokens: unexpiredTokens(record, now).filter(
      (one) => one.use === 'undo' && !undone.some(({ id }) => id === one.changeId),
    ),
    changes: changes.slice(0, index),
    undone: { id: attemptId, at: now },
  });
}

/** Writes `next` with another current address, which is then in none of its other lists. */
function moveTo(
  records: MemberRecords,
  before: MemberRecord,
  { typed, canonical }: Address,
  next: MemberRecord,
): EmailChangeResult {
  const without = (addresses: string[]) =>
    [...new Set(addresses)].filter((one) => one !== canonical);
  const member = {
    ...next,
    email: typed,
    address: canonical,
    earlier: without(next.earlier),
    released: without(next.released),
  };
  return claim(records, before, member) === undefined
    ? { outcome: 'changed', member }
    : { outcome: 'email-in-use' };
}

function currentAddress({ email, address }: MemberRecord): Address {
  return { typed: email, canonical: address };
}
