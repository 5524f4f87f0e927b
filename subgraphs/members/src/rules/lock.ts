// The rules of locking addresses in dispute (docs/callers/members.md, Addresses).
import type { Address } from './member.ts';
import {
  addressKey,
  hasAddress,
  isLocked,
  type MemberRecord,
  type MemberRecords,
  withCurrent,
} from './record.ts';
import { findToken, unexpiredTokens, usedToken } from './token.ts';

export type UnlockResult =
  | { outcome: 'unlocked'; memberId: string }
  | { outcome: 'not-locked' | 'no-member' }
  /** This other member would be left without an address. */
  | { outcome: 'only-address'; memberId: string };

/**
 * Redeems a token that contests the loss of an address: locks that address and the member's current
 * one. False if the token is not valid.
 */
export function contest(
  records: MemberRecords,
  hash: string,
  memberId: string,
  now: number,
  formId?: string,
): boolean {
  const record = records.byId(memberId);
  const token = record && findToken(record, hash, 'contest', now, formId);
  if (record === undefined || token === undefined) return false;
  if (token.usedBy !== undefined) return true;
  const holder = records.byKey(addressKey(token.address));
  const isOthers = holder !== undefined && holder.memberId !== memberId;
  const others = unexpiredTokens(record, now).filter((one) => one !== token);
  const tokens = [...others, ...usedToken(token, now, formId)];
  const disputed = isOthers ? [record.address] : [record.address, token.address];
  writeLocked(records, record, { ...record, tokens }, disputed, now);
  return true;
}

/**
 * Locks an address: it resolves as before, gets no links, and is neither changed nor taken over.
 * Returns the member that it leads to; undefined if it leads to nobody.
 */
export function lockAddress(
  records: MemberRecords,
  canonical: string,
  now: number,
): string | undefined {
  const record = records.byKey(addressKey(canonical));
  if (record === undefined) return undefined;
  if (!isLocked(record, canonical)) writeLocked(records, record, record, [canonical], now);
  return record.memberId;
}

/**
 * Unlocks an address. With `to`, it becomes that member's current address, and the member's mailed
 * tokens become invalid, those that undo earlier changes included. If it is refused, nothing
 * changes.
 */
export function unlockAddress(
  records: MemberRecords,
  address: Address,
  to: string | undefined,
): UnlockResult {
  const { canonical } = address;
  const holder = records.byKey(addressKey(canonical));
  if (holder === undefined || !isLocked(holder, canonical)) return { outcome: 'not-locked' };
  if (to === undefined || to === holder.memberId) {
    const unlocked = withoutLock(holder, canonical);
    records.write(holder, to === undefined ? unlocked : movedTo(unlocked, address));
    return { outcome: 'unlocked', memberId: holder.memberId };
  }
  const member = records.byId(to);
  if (member === undefined) return { outcome: 'no-member' };
  const loser = withoutAddress(holder, canonical);
  if (loser === undefined) return { outcome: 'only-address', memberId: holder.memberId };
  records.write(holder, loser);
  records.write(member, movedTo(member, address));
  return { outcome: 'unlocked', memberId: to };
}

/** Writes `next` with these addresses locked; links to the current address become invalid. */
function writeLocked(
  records: MemberRecords,
  before: MemberRecord,
  next: MemberRecord,
  addresses: string[],
  now: number,
): void {
  const locked = [...new Set([...(before.locked ?? []), ...addresses])];
  const tokens = unexpiredTokens(next, now).filter(
    ({ use }) => use === 'undo' || use === 'contest' || !locked.includes(next.address),
  );
  records.write(before, { ...next, tokens, locked });
}

function withoutLock({ locked = [], ...record }: MemberRecord, canonical: string): MemberRecord {
  const others = locked.filter((one) => one !== canonical);
  return others.length === 0 ? record : { ...record, locked: others };
}

/**
 * The record of a member who loses an address to another one; undefined if it is the only one. If
 * it was current, the latest earlier one is now, but locked: somebody else may read that mailbox.
 */
function withoutAddress(record: MemberRecord, canonical: string): MemberRecord | undefined {
  const unlocked = withoutLock(record, canonical);
  if (!hasAddress(unlocked, canonical)) return unlocked;
  const next = record.address === canonical ? record.earlier.at(-1) : record.address;
  if (next === undefined) return undefined;
  const { email, address, locked = [] } = unlocked;
  const moved = movedTo(unlocked, { typed: next === address ? email : next, canonical: next });
  return {
    ...moved,
    earlier: moved.earlier.filter((one) => one !== canonical),
    released: [...moved.released, canonical],
    ...(next !== address && { locked: [...new Set([...locked, next])] }),
  };
}

/** The record with another current address, and without tokens that could change it back. */
function movedTo(record: MemberRecord, address: Address): MemberRecord {
  const earlier = [...record.earlier, record.address];
  return withCurrent({ ...record, earlier, tokens: [], changes: [], takenAway: [] }, address);
}
