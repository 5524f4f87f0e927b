// A member as both engines keep it, and the keys that lead to the member.
import type { Member } from '../store/store.ts';
import type { AddressChange, StoredToken } from './token.ts';

/** Addresses are canonical. */
export type StoredMember = Member & {
  /** The current address. */
  address: string;
  /** Addresses that were current once and still resolve to this member. */
  earlier: string[];
  /** Earlier addresses that another member took over, or that an undone change had brought; a repeated import does not claim them back. */
  released: string[];
  /** Mailed tokens that have not been used. */
  tokens?: StoredToken[];
  /** Proven changes of address that can still be undone, oldest first. */
  changes?: AddressChange[];
  /** The last undoing of changes; `at` counts milliseconds since 1970. */
  undone?: { id: string; at: number };
};

// Control characters are refused in every part, so a line break separates them.
export const addressKey = (canonical: string) => `a\n${canonical}`;
export const enrolledKey = (partnerId: string, canonical: string) =>
  `e\n${partnerId}\n${canonical}`;
export const externalKey = (partnerId: string, externalId: string) =>
  `x\n${partnerId}\n${externalId}`;
export const tokenKey = (hash: string) => `t\n${hash}`;

/**
 * Every key that leads to this member, and may lead to no other: each address and each token; and for active enrollments alone,
 * each address with the partner and the external ID with the partner. Look-ups ask for the latter two, so unknown and not enrolled are the same to them.
 */
export function keysOf({ address, earlier, enrollments, tokens = [] }: StoredMember): string[] {
  const addresses = [address, ...earlier];
  const keys = [...addresses.map(addressKey), ...tokens.map(({ hash }) => tokenKey(hash))];
  for (const { partnerId, status, externalId } of enrollments) {
    if (status !== 'ACTIVE') continue;
    for (const one of addresses) keys.push(enrolledKey(partnerId, one));
    if (externalId !== undefined) keys.push(externalKey(partnerId, externalId));
  }
  return keys;
}

/** Whether two rows say the same. By their text, which is all that is stored of them: rules keep the order of fields and lists. */
export function isSame(one: StoredMember | undefined, other: StoredMember): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
