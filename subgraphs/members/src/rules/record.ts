// A member's record, the keys that lead to it, and how rules read and write records.

import type { AddressChange, StoredToken, TakenAddress } from './mailedtoken.ts';
import type { Address, Enrollment, Member, MergedMember, WholeIdentity } from './member.ts';
import { namesSeenBy } from './names.ts';

/** The field names are the stored format. Addresses are canonical. */
export type MemberRecord = Member & {
  /** Addresses that were current once and still lead to this member. */
  earlier: string[];
  /**
   * Former addresses that another member took over or that came from a change that was undone; a
   * repeated import does not claim them back.
   */
  released: string[];
  /** Mailed tokens that have not been redeemed. */
  tokens?: StoredToken[];
  /** Confirmed changes of address that can still be undone, oldest first. */
  changes?: AddressChange[];
  /** The last time changes were undone; `at` is in milliseconds since 1970. */
  undone?: { id: string; at: number };
  /** Addresses that undoing took away and whose loss can still be contested, oldest first. */
  takenAway?: TakenAddress[];
  /**
   * Addresses in dispute (lock.ts): the current one, earlier ones, or ones that lead to nobody and
   * are kept from other members.
   */
  locked?: string[];
  /**
   * The current and earlier addresses that are known only from a partner that enrolled them: nobody
   * has used a link in mail to them, and no import had them.
   */
  unconfirmed?: string[];
};

/**
 * The records that a rule acts on. What a rule reads stays true until all its writes are stored, or
 * none is.
 */
export type MemberRecords = {
  byId(memberId: string): MemberRecord | undefined;
  /** The member that a key leads to. */
  byKey(key: string): MemberRecord | undefined;
  /** What is left of the member who had this ID and is part of another one now. */
  merged(memberId: string): MergedMember | undefined;
  /**
   * Writes a record as `updated` returns it, and returns it; `before` is the record as it was read.
   */
  write(before: MemberRecord | undefined, next: MemberRecord): MemberRecord;
};

/**
 * The record to store in place of `before`: each enrollment has the time of the last change that
 * its partner could see, later than the one before, and nothing mentions an address that has left
 * the member.
 */
export function updated(
  before: MemberRecord | undefined,
  next: MemberRecord,
  updatedAt = timeAfter(before),
): MemberRecord {
  const stored = new Map(before?.enrollments.map((one) => [one.partnerId, one]));
  const enrollments = next.enrollments.map((wanted) => {
    const one = withoutLost(next, wanted);
    const was = stored.get(one.partnerId);
    if (before === undefined || was === undefined) return { ...one, updatedAt };
    // A rule that takes the time away stamps again what the partner sees.
    const isSame = one.updatedAt === was.updatedAt && shownBy(before, was) === shownBy(next, one);
    return { ...one, updatedAt: isSame ? was.updatedAt : updatedAt };
  });
  const { unconfirmed = [], ...rest } = next;
  const left = unconfirmed.filter((one) => hasAddress(next, one));
  return { ...rest, enrollments, ...(left.length > 0 && { unconfirmed: left }) };
}

/**
 * The time of a change, in milliseconds since 1970: later than that of any change that a partner
 * could see before, even within a millisecond or if another process's clock is ahead.
 */
export function timeAfter(before: MemberRecord | undefined): number {
  return Math.max(Date.now(), ...(before?.enrollments ?? []).map(({ updatedAt }) => updatedAt + 1));
}

/** The enrollment without addresses that have left the member; ended if no usable one is left. */
function withoutLost(record: MemberRecord, enrollment: Enrollment): Enrollment {
  const { written, limited, withheld, before } = enrollment;
  const left = written?.filter(({ canonical }) => hasAddress(record, canonical));
  const [kept, keptBefore] = [withheld, before?.withheld].map((addresses) =>
    addresses?.filter((one) => hasAddress(record, one)),
  );
  if (
    left?.length === written?.length &&
    kept?.length === withheld?.length &&
    keptBefore?.length === before?.withheld?.length
  )
    return enrollment;
  if (limited && left?.length === 0) return ended(enrollment);
  const earlier = keptBefore && { before: { ...before, withheld: keptBefore } };
  return { ...enrollment, written: left, ...(kept && { withheld: kept }), ...earlier };
}

/** All that an enrollment shows its partner. Once it has ended, that is nothing else. */
export function shownBy(record: MemberRecord, enrollment: Enrollment): string {
  const { status, externalId, enrolledAt, unconfirmed } = enrollment;
  const shown = [externalId, enrolledAt, unconfirmed, seenBy(record, enrollment)];
  return status === 'ENDED' ? status : JSON.stringify(shown);
}

/** Who a member is to a partner, by its active enrollment. */
export function seenBy(member: Member, enrollment: Enrollment): WholeIdentity {
  const { memberId, email, address } = member;
  const { written = [], limited } = enrollment;
  const { firstName, lastName } = namesSeenBy(member, enrollment);
  const current = written.find(({ canonical }) => canonical === address);
  const shown = current ?? (limited ? written.at(-1) : undefined);
  return { memberId, email: shown?.typed ?? email, firstName, lastName };
}

/** The enrollment without what only an active one has. */
export function ended(enrollment: Enrollment): Enrollment {
  const gone = { externalId: undefined, enrolledAt: undefined, written: undefined };
  const merged = { otherExternalIds: undefined, withheld: undefined };
  const before = enrollment.before && { names: enrollment.before.names };
  return { ...enrollment, ...gone, ...merged, before, limited: undefined, status: 'ENDED' };
}

/** The parts of the keys that look-ups of partners use, from which one is made faster. */
export const enrolledParts = (partnerId: string, canonical: string) => ['e', partnerId, canonical];
export const externalParts = (partnerId: string, externalId: string) => [
  'x',
  partnerId,
  externalId,
];

// No part contains control characters, so a line break separates them.
export const addressKey = (canonical: string) => `a\n${canonical}`;
export const enrolledKey = (partnerId: string, canonical: string) =>
  enrolledParts(partnerId, canonical).join('\n');
export const externalKey = (partnerId: string, externalId: string) =>
  externalParts(partnerId, externalId).join('\n');
export const tokenKey = (hash: string) => `t\n${hash}`;

/**
 * Every key that leads to this member, and to no other: those of the member, and those of each
 * enrollment. Look-ups use the latter, so a member who is unknown and one who is not enrolled are
 * the same to them.
 */
export function keysOf(record: MemberRecord): string[] {
  const keys = memberKeys(record);
  for (const enrollment of record.enrollments) keys.push(...enrollmentKeys(record, enrollment));
  return keys;
}

/** Each address, each locked address and each token. */
export function memberKeys({ address, earlier, tokens = [], locked = [] }: MemberRecord): string[] {
  const addresses = new Set([address, ...earlier, ...locked]);
  return [...Array.from(addresses, addressKey), ...tokens.map(({ hash }) => tokenKey(hash))];
}

/** If it is active: each address that the partner may use, and the external IDs. */
export function enrollmentKeys(
  { address, earlier }: MemberRecord,
  enrollment: Enrollment,
): string[] {
  const { partnerId, status, externalId, otherExternalIds = [], limited } = enrollment;
  if (status !== 'ACTIVE') return [];
  const { written = [], withheld = [] } = enrollment;
  const addresses = limited
    ? written.map(({ canonical }) => canonical)
    : [address, ...earlier.filter((one) => !withheld.includes(one))];
  const keys = addresses.map((one) => enrolledKey(partnerId, one));
  if (externalId !== undefined) keys.push(externalKey(partnerId, externalId));
  for (const other of otherExternalIds) keys.push(externalKey(partnerId, other));
  return keys;
}

/** Whether an address, in canonical form, is locked at this member. */
export function isLocked({ locked = [] }: Pick<MemberRecord, 'locked'>, address: string): boolean {
  return locked.includes(address);
}

/**
 * Whether an address leads to this member. A locked one may be reserved by the member's record
 * without leading anywhere.
 */
export function hasAddress({ address, earlier }: MemberRecord, canonical: string): boolean {
  return address === canonical || earlier.includes(canonical);
}

/** Whether the current address, to which all mail goes, is confirmed. */
export function isConfirmed({ address, unconfirmed = [] }: MemberRecord): boolean {
  return !unconfirmed.includes(address);
}

/** The record after a link in mail to these addresses was used, or after an import of them. */
export function withConfirmed(record: MemberRecord, addresses: readonly string[]): MemberRecord {
  const { unconfirmed } = record;
  if (unconfirmed === undefined) return record;
  return { ...record, unconfirmed: unconfirmed.filter((one) => !addresses.includes(one)) };
}

/** The record with another current address, which is then in none of its other lists. */
export function withCurrent(record: MemberRecord, { typed, canonical }: Address): MemberRecord {
  const without = (addresses: string[]) =>
    [...new Set(addresses)].filter((one) => one !== canonical);
  return {
    ...record,
    email: typed,
    address: canonical,
    earlier: without(record.earlier),
    released: without(record.released),
  };
}

/**
 * Whether two records are equal. Compares their JSON, which is what is stored: rules keep the order
 * of fields and lists.
 */
export function isEqual(one: MemberRecord | undefined, other: MemberRecord): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The record of a new member without enrollments. */
export function newRecord(memberId: string, { typed, canonical }: Address): MemberRecord {
  return {
    memberId,
    email: typed,
    address: canonical,
    earlier: [],
    released: [],
    enrollments: [],
  };
}
