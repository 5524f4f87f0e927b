// The standings store on MongoDB, which needs no transactions.
import { batchLoad, type Environment } from '@partner-loyalty/runtime';
import { type Mongo, openMongo } from '@partner-loyalty/runtime/mongo';
import { type MongoMarks, openMongoMarks } from '@partner-loyalty/runtime/mongo-marks';
import type { DatedActivity } from '../rules/activity.ts';
import type { Program } from '../rules/program.ts';
import type { Standing } from '../rules/standing.ts';
import { type Collections, openCollections } from './collections.mongo.ts';
import { activitiesOf, deleteAll, standingsOf } from './member.mongo.ts';
import { cachePrograms } from './programs.ts';
import { programsQuery, standingId, sumsQuery } from './queries.mongo.ts';
import { recordBatch } from './record.mongo.ts';
import type { RecordOutcome, StandingsStore } from './store.ts';

const BATCH_SIZE = 500;

/**
 * Opens the store in the URL's database. Rejects if the server is unreachable or the store belongs
 * to the other environment.
 */
export async function openMongoStandingsStore(
  url: string,
  environment: Environment,
): Promise<StandingsStore> {
  const mongo = await openMongo(url, 'standings', environment);
  try {
    const marks = await openMongoMarks(mongo.db, 'standingMarks');
    return createMongoStandingsStore(await openCollections(mongo.db), marks, mongo);
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

function createMongoStandingsStore(
  collections: Collections,
  marks: MongoMarks,
  mongo: Mongo,
): StandingsStore {
  const { standings, programs } = collections;
  const loadStanding = batchLoad(async (ids) => {
    const found = await sumsQuery(collections, ids).toArray();
    return new Map(
      found.map(({ _id, points, stays }): [string, Standing] => [_id, { points, stays }]),
    );
  });
  const loadProgram = batchLoad(async (ids) => {
    const found = await programsQuery(collections, ids).toArray();
    return new Map(found.map(({ _id, ...program }): [string, Program] => [_id, program]));
  });
  const programCache = cachePrograms(loadProgram);

  return {
    program: programCache.get,
    async putProgram(partnerId, { membershipYear, tiers }) {
      await programs.replaceOne({ _id: partnerId }, { membershipYear, tiers }, { upsert: true });
      programCache.forget(partnerId);
    },
    standing: (partnerId, memberId, year) => loadStanding(standingId(partnerId, memberId, year)),
    async record(activities) {
      const outcomes: RecordOutcome[] = [];
      for (let from = 0; from < activities.length; from += BATCH_SIZE) {
        const batch = activities.slice(from, from + BATCH_SIZE);
        outcomes.push(...(await recordUnlessErased(collections, marks, batch)));
      }
      return outcomes;
    },
    activitiesOf: (memberId) => activitiesOf(collections, memberId),
    standingsOf: (memberId) => standingsOf(collections, memberId),
    async eraseMember(memberId) {
      await marks.add(memberId, new Date());
      return deleteAll(collections, memberId);
    },
    liftMark: (memberId) => marks.remove(memberId),
    async hasStandings(partnerId) {
      const ofPartner = { $gte: standingId(partnerId, '', ''), $lt: `${partnerId}\u0001` };
      return (await standings.findOne({ _id: ofPartner }, { projection: { _id: 1 } })) !== null;
    },
    async isEmpty() {
      const idOnly = { projection: { _id: 1 } };
      return (
        (await programs.findOne({}, idOnly)) === null &&
        (await standings.findOne({}, idOnly)) === null
      );
    },
    ready: mongo.ready,
    close: mongo.close,
  };
}

/**
 * Looks for marks before and after: a member who is erased in between loses what was just recorded.
 */
async function recordUnlessErased(
  collections: Collections,
  marks: MongoMarks,
  batch: readonly DatedActivity[],
): Promise<RecordOutcome[]> {
  const before = await marks.among(membersOf(batch));
  const kept = batch.filter(({ memberId }) => !before.has(memberId));
  const recorded = (await recordBatch(collections, kept)).values();
  const after = await marks.among(membersOf(kept));
  for (const memberId of after) await deleteAll(collections, memberId);
  return batch.map(({ memberId }): RecordOutcome => {
    if (before.has(memberId)) return 'erased';
    const outcome = recorded.next().value ?? 'erased';
    return after.has(memberId) ? 'erased' : outcome;
  });
}

function membersOf(batch: readonly DatedActivity[]): Set<string> {
  return new Set(batch.map(({ memberId }) => memberId));
}
