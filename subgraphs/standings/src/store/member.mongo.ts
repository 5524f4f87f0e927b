// What MongoDB has of one member: found by an index, and deleted in batches of bounded size.
import type { Collection, Filter } from 'mongodb';
import type { ActivityDocument, Collections } from './collections.mongo.ts';
import { memberActivitiesQuery, memberStandingsQuery } from './queries.mongo.ts';
import type { MemberStanding } from './store.ts';

type Written = Pick<Collections, 'standings' | 'activities'>;

const BATCH_SIZE = 1_000;

/** The member's activities, by partner and in the order of time, pending ones too. */
export async function* documentsOf(
  collections: Written,
  memberId: string,
): AsyncGenerator<ActivityDocument> {
  let last: ActivityDocument | undefined;
  do {
    const page = await memberActivitiesQuery(collections, memberId, BATCH_SIZE, last).toArray();
    yield* page;
    last = page.length === BATCH_SIZE ? page.at(-1) : undefined;
  } while (last !== undefined);
}

export async function standingsOf(
  collections: Written,
  memberId: string,
): Promise<MemberStanding[]> {
  const found = await memberStandingsQuery(collections, memberId).toArray();
  return found.map(({ _id, points, stays }) => {
    const [partnerId = '', , year = ''] = _id.split('\0');
    return { partnerId, year, points, stays };
  });
}

/**
 * Deletes everything of a member who has a mark, and returns the number of activities. The
 * standings come first: then nothing that is still being recorded can be counted.
 */
export async function deleteAll(
  { standings, activities }: Written,
  memberId: string,
): Promise<number> {
  await deleteOf(standings, memberId);
  const deleted = await deleteOf(activities, memberId);
  // Another process may have created one just before it saw the mark.
  await deleteOf(standings, memberId);
  return deleted;
}

async function deleteOf<T extends { _id: string; memberId: string }>(
  collection: Collection<T>,
  memberId: string,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    // Cast: TypeScript cannot tell that T has the field.
    const ofMember = { memberId } as Filter<T>;
    const limits = { limit: BATCH_SIZE, batchSize: BATCH_SIZE + 1 };
    const options = { projection: { _id: 1 }, ...limits } as const;
    const found = await collection.find(ofMember, options).toArray();
    if (found.length === 0) return deleted;
    const some = { _id: { $in: found.map(({ _id }) => _id) }, memberId } as unknown as Filter<T>;
    deleted += (await collection.deleteMany(some)).deletedCount;
  }
}
