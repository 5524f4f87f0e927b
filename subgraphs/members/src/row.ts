// A member as both engines keep it, and the keys that lead to the member.
import type { Member } from './store.ts';

/** Addresses are canonical. */
export type MemberRow = Member & {
  /** The current address. */
  address: string;
  /** Addresses that were current once and still resolve to this member. */
  earlier: string[];
  /** Earlier addresses that another member took over; a repeated import does not claim them back. */
  released: string[];
};

// Control characters are refused in every part, so a line break separates them.
export const addressKey = (canonical: string) => `a\n${canonical}`;
export const enrolledKey = (partnerId: string, canonical: string) => `e\n${partnerId}\n${canonical}`;
export const externalKey = (partnerId: string, externalId: string) => `x\n${partnerId}\n${externalId}`;

/**
 * Every key that leads to this member, and may lead to no other: each address; and for active enrollments alone,
 * each address with the partner and the external ID with the partner. Look-ups ask for the latter two, so unknown and not enrolled are the same to them.
 */
export function keysOf({ address, earlier, enrollments }: MemberRow): string[] {
  const addresses = [address, ...earlier];
  const keys = addresses.map(addressKey);
  for (const { partnerId, status, externalId } of enrollments) {
    if (status !== 'ACTIVE') continue;
    for (const one of addresses) keys.push(enrolledKey(partnerId, one));
    if (externalId !== undefined) keys.push(externalKey(partnerId, externalId));
  }
  return keys;
}
