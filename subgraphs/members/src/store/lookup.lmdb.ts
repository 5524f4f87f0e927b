// Looks members up by keys of any kind in LMDB.
import type { Database } from 'lmdb';
import { partnerMember } from '../rules/enrollment.ts';
import type { Identity, MemberKey, PartnerMember } from '../rules/member.ts';
import { enrolledKey, externalKey, type MemberRecord } from '../rules/record.ts';
import type { MembersStore } from './store.ts';

/** `find` reads whom a stored key leads to. */
export function createLmdbLookUp(
  members: Database<MemberRecord, string>,
  find: (key: string) => Identity | undefined,
): MembersStore['lookUp'] {
  const lookUp = (partnerId: string, { by, value }: MemberKey): PartnerMember | undefined => {
    if (by === 'email') return find(enrolledKey(partnerId, value));
    if (by === 'externalId') return find(externalKey(partnerId, value));
    const record = members.get(value);
    const member = record && partnerMember(record, partnerId);
    // Of another partner, a record found by ID shows nothing.
    return member?.enrollment === undefined ? undefined : member;
  };
  return (partnerId, keys) => keys.map((key) => lookUp(partnerId, key));
}
