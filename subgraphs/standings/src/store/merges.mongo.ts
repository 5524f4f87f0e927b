// The merging of members on MongoDB: standings that are closed, and added to those of another one.
import type { MongoMarks } from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { retryOnConflict } from '@partner-loyalty/runtime/store/mongo.ts';
import { oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { ObjectId } from 'mongodb';
import { addStandings, joinStandings } from '../rules/standing.ts';
import type { Collections, StandingDocument } from './collections.mongo.ts';
import { deleteAll, deleteStandings, standingsOf } from './member.mongo.ts';
import { standingId } from './queries.mongo.ts';
import { carryOut, createStandings, decidedBy } from './steps.mongo.ts';
import type { MergeRefusal, Merges } from './store.ts';

type Written = Pick<Collections, 'standings' | 'activities' | 'outbox' | 'merges'>;

export function createMongoMerges(collections: Written, marks: MongoMarks): Merges {
  const { merges } = collections;
  return {
    async begin(from, into) {
      const markedOf = () => marks.among([from, into]);
      const refusal = await begin(collections, markedOf, { from, into });
      const marked = await markedOf();
      // An erasure may have deleted before the last sum was added.
      for (const memberId of marked) await deleteAll(collections, memberId);
      return marked.size > 0 ? 'erased' : refusal;
    },
    finish: (from) => deleteStandings(collections, from, (event) => event),
    currentIds: (memberIds) => mergedAmong(collections, memberIds),
    async idsOf(memberId) {
      const current = (await merges.findOne({ _id: memberId }))?.into ?? memberId;
      const others = await mergedInto(collections, [current]);
      return [current, ...(others.get(current) ?? [])];
    },
    async forget(memberIds) {
      const any = { $in: [...memberIds] };
      await merges.deleteMany({ $or: [{ _id: any }, { claims: any }] });
    },
  };
}

/** By the ID of each of the members that was merged, the ID of the one that it is part of now. */
export async function mergedAmong(
  { merges }: Pick<Written, 'merges'>,
  memberIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...memberIds];
  if (ids.length === 0) return new Map();
  const found = merges.find({ _id: { $in: ids } }, oneResponse(ids.length));
  return new Map(
    (await found.toArray()).flatMap(({ _id, into }) => (into === undefined ? [] : [[_id, into]])),
  );
}

/** By member, those who were merged into them. */
export async function mergedInto(
  { merges }: Pick<Written, 'merges'>,
  memberIds: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const { _id, into = '' } of merges.find({ into: { $in: [...memberIds] } }))
    found.set(into, [...(found.get(into) ?? []), _id]);
  return found;
}

type Pair = { from: string; into: string };

async function begin(
  collections: Written,
  markedOf: () => Promise<ReadonlySet<string>>,
  pair: Pair,
): Promise<MergeRefusal | undefined> {
  const { from, into } = pair;
  const refusal = await claim(collections, markedOf, pair);
  if (refusal !== undefined) return refusal;
  for (const { partnerId, year } of await standingsOf(collections, from)) {
    const [own, theirs] = [
      { partnerId, memberId: into, year },
      { partnerId, memberId: from, year },
    ];
    const closed = await closeStanding(collections, standingId(theirs));
    const kept = { _id: standingId(own), memberId: into };
    if (closed) await retryOnConflict(() => addClosed(collections, closed, kept));
  }
  return undefined;
}

/**
 * Takes away the claims on a member whose mark is set. Whoever claims the member later sees the
 * mark, so that every merge that begins has begun by now.
 */
export async function withdrawClaims({ merges }: Pick<Written, 'merges'>, memberId: string) {
  const either = [{ _id: memberId }, { claims: memberId }];
  await merges.deleteMany({ $or: either, into: { $exists: false } });
}

/**
 * Says first that the two are to be merged, and looks for other merges and for marks then: of
 * merges that share a member, one at least sees the other.
 */
async function claim(
  collections: Written,
  markedOf: () => Promise<ReadonlySet<string>>,
  { from, into }: Pair,
): Promise<MergeRefusal | undefined> {
  const { merges } = collections;
  await merges.updateOne({ _id: from }, { $setOnInsert: { claims: into } }, { upsert: true });
  const own = await merges.findOne({ _id: from });
  if (own?.claims !== into) return 'shared';
  if (own.into !== undefined) return undefined;
  const isShared = (await merges.findOne({ $or: [{ _id: into }, { claims: from }] })) !== null;
  const sums = await Promise.all([into, from].map((id) => standingsOf(collections, id)));
  const fits = joinStandings(sums.flat()) !== undefined;
  const isErased = (await markedOf()).size > 0;
  const refusal = isErased ? 'erased' : isShared ? 'shared' : fits ? undefined : 'out-of-range';
  if (refusal !== undefined) {
    await merges.deleteOne({ _id: from, claims: into, into: { $exists: false } });
    return refusal;
  }
  // What is recorded for the member after this write counts for the other one. Whoever has looked
  // here before has created the standing already, so that it is among those that are closed now.
  const begun = await merges.updateOne({ _id: from, claims: into }, { $set: { into } });
  return begun.matchedCount === 1 ? undefined : 'shared';
}

/**
 * Makes sure that no more activities are counted by a standing of a member who was merged. Those
 * that are pending then are not in its sums. Null if there is no such standing.
 */
export function closeStanding(collections: Written, _id: string): Promise<StandingDocument | null> {
  const { standings } = collections;
  return retryOnConflict(async () => {
    const standing = await standings.findOne({ _id });
    if (standing === null || standing.isClosed) return standing;
    await carryOut(collections, decidedBy(standing, standing.recent));
    const { version } = standing;
    const closed = { version: new ObjectId(), recent: [], isClosed: true as const };
    await standings.updateOne({ _id, version }, { $set: closed });
    return undefined;
  });
}

/** Adds the sums of a closed standing to those of another member, once. */
async function addClosed(
  collections: Written,
  closed: StandingDocument,
  into: Pick<StandingDocument, '_id' | 'memberId'>,
): Promise<true | undefined> {
  const { standings } = collections;
  const { memberId: from } = closed;
  const { _id } = into;
  const own = await standings.findOne({ _id });
  if (own === null) {
    await createStandings(collections, [into]);
    return undefined;
  }
  if (own.added?.includes(from)) return true;
  const sum = addStandings(own, closed);
  if (sum === undefined)
    throw new Error('points recorded meanwhile take a year out of the range of Int');
  await carryOut(collections, decidedBy(own, own.recent));
  await standings.updateOne(
    { _id, version: own.version },
    { $set: { ...sum, version: new ObjectId(), recent: [] }, $push: { added: from } },
  );
  return undefined;
}
