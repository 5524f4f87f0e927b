// The lists of partners on MongoDB: their pages, and the places of members stored without.
import { onePage, pages } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Db, Filter } from 'mongodb';
import { partnerMember } from '../rules/enrollment.ts';
import type { ListEntry, ListQuery } from '../rules/list.ts';
import {
  fieldOf,
  listedOf,
  type MemberDocument,
  type MembersCollection,
  placeOf,
  timeOf,
} from './documents.mongo.ts';
import { MEMBER, memberOf } from './lookup.mongo.ts';

/** Reads from the primary: what is committed must show. */
export async function listMembers(
  members: MembersCollection,
  { partnerId, status, after, until, limit }: ListQuery,
): Promise<ListEntry[]> {
  const field = `listed.${status}.${fieldOf(partnerId)}`;
  const range = { $gt: placeOf(after), $lt: placeOf({ updatedAt: until, memberId: '' }) };
  // Cast: the type of a filter knows no fields whose names are computed.
  const filter = { [field]: range } as Filter<MemberDocument>;
  const documents = await members
    .find(filter, {
      sort: { [field]: 1 },
      projection: { ...MEMBER, [field]: 1 },
      readPreference: 'primary',
      ...onePage(limit),
    })
    .toArray();
  return documents.map((document) => {
    const place = document.listed?.[status]?.[fieldOf(partnerId)] ?? '';
    const updatedAt = timeOf(place);
    return {
      partnerId,
      status,
      updatedAt,
      memberId: document._id,
      member: partnerMember(memberOf(document), partnerId),
    };
  });
}

/** In `owners`, says that each document has its places. */
const BUILT = 'listed';

/** Adds the places to documents of a version that had none. It can be killed and repeated. */
export async function buildLists(
  db: Db,
  members: MembersCollection,
  onProgress: (members: number, total: number) => void,
): Promise<void> {
  const owners = db.collection<{ _id: string; [BUILT]?: true }>('owners');
  if ((await owners.findOne({ _id: 'members' }))?.[BUILT]) return;
  const total = await members.estimatedDocumentCount();
  let built = 0;
  for await (const page of pages(members)) {
    // Another write that comes first adds them itself. A tombstone has no enrollments.
    await members.bulkWrite(
      page.map(({ _id, version, enrollments = [] }) => ({
        updateOne: {
          filter: { _id, version },
          update: { $set: { listed: listedOf({ memberId: _id, enrollments }) } },
        },
      })),
      { ordered: false },
    );
    built += page.length;
    onProgress(built, total);
  }
  await owners.updateOne({ _id: 'members' }, { $set: { [BUILT]: true } });
}
