// The rules of changing an address by proof and of undoing that; an engine makes each call atomic.

import type { Address } from '../store/store.ts';
import { claim, type MemberRecords } from './enrollment.ts';
import type { StoredMember } from './record.ts';
import { living, usable } from './redeem.ts';
import { type AddressChange, TOKEN_USES } from './token.ts';

export type Changed =
  | { outcome: 'changed'; member: StoredMember }
  | { outcome: 'email-in-use' }
  | { outcome: 'invalid-token' };

/** Whose token it is, and an id of this call: where an engine acts again because another write came between, it tells what is done already. */
export type Attempt = { hash: string; memberId: string; attemptId: string };

/**
 * Makes the token's address the member's current one; the former one stays as history, and `attemptId` names the change. The member's other
 * tokens die, but for those that undo earlier changes. Refused, it changes nothing.
 */
export function confirmChange(
  rows: MemberRecords,
  { hash, memberId, attemptId }: Attempt,
  now: number,
): Changed {
  const row = rows.byId(memberId);
  if (row?.changes?.some(({ id }) => id === attemptId)) return { outcome: 'changed', member: row };
  const token = row && usable(row, hash, 'change', now);
  if (row === undefined || token === undefined) return { outcome: 'invalid-token' };
  const { canonical } = token.address;
  const change: AddressChange = {
    id: attemptId,
    at: now,
    from: current(row),
    to: canonical,
    known: row.earlier.includes(canonical),
  };
  return move(rows, row, token.address, {
    ...row,
    earlier: [...row.earlier, row.address],
    tokens: living(row, now).filter(({ use }) => use === 'undo'),
    changes: [
      ...(row.changes ?? []).filter(({ at }) => at + TOKEN_USES.undo.lifetimeMs > now),
      ...(row.address === canonical ? [] : [change]),
    ],
  });
}

/**
 * Gives the member the address from before the token's change back, and takes away the ones that it and later changes brought, so that they no
 * longer lead here. A current address that none of these changes brought stays current. All tokens but those for undoing still earlier
 * changes die. Refused, it changes nothing.
 */
export function undoChange(
  rows: MemberRecords,
  { hash, memberId, attemptId }: Attempt,
  now: number,
): Changed {
  const row = rows.byId(memberId);
  if (row?.undone?.id === attemptId) return { outcome: 'changed', member: row };
  const token = row && usable(row, hash, 'undo', now);
  const changes = row?.changes ?? [];
  const place = changes.findIndex(({ id }) => id === token?.changeId);
  const [first, ...later] = place < 0 ? [] : changes.slice(place);
  if (row === undefined || first === undefined) return { outcome: 'invalid-token' };
  const undone = [first, ...later];
  const brought = undone
    .filter(({ known, to }) => !known && to !== first.from.canonical)
    .map(({ to }) => to);
  const next = undone.some(({ to }) => to === row.address) ? first.from : current(row);
  return move(rows, row, next, {
    ...row,
    earlier: [...row.earlier, row.address].filter((one) => !brought.includes(one)),
    released: [...row.released, ...brought],
    tokens: living(row, now).filter(
      (one) => one.use === 'undo' && !undone.some(({ id }) => id === one.changeId),
    ),
    changes: changes.slice(0, place),
    undone: { id: attemptId, at: now },
  });
}

function move(
  rows: MemberRecords,
  row: StoredMember,
  { typed, canonical }: Address,
  next: StoredMember,
): Changed {
  const others = (list: string[]) => [...new Set(list)].filter((one) => one !== canonical);
  const member = {
    ...next,
    email: typed,
    address: canonical,
    earlier: others(next.earlier),
    released: others(next.released),
  };
  return claim(rows, row, member) === undefined
    ? { outcome: 'changed', member }
    : { outcome: 'email-in-use' };
}

function current({ email, address }: StoredMember): Address {
  return { typed: email, canonical: address };
}
