// The standings store on MongoDB: every activity is counted by one guarded write, so that no transaction is needed.
import { batchLoad, type Environment, type Mongo, openMongo } from '@partner-loyalty/runtime';
import {
  type Collections,
  openCollections,
  programsQuery,
  standingId,
  sumsQuery,
} from './documents.mongo.ts';
import { keepPrograms } from './programs.ts';
import { recordSome } from './record.mongo.ts';
import type { Program, Recorded, Standing, StandingsStore } from './store.ts';

const RECORDED_AT_ONCE = 500;

/** Opens the store in the URL's database. Throws where the server cannot be reached or the store belongs to the other environment. */
export async function openMongoStandingsStore(
  url: string,
  environment: Environment,
): Promise<StandingsStore> {
  const mongo = await openMongo(url, 'standings', environment);
  try {
    return createMongoStandingsStore(await openCollections(mongo.db), mongo);
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

function createMongoStandingsStore(collections: Collections, mongo: Mongo): StandingsStore {
  const { standings, programs } = collections;
  const sums = batchLoad(
    async (ids) =>
      new Map(
        (await sumsQuery(collections, ids).toArray()).map((found) => [found._id, sumsOf(found)]),
      ),
  );
  const program = batchLoad(async (ids) => {
    const found = await programsQuery(collections, ids).toArray();
    return new Map(found.map(({ _id, ...rest }): [string, Program] => [_id, rest]));
  });
  const kept = keepPrograms(program);

  return {
    program: kept.get,
    async putProgram(partnerId, { membershipYear, tiers }) {
      await programs.replaceOne({ _id: partnerId }, { membershipYear, tiers }, { upsert: true });
      kept.forget(partnerId);
    },
    standing: (partnerId, memberId, year) => sums(standingId(partnerId, memberId, year)),
    async record(activities) {
      const outcomes: Recorded[] = [];
      for (let from = 0; from < activities.length; from += RECORDED_AT_ONCE) {
        outcomes.push(
          ...(await recordSome(collections, activities.slice(from, from + RECORDED_AT_ONCE))),
        );
      }
      return outcomes;
    },
    async isEmpty() {
      const first = { projection: { _id: 1 } };
      return (
        (await programs.findOne({}, first)) === null &&
        (await standings.findOne({}, first)) === null
      );
    },
    ready: mongo.ready,
    close: mongo.close,
  };
}

function sumsOf({ points, stays }: Standing): Standing {
  return { points, stays };
}
