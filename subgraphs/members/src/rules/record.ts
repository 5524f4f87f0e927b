// A member's record, the keys that lead to it, and how rules read and write records.

import type { AddressChange, StoredToken, TakenAddress } from './mailedtoken.ts';
import type { Address, Identity, Member } from './member.ts';

/** The field names are the stored format. Addresses are canonical. */
export type MemberRecord = Member & {
  /** The current address. */
  address: string;
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
   * Those of the current and earlier addresses that are known only from a partner that enrolled
   * them: nobody has used a link in mail to them, and no import had them.
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
  /**
   * Writes a record as `updated` returns it, and returns it; `before` is the record as it was read.
   */
  write(before: MemberRecord | undefined, next: MemberRecord): MemberRecord;
};

/**
 * The record to store in place of `before`: each enrollment has the time of the last change that
 * its partner could see, and no address that has left the member is unconfirmed. Once an enrollment
 * has ended, the partner no longer sees the identity.
 */
export function updated(before: MemberRecord | undefined, next: MemberRecord): MemberRecord {
  const isSame = before !== undefined && IDENTITY.every((field) => before[field] === next[field]);
  const stored = new Map(before?.enrollments.map((one) => [one.partnerId, JSON.stringify(one)]));
  const updatedAt = Date.now();
  const enrollments = next.enrollments.map((one) =>
    stored.get(one.partnerId) === JSON.stringify(one) && (isSame || one.status === 'ENDED')
      ? one
      : { ...one, updatedAt },
  );
  const { unconfirmed = [], ...rest } = next;
  const left = unconfirmed.filter((one) => hasAddress(next, one));
  return { ...rest, enrollments, ...(left.length > 0 && { unconfirmed: left }) };
}

/** What partners see of a member. */
const IDENTITY = ['email', 'firstName', 'lastName'] as const satisfies (keyof Identity)[];

// No part contains control characters, so a line break separates them.
export const addressKey = (canonical: string) => `a\n${canonical}`;
export const enrolledKey = (partnerId: string, canonical: string) =>
  `e\n${partnerId}\n${canonical}`;
export const externalKey = (partnerId: string, externalId: string) =>
  `x\n${partnerId}\n${externalId}`;
export const tokenKey = (hash: string) => `t\n${hash}`;

/**
 * Every key that leads to this member, and to no other: each address, each locked address and each
 * token; and for active enrollments only, each address with the partner, and the external ID with
 * the partner. Look-ups use the latter two, so a member who is unknown and one who is not enrolled
 * are the same to them.
 */
export function keysOf(record: MemberRecord): string[] {
  const { address, earlier, enrollments, tokens = [], locked = [] } = record;
  const addresses = [address, ...earlier];
  const keys = [...addresses.map(addressKey), ...tokens.map(({ hash }) => tokenKey(hash))];
  for (const one of locked) if (!addresses.includes(one)) keys.push(addressKey(one));
  for (const { partnerId, status, externalId } of enrollments) {
    if (status !== 'ACTIVE') continue;
    for (const one of addresses) keys.push(enrolledKey(partnerId, one));
    if (externalId !== undefined) keys.push(externalKey(partnerId, externalId));
  }
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

/**
 * Whether two records are equal. Compares their JSON, which is what is stored: rules keep the order
 * of fields and lists.
 */
export function isEqual(one: MemberRecord | undefined, other: MemberRecord): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The record of a new member without enrollments. */
export function newRecord(
  memberId: string,
  { typed, canonical }: Address,
  names: Names = {},
): MemberRecord {
  return {
    memberId,
    email: typed,
    ...namesOf(names),
    address: canonical,
    earlier: [],
    released: [],
    enrollments: [],
  };
}

type Names = Pick<Member, 'firstName' | 'lastName'>;

/** The names that are given, without keys for those that are not. */
export function namesOf({ firstName, lastName }: Names): Names {
  return {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
  };
}
