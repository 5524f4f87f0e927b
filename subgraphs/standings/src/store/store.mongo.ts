// The standings store on MongoDB, which needs no transactions.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { batchLoad } from '@partner-loyalty/runtime/eventloop/batchload.ts';
import {
  type MongoMarks,
  openMongoMarks,
} from '@partner-loyalty/runtime/store/marks/marks.mongo.ts';
import { type Mongo, openMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { walk } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { mongoTables } from '@partner-loyalty/runtime/store/table.mongo.ts';
import type { Activity } from '../rules/activity.ts';
import { programChanged } from '../rules/event.ts';
import { DEFAULT_PROGRAM, isSameProgram, type Program } from '../rules/program.ts';
import type { Standing } from '../rules/standing.ts';
import { type Collections, openCollections } from './collections.mongo.ts';
import { eraseEvents, openMongoFeed } from './feed.mongo.ts';
import { deleteAll, latestActivitiesOf, standingsOf } from './member.mongo.ts';
import { mergeCalls } from './mergecalls.ts';
import { createMongoMerges, mergedAmong, mergedInto, withdrawClaims } from './merges.mongo.ts';
import { pushed } from './outbox.mongo.ts';
import { cachePrograms } from './programs.ts';
import {
  activityIdOf,
  memberActivities,
  programsQuery,
  standingId,
  sumsQuery,
} from './queries.mongo.ts';
import { recordBatch, type SentActivity } from './record.mongo.ts';
import type { RecordOutcome, StandingsStore } from './store.ts';
import { openWebhookTables } from './webhooks.ts';

const BATCH_SIZE = 500;

/**
 * Opens the store in the URL's database. Rejects if the server is unreachable or the store belongs
 * to the other environment.
 */
export function openMongoStandingsStore(
  url: string,
  environment: Environment,
): Promise<StandingsStore> {
  return openMongo(url, 'standings', environment, async (mongo) => {
    const marks = await openMongoMarks(mongo.db, 'standingMarks');
    return createMongoStandingsStore(await openCollections(mongo.db), marks, mongo);
  });
}

async function createMongoStandingsStore(
  collections: Collections,
  marks: MongoMarks,
  mongo: Mongo,
): Promise<StandingsStore> {
  const { activities, programs, changedPrograms, sums } = collections;
  const loadStanding = batchLoad(async (ids) => {
    const found = await sumsQuery(collections, ids).toArray();
    return new Map(
      found.map(({ _id, points, stays }): [string, Standing] => [_id, { points, stays }]),
    );
  });
  const loadProgram = batchLoad(async (ids) => {
    const found = await programsQuery(collections, ids).toArray();
    return new Map(
      found.map(({ _id, outbox: _, pendingAt: __, ...program }): [string, Program] => [
        _id,
        program,
      ]),
    );
  });
  const loadMerged = batchLoad((ids) => mergedInto(collections, ids));
  const programCache = cachePrograms(loadProgram);
  const feed = await openMongoFeed(mongo.db, { collections, marks, program: programCache.get });
  // One of two writers of a standing at once would have to start over.
  const recordMerged = mergeCalls(
    (batch: readonly SentActivity[]) => recordBatch({ collections, marks }, batch),
    standingId,
    BATCH_SIZE,
  );

  return {
    program: programCache.get,
    async putProgram(partnerId, { membershipYear, tiers, tierValidity }) {
      const program = { membershipYear, tiers, tierValidity };
      await programs.replaceOne({ _id: partnerId }, program, { upsert: true });
      programCache.forget(partnerId);
    },
    async changeProgram(partnerId, program) {
      const before = await programsQuery({ programs: changedPrograms }, [partnerId]).next();
      const { _id, outbox, pendingAt, ...rest } = before ?? { _id: partnerId, ...DEFAULT_PROGRAM };
      if (isSameProgram(rest, program)) return;
      const gone = Object.keys(rest).filter((key) => !(key in program));
      const $unset = gone.length > 0 && Object.fromEntries(gone.map((key) => [key, ''] as const));
      await changedPrograms.updateOne(
        { _id },
        {
          $set: program,
          ...($unset && { $unset }),
          ...pushed([programChanged(partnerId, Date.now())]),
        },
        { upsert: true },
      );
      programCache.forget(partnerId);
    },
    standing: (partnerId, memberId, year) =>
      loadStanding(standingId({ partnerId, memberId, year })),
    async record(sent, merged) {
      const memberIds = new Set(sent.map(({ memberId }) => memberId));
      const into = merged ?? (await mergedAmong(collections, memberIds));
      const all = sent.map((one): SentActivity => {
        const memberId = into.get(one.memberId);
        return memberId === undefined ? one : { ...one, memberId, sentFor: one.memberId };
      });
      const outcomes: RecordOutcome[] = [];
      for (let from = 0; from < all.length; from += BATCH_SIZE) {
        outcomes.push(...(await recordMerged(all.slice(from, from + BATCH_SIZE))));
      }
      return outcomes;
    },
    async latestActivities(partnerId, memberId, ...query) {
      const [others, own] = await Promise.all([
        loadMerged(memberId),
        latestActivitiesOf(collections, partnerId, [memberId], ...query),
      ]);
      if (others === undefined) return own;
      return latestActivitiesOf(collections, partnerId, [memberId, ...others], ...query);
    },
    async *activitiesOf(memberId) {
      const others = (await mergedInto(collections, [memberId])).get(memberId) ?? [];
      for (const id of [memberId, ...others]) yield* activitiesOf(collections, marks, id);
    },
    standingsOf: (memberId) => standingsOf(collections, memberId),
    async eraseMember(memberId) {
      await marks.add(memberId, new Date());
      await withdrawClaims(collections, memberId);
      const deleted = await deleteAll(collections, memberId);
      await eraseEvents(collections, memberId);
      return deleted;
    },
    liftMark: (memberId) => marks.remove(memberId),
    async hasStandings(partnerId) {
      const ofPartner = { $gte: `${partnerId}\0`, $lt: `${partnerId}\u0001` };
      return (await sums.findOne({ _id: ofPartner }, { projection: { _id: 1 } })) !== null;
    },
    async isEmpty() {
      const idOnly = { projection: { _id: 1 } };
      return (
        (await programs.findOne({}, idOnly)) === null &&
        (await activities.findOne({}, idOnly)) === null
      );
    },
    merges: createMongoMerges(collections, marks),
    feed,
    webhooks: await openWebhookTables(mongoTables(mongo.db)),
    ready: mongo.ready,
    close: mongo.close,
  };
}

/**
 * Yields what counts. What an earlier process left pending is decided now, since it may be counted
 * already, and would be when its import is repeated.
 */
async function* activitiesOf(
  collections: Collections,
  marks: MongoMarks,
  memberId: string,
): AsyncGenerator<Activity> {
  const documents = walk(collections.activities, memberActivities(memberId));
  for await (const { _id, pending, year, ...content } of documents) {
    const activity = { activityId: activityIdOf(_id), ...content };
    if (pending !== undefined) {
      const [outcome] = await recordBatch({ collections, marks }, [{ ...activity, year }]);
      if (outcome !== 'recorded' && outcome !== 'already-recorded') continue;
    }
    yield activity;
  }
}
