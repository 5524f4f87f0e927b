// Looks members up in MongoDB, many in one read, with only the fields that are needed.
import { batchLoad } from '@partner-loyalty/runtime/eventloop/batchload.ts';
import type { MongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { currentId, enrolledMark, lookUpOf } from '../rules/enrollment.ts';
import type { LookUp, Member, MemberKey, MergedMember } from '../rules/member.ts';
import { enrolledKey, externalKey, partnerOfKey } from '../rules/record.ts';
import {
  findByIds,
  findByKeys,
  isTombstone,
  type MemberDocument,
  type MembersCollection,
  movedKey,
} from './documents.mongo.ts';

/**
 * Shares a read for every 100 keys that are looked up in one event loop tick. IDs take a read of
 * their own beside that of the other keys: DocumentDB would scan the collection for both together.
 * IDs that find nobody take one of the marks.
 */
export function createMongoLookUp(members: MembersCollection, marks: Pick<MongoMarks, 'among'>) {
  const byId = batchLoad((ids) => membersById(members, ids));
  const byKey = batchLoad((keys) => membersByKey(members, keys));
  const marked = batchLoad(async (ids) => {
    return new Map(Array.from(await marks.among(ids), (id) => [id, true]));
  });

  const memberById = async (partnerId: string, memberId: string): Promise<Member | undefined> => {
    const found = await byId(memberId);
    if (found === undefined || !('mergedInto' in found)) return found;
    const current = currentId(found, partnerId);
    return current === undefined ? undefined : memberById(partnerId, current);
  };
  return async (partnerId: string, key: MemberKey): Promise<LookUp> => {
    const { by, value } = key;
    if (by !== 'memberId') return lookUpOf(await byKey(storedKey(partnerId, key)), partnerId);
    const found = lookUpOf(await memberById(partnerId, value), partnerId);
    if (found.status !== 'NOT_FOUND') return found;
    return (await marked(enrolledMark(partnerId, value))) ? { status: 'ERASED' } : found;
  };
}

function storedKey(partnerId: string, { by, value }: MemberKey): string {
  return by === 'email' ? enrolledKey(partnerId, value) : externalKey(partnerId, value);
}

export const MEMBER = {
  email: 1,
  address: 1,
  firstName: 1,
  lastName: 1,
  ownNames: 1,
  enrollments: 1,
} as const satisfies Record<Exclude<keyof Member, 'memberId'>, 1>;

/**
 * What each of the keys leads to. Of a member's keys, only these are read: a member with 20
 * enrollments has 41, which take 40 % of the time of a look-up. For a single key, none are read.
 * Only one of the enrollments is read if all keys are of one partner.
 */
export async function membersByKey(
  members: MembersCollection,
  keys: readonly string[],
): Promise<Map<string, Member>> {
  const isOne = keys.length === 1;
  const names = new Map(keys.flatMap((key) => [key, movedKey(key)].map((name) => [name, key])));
  const [partnerId, ...others] = new Set(keys.map(partnerOfKey));
  const documents = findByKeys(members, keys, {
    ...MEMBER,
    ...(others.length === 0 && { enrollments: { $elemMatch: { partnerId } } }),
    ...(!isOne && { keys: { $setIntersection: ['$keys', { $literal: [...names.keys()] }] } }),
  });
  const found = new Map<string, Member>();
  for (const document of await documents.toArray()) {
    const member = memberOf(document);
    for (const name of isOne ? keys : document.keys) found.set(names.get(name) ?? name, member);
  }
  return found;
}

/** The members with these IDs, by ID, and those who had them and were merged into others. */
async function membersById(
  members: MembersCollection,
  ids: readonly string[],
): Promise<Map<string, Member | MergedMember>> {
  const projection = { ...MEMBER, erasedAt: 1, mergedInto: 1, partnerIds: 1 };
  const found = new Map<string, Member | MergedMember>();
  for (const document of await findByIds(members, ids, projection).toArray()) {
    const { _id, mergedInto, partnerIds = [] } = document;
    if (mergedInto !== undefined) found.set(_id, { mergedInto, partnerIds });
    else if (!isTombstone(document)) found.set(_id, memberOf(document));
  }
  return found;
}

export function memberOf({ _id, keys: _, enrollments = [], ...rest }: MemberDocument): Member {
  return { memberId: _id, enrollments, ...rest };
}
