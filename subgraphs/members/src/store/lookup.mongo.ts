// Looks members up in MongoDB, many in one read, with only the fields that are needed.
import { batchLoad } from '@partner-loyalty/runtime/eventloop/batchload.ts';
import { partnerMember } from '../rules/enrollment.ts';
import type { Identity, Member, MemberKey, PartnerMember, WholeIdentity } from '../rules/member.ts';
import { enrolledKey, externalKey } from '../rules/record.ts';
import {
  findByIds,
  findByKeys,
  type MemberDocument,
  type MembersCollection,
} from './documents.mongo.ts';

/**
 * Shares a read for every 100 keys that are looked up in one event loop tick. IDs take a read of
 * their own beside that of the other keys: DocumentDB would scan the collection for both together.
 */
export function createMongoLookUp(members: MembersCollection) {
  const byId = batchLoad((ids) => membersById(members, ids));
  const byKey = batchLoad((keys) => findWithKeys(members, keys, MEMBER, memberOf));

  const find = async (partnerId: string, key: MemberKey): Promise<PartnerMember | undefined> => {
    const { by, value } = key;
    const found = await (by === 'memberId' ? byId(value) : byKey(storedKey(partnerId, key)));
    const member = found && partnerMember(found, partnerId);
    // Of another partner, a member found by ID shows nothing.
    return member?.enrollment === undefined ? undefined : member;
  };
  return (partnerId: string, keys: readonly MemberKey[]) =>
    Promise.all(keys.map((key) => find(partnerId, key)));
}

function storedKey(partnerId: string, { by, value }: MemberKey): string {
  return by === 'email' ? enrolledKey(partnerId, value) : externalKey(partnerId, value);
}

const IDENTITY = { email: 1, firstName: 1, lastName: 1 } as const satisfies Record<
  Exclude<keyof Identity, 'memberId'>,
  1
>;
const MEMBER = { ...IDENTITY, enrollments: 1 } as const satisfies Record<
  Exclude<keyof Member, 'memberId'>,
  1
>;

/** The identity that each of the keys leads to. */
export function identitiesByKey(
  members: MembersCollection,
  keys: readonly string[],
): Promise<Map<string, Identity>> {
  return findWithKeys(members, keys, IDENTITY, identityOf);
}

/**
 * What each of the keys leads to. Of a member's keys, only these are read: a member with 20
 * enrollments has 41, which take 40 % of the time of a look-up. For a single key, none are read.
 */
async function findWithKeys<Found>(
  members: MembersCollection,
  keys: readonly string[],
  fields: Record<string, 1>,
  read: (document: MemberDocument) => Found,
): Promise<Map<string, Found>> {
  const isOne = keys.length === 1;
  const among = { keys: { $setIntersection: ['$keys', { $literal: keys }] } };
  const documents = findByKeys(members, keys, isOne ? fields : { ...fields, ...among });
  const found = new Map<string, Found>();
  for (const document of await documents.toArray()) {
    const value = read(document);
    for (const key of isOne ? keys : document.keys) found.set(key, value);
  }
  return found;
}

/** The members with these IDs, by ID. */
async function membersById(
  members: MembersCollection,
  ids: readonly string[],
): Promise<Map<string, Member>> {
  const found = await findByIds(members, ids, MEMBER).toArray();
  return new Map(found.map((document) => [document._id, memberOf(document)]));
}

function identityOf({ _id, email, firstName, lastName }: MemberDocument): WholeIdentity {
  return { memberId: _id, email, firstName, lastName };
}

function memberOf(document: MemberDocument): Member {
  return { ...identityOf(document), enrollments: document.enrollments };
}
