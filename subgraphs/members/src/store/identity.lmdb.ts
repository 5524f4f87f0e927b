// The stored form of an identity in LMDB, where each key that leads to a member has one.
import type { Identity, WholeIdentity } from '../rules/member.ts';
import { enrollmentKeys, type MemberRecord, memberKeys, seenBy } from '../rules/record.ts';

/**
 * Everything that a look-up returns, so that it takes one read: going from the key to an ID and on
 * to the record would take two. Field names are left out, since a store has several of these for
 * each member. A new field goes to the end.
 */
export type StoredIdentity = [
  memberId: string,
  email: string,
  firstName: string | null,
  lastName: string | null,
];

/** What each key of a record leads to: the identity as the one who may use the key sees it. */
export function entriesOf(record: MemberRecord): Map<string, StoredIdentity> {
  const own = encodeIdentity(record);
  const entries = new Map(memberKeys(record).map((key) => [key, own]));
  for (const enrollment of record.enrollments) {
    const keys = enrollmentKeys(record, enrollment);
    const seen = keys.length > 0 ? encodeIdentity(seenBy(record, enrollment)) : own;
    for (const key of keys) entries.set(key, seen);
  }
  return entries;
}

function encodeIdentity(identity: Identity): StoredIdentity {
  const { memberId, email, firstName = null, lastName = null } = identity;
  return [memberId, email, firstName, lastName];
}

export function decodeIdentity(stored: StoredIdentity): WholeIdentity {
  const [memberId, email, firstName, lastName] = stored;
  return { memberId, email, firstName: firstName ?? undefined, lastName: lastName ?? undefined };
}

export function isEqualIdentity(one: StoredIdentity, other: StoredIdentity): boolean {
  return one.every((value, index) => value === other[index]);
}
