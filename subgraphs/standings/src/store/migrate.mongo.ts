// Migrates the standings store on MongoDB from format 1, which kept activities in the standing.
import type { MongoMigration } from '@partner-loyalty/runtime';
import { DUPLICATE_KEY, setValidator } from '@partner-loyalty/runtime/mongo';
import { countAll, oneReply } from '@partner-loyalty/runtime/mongo-reads';
import { type Collection, type Db, MongoBulkWriteError, MongoServerError, ObjectId } from 'mongodb';
import { isSameActivity } from '../rules/activity.ts';
import {
  type ActivityDocument,
  openCollections,
  SCHEMAS,
  type StandingDocument,
  strictCollections,
} from './collections.mongo.ts';

/** A standing of format 1. */
type OldStanding = Omit<StandingDocument, 'memberId' | 'version' | 'recent'> & {
  activities: { id: string; points: number; stays: number; occurredAt: Date }[];
};

const PAGE = 1_000;
/** How many activities are read and written at once, unless one standing has more. */
const MAX_ACTIVITIES = 5_000;
const CHUNK = 1_000;
const OLD_INDEX = 'activities.id_1';
const INDEX_NOT_FOUND = 27;
const OLD = { activities: { $exists: true } } as const;

export const MIGRATION: MongoMigration = {
  count: (db) => countAll(oldStandings(db), OLD),
  run: migrate,
};

/** The standings as a process of format 1 sees them. */
function oldStandings(db: Db): Collection<OldStanding> {
  return strictCollections(db).standings as unknown as Collection<OldStanding>;
}

async function migrate(db: Db, onProgress: (records: number) => void): Promise<void> {
  await forbidOldWrites(db);
  await openCollections(db);
  const standings = oldStandings(db);
  let records = 0;
  for (let last = ''; ; ) {
    const page = await pageOf(standings, last);
    if (page.length === 0) break;
    for (const ids of portionsOf(page)) {
      // A process of format 1 that was just starting may have put its own validator back.
      await forbidOldWrites(db);
      await migrateSome(db, standings, ids);
      records += ids.length;
      onProgress(records);
    }
    last = page.at(-1)?._id ?? '';
  }
  const left = await countAll(standings, OLD);
  if (left > 0) throw new Error(`${left} standings changed meanwhile; migrate again`);
}

/**
 * From here on, whatever a process of format 1 records is refused: its update adds an activity to
 * the array. Its unique index would allow only one standing without the array.
 */
async function forbidOldWrites(db: Db): Promise<void> {
  await setValidator(db, 'standings', SCHEMAS.standings);
  const standings = db.collection('standings');
  const indexes = await standings.indexes();
  if (!indexes.some(({ name }) => name === OLD_INDEX)) return;
  await standings.dropIndex(OLD_INDEX).catch((error) => {
    if (!(error instanceof MongoServerError && error.code === INDEX_NOT_FOUND)) throw error;
  });
}

/** The next standings of format 1, and how many activities each contains. */
function pageOf(standings: Collection<OldStanding>, after: string) {
  return standings
    .aggregate<{ _id: string; size: number }>(
      [
        { $match: { _id: { $gt: after }, ...OLD } },
        { $sort: { _id: 1 } },
        { $limit: PAGE },
        { $project: { size: { $size: '$activities' } } },
      ],
      oneReply(PAGE),
    )
    .toArray();
}

/** Portions of a page that fit into memory. */
function portionsOf(page: readonly { _id: string; size: number }[]): string[][] {
  const portions: string[][] = [];
  let activities = Number.POSITIVE_INFINITY;
  for (const { _id, size } of page) {
    if (activities + size > MAX_ACTIVITIES) {
      portions.push([]);
      activities = 0;
    }
    portions.at(-1)?.push(_id);
    activities += size;
  }
  return portions;
}

/** The activities are inserted before the arrays are removed, so that a kill loses none. */
async function migrateSome(
  db: Db,
  standings: Collection<OldStanding>,
  ids: string[],
): Promise<void> {
  const filter = { _id: { $in: ids }, ...OLD };
  const found = await standings.find(filter, oneReply(ids.length)).toArray();
  const activities = found.flatMap(activitiesOf);
  for (let from = 0; from < activities.length; from += CHUNK)
    await insert(strictCollections(db).activities, activities.slice(from, from + CHUNK));
  if (found.length === 0) return;
  await standings.bulkWrite(
    found.map(({ _id, activities }) => ({
      updateOne: {
        filter: { _id, activities: { $size: activities.length } },
        update: {
          $unset: { activities: '' },
          $set: { memberId: memberOf(_id), version: new ObjectId(), recent: [] },
        },
      },
    })),
    { ordered: false },
  );
}

function activitiesOf({ _id, activities }: OldStanding): ActivityDocument[] {
  const [partnerId = '', memberId = '', year = ''] = _id.split('\0');
  return activities.map(({ id, points, stays, occurredAt }) => {
    return { _id: id, partnerId, memberId, year, points, stays, occurredAt };
  });
}

function memberOf(standingId: string): string {
  return standingId.split('\0')[1] ?? '';
}

/** Inserts those that an earlier run has not inserted. */
async function insert(
  collection: Collection<ActivityDocument>,
  activities: ActivityDocument[],
): Promise<void> {
  try {
    await collection.insertMany(activities, { ordered: false });
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    if (failures.length === 0 || failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    for (const { index } of failures) await checkInserted(collection, activities[index]);
  }
}

async function checkInserted(
  collection: Collection<ActivityDocument>,
  activity: ActivityDocument | undefined,
): Promise<void> {
  const found = activity && (await collection.findOne({ _id: activity._id }));
  if (activity && !(found && found.year === activity.year && isSameActivity(found, activity)))
    throw new Error(`the ID ${activity._id} is that of two activities`);
}
