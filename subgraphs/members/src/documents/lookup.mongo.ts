// Looks members up by keys of any kind on MongoDB, many in one read.
import { batchLoad } from '@partner-loyalty/runtime';
import { partnerMember } from '../rules/enrollment.ts';
import type { MemberKey, PartnerMember } from '../rules/member.ts';
import { enrolledKey, externalKey, type MemberRecord } from '../rules/record.ts';
import type { MembersCollection } from './collection.mongo.ts';
import { findByIds, findByKeys, versionedRecord } from './documents.mongo.ts';

/**
 * Shares a read for every 100 keys that are looked up in one event loop tick. IDs take a read of
 * their own beside that of the other keys: DocumentDB would scan the collection for both together.
 */
export function createMongoLookUp(members: MembersCollection) {
  const byId = batchLoad(async (ids) => {
    const documents = await findByIds(members, ids)
      .batchSize(ids.length + 1)
      .toArray();
    return new Map(documents.map((found) => [found._id, versionedRecord(found).record]));
  });
  const byKey = batchLoad(async (keys) => {
    const documents = await findByKeys(members, keys)
      .batchSize(keys.length + 1)
      .toArray();
    return new Map(
      documents.flatMap((found) => {
        const { record } = versionedRecord(found);
        return found.keys.map((key): [string, MemberRecord] => [key, record]);
      }),
    );
  });

  const find = async (partnerId: string, key: MemberKey): Promise<PartnerMember | undefined> => {
    const { by, value } = key;
    const record = await (by === 'memberId' ? byId(value) : byKey(storedKey(partnerId, key)));
    const member = record && partnerMember(record, partnerId);
    // Of another partner, a record found by ID shows nothing.
    return member?.enrollment === undefined ? undefined : member;
  };
  return (partnerId: string, keys: readonly MemberKey[]) =>
    Promise.all(keys.map((key) => find(partnerId, key)));
}

function storedKey(partnerId: string, { by, value }: MemberKey): string {
  return by === 'email' ? enrolledKey(partnerId, value) : externalKey(partnerId, value);
}
