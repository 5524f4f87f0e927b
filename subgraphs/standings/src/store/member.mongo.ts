// What MongoDB has of one member: found by an index, and deleted in batches of bounded size.
import { onePage } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { Collection, Filter } from 'mongodb';
import type { Activity } from '../rules/activity.ts';
import type { MemberStanding } from '../rules/standing.ts';
import type { ActivityDocument, Collections, StoredPending } from './collections.mongo.ts';
import { copyOut } from './outbox.mongo.ts';
import {
  activityIdOf,
  latestActivitiesQueries,
  memberStandingsQuery,
  standingOf,
} from './queries.mongo.ts';
import type { Before } from './store.ts';

type Written = Pick<Collections, 'standings' | 'activities' | 'outbox'>;

const BATCH_SIZE = 1_000;

/**
 * The newest activities with a partner of the member with these IDs, newest first, from below
 * `before`.
 */
export async function latestActivitiesOf(
  collections: Pick<Collections, 'activities'>,
  partnerId: string,
  memberIds: readonly string[],
  limit: number,
  before?: Before,
): Promise<Activity[]> {
  const queries = memberIds.flatMap((memberId) =>
    latestActivitiesQueries(collections, partnerId, memberId, limit, before),
  );
  const found = (await Promise.all(queries.map((query) => query.toArray()))).flat();
  if (memberIds.length > 1) found.sort(newestFirst);
  return found
    .slice(0, limit)
    .map(({ _id, year: _year, ...content }) => ({ activityId: activityIdOf(_id), ...content }));
}

/** The order of the index. */
function newestFirst(one: ActivityDocument, other: ActivityDocument): number {
  const later = other.occurredAt.getTime() - one.occurredAt.getTime();
  return later || Buffer.compare(Buffer.from(other._id), Buffer.from(one._id));
}

export async function standingsOf(
  collections: Pick<Written, 'standings'>,
  memberId: string,
): Promise<MemberStanding[]> {
  const found = await memberStandingsQuery(collections, memberId).toArray();
  return found.map(({ _id, points, stays }) => {
    const { partnerId, year } = standingOf(_id);
    return { partnerId, year, points, stays };
  });
}

/**
 * Deletes everything of a member who has a mark, and returns the number of activities. The
 * standings come first: then nothing that is still being recorded can be counted.
 */
export async function deleteAll(collections: Written, memberId: string): Promise<number> {
  await deleteStandings(collections, memberId);
  const deleted = await deleteOf(collections.activities, memberId);
  // Another process may have created one just before it saw the mark.
  await deleteStandings(collections, memberId);
  return deleted;
}

/** Their events stay; of an erased member, without the IDs of the activities. */
export async function deleteStandings(
  collections: Pick<Written, 'standings' | 'outbox'>,
  memberId: string,
  kept: (event: StoredPending) => StoredPending = ({ activityId, ...event }) => event,
): Promise<void> {
  const { standings } = collections;
  for (;;) {
    const projection = { memberId: 1, version: 1, outbox: 1, pendingAt: 1 } as const;
    const options = { projection, ...onePage(BATCH_SIZE) } as const;
    const found = await standings.find({ memberId }, options).toArray();
    if (found.length === 0) return;
    await copyOut(
      collections,
      found.map(({ outbox = [], ...one }) => ({ ...one, outbox: outbox.map(kept) })),
    );
    // One that was changed meanwhile may have another event.
    await standings.deleteMany({
      _id: { $in: found.map(({ _id }) => _id) },
      version: { $in: found.map(({ version }) => version) },
    });
  }
}

async function deleteOf<T extends { _id: string; memberId: string }>(
  collection: Collection<T>,
  memberId: string,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    // Cast: TypeScript cannot tell that T has the field.
    const ofMember = { memberId } as Filter<T>;
    const options = { projection: { _id: 1 }, ...onePage(BATCH_SIZE) } as const;
    const found = await collection.find(ofMember, options).toArray();
    if (found.length === 0) return deleted;
    const some = { _id: { $in: found.map(({ _id }) => _id) }, memberId } as unknown as Filter<T>;
    deleted += (await collection.deleteMany(some)).deletedCount;
  }
}
