// The rules of mailed tokens: kept in their member's row, so that using one up and what it does are one write; an engine makes each call atomic.

import type { MemberRecords } from './enrollment.ts';
import { enrolledKey, type StoredMember, tokenKey } from './record.ts';
import { type AddressChange, type SignInToken, type StoredToken, TOKEN_USES } from './token.ts';

/** Who uses a sign-in token: the partner who asked for it, or the member on this service's own page. */
export type Redeemer = { partnerId: string } | 'own-page';

/** After an undoing, ID tokens of whoever made the change are good for an hour more; until then no change begins. */
const REST_MS = 60 * 60_000;

/** Keeps a sign-in token with the member whom the address leads to at the partner. The member; undefined where it leads to nobody. */
export function keepSignIn(
  rows: MemberRecords,
  token: Omit<SignInToken, 'address'>,
  sought: string,
  now: number,
): StoredMember | undefined {
  const row = rows.byKey(enrolledKey(token.partnerId, sought));
  return row && keep(rows, row, { ...token, address: row.address }, now);
}

/** Keeps a token for a change of address; false where there is no such member, or a change was undone within the last hour. */
export function keepChange(
  rows: MemberRecords,
  token: StoredToken & { use: 'change' },
  memberId: string,
  now: number,
): boolean {
  const row = rows.byId(memberId);
  if (row === undefined || (row.undone !== undefined && row.undone.at + REST_MS > now))
    return false;
  return keep(rows, row, token, now) !== undefined;
}

/** Keeps a token that undoes a change of address; undefined where there is no such change. */
export function keepUndo(
  rows: MemberRecords,
  hash: string,
  memberId: string,
  changeId: string,
  now: number,
): AddressChange | undefined {
  const row = rows.byId(memberId);
  const change = row?.changes?.find(({ id }) => id === changeId);
  if (row === undefined || change === undefined) return undefined;
  keep(
    rows,
    row,
    { use: 'undo', hash, changeId, expiresAt: change.at + TOKEN_USES.undo.lifetimeMs },
    now,
  );
  return change;
}

/** Uses a sign-in token up. The member; undefined where the token is not good for this redeemer, and then it stays as it is. */
export function takeSignIn(
  rows: MemberRecords,
  hash: string,
  redeemer: Redeemer,
  now: number,
): StoredMember | undefined {
  const row = rows.byKey(tokenKey(hash));
  const token = row && usable(row, hash, 'sign-in', now);
  if (row === undefined || token === undefined || !isFor(row, token, redeemer)) return undefined;
  const next = { ...row, tokens: living(row, now).filter((one) => one !== token) };
  rows.write(row, next);
  return next;
}

/** The member's token with this hash, if it is of this use and has not expired. */
export function usable<U extends StoredToken['use']>(
  row: StoredMember,
  hash: string,
  use: U,
  now: number,
): Extract<StoredToken, { use: U }> | undefined {
  const isIt = (token: StoredToken): token is Extract<StoredToken, { use: U }> =>
    token.hash === hash && token.use === use;
  return living(row, now).find(isIt);
}

/** The member's tokens that have not expired. */
export function living({ tokens = [] }: StoredMember, now: number): StoredToken[] {
  return tokens.filter(({ expiresAt }) => expiresAt > now);
}

function isFor(
  { address, enrollments }: StoredMember,
  token: SignInToken,
  redeemer: Redeemer,
): boolean {
  if (token.address !== address) return false;
  if (redeemer === 'own-page') return token.ownPage;
  const { partnerId } = redeemer;
  return (
    token.partnerId === partnerId &&
    enrollments.some((one) => one.partnerId === partnerId && one.status === 'ACTIVE')
  );
}

function keep(
  rows: MemberRecords,
  row: StoredMember,
  token: StoredToken,
  now: number,
): StoredMember {
  const next = { ...row, tokens: [...living(row, now), token] };
  rows.write(row, next);
  return next;
}
