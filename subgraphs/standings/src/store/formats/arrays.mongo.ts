// Takes activities out of the standings of format 1, which kept them in an array.
import { setValidator, WRITE_CONFLICT } from '@partner-loyalty/runtime/store/mongo.ts';
import {
  both,
  countAll,
  oneReply,
  ranges,
} from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { type Collection, type Db, type Filter, MongoServerError, ObjectId } from 'mongodb';
import {
  type ActivityDocument,
  openCollections,
  SCHEMAS,
  type StandingDocument,
  strictCollections,
} from '../collections.mongo.ts';
import { activityKey } from '../queries.mongo.ts';
import { failuresOf } from '../steps.mongo.ts';
import { fromAnywhere, insertOnce } from './insert.mongo.ts';

/** A standing of format 1. */
type OldStanding = Omit<StandingDocument, 'memberId' | 'version' | 'recent'> & {
  activities: { id: string; points: number; stays: number; occurredAt: Date }[];
};

const PAGE = 10_000;
/** How many activities are read and written at once, unless one standing has more. */
const MAX_ACTIVITIES = 5_000;
const CHUNK = 1_000;
/** How often all is gone through, if standings were changed by others or two writes collided. */
const PASSES = 3;
const OLD_INDEX = 'activities.id_1';
const INDEX_NOT_FOUND = 27;
const OLD = { activities: { $exists: true } } as const;

export function countArrays(db: Db): Promise<number> {
  return countAll(oldStandings(db), OLD);
}

/** The standings as a process of format 1 sees them. */
function oldStandings(db: Db): Collection<OldStanding> {
  return strictCollections(db).standings as unknown as Collection<OldStanding>;
}

/** Closes the store to processes of format 1 first. */
export async function migrateArrays(db: Db, onProgress: (records: number) => void): Promise<void> {
  await forbidOldWrites(db);
  await openCollections(db);
  const standings = oldStandings(db);
  for (let pass = 1; ; pass += 1) {
    await migrateAll(db, standings, onProgress);
    const left = await countAll(standings, OLD);
    if (left === 0) return;
    if (pass === PASSES) throw new Error(`${left} standings changed meanwhile; migrate again`);
  }
}

async function migrateAll(
  db: Db,
  standings: Collection<OldStanding>,
  onProgress: (records: number) => void,
): Promise<void> {
  let records = 0;
  for await (const range of ranges(standings, PAGE))
    for (const ids of fromAnywhere(portionsOf(await pageOf(standings, range)))) {
      // A process of format 1 that was just starting may have put its own validator back.
      await forbidOldWrites(db);
      await migrateSome(db, standings, ids);
      records += ids.length;
      onProgress(records);
    }
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

/** The standings of format 1 in a range, and how many activities each contains. */
function pageOf(standings: Collection<OldStanding>, range: Filter<OldStanding>) {
  return standings
    .aggregate<{ _id: string; size: number }>(
      [
        { $match: both(range, OLD) },
        { $sort: { _id: 1 } },
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
    await insertOnce(strictCollections(db), activities.slice(from, from + CHUNK));
  if (found.length === 0) return;
  const updates = found.map(({ _id, activities }) => ({
    updateOne: {
      filter: { _id, activities: { $size: activities.length } },
      update: {
        $unset: { activities: '' as const },
        $set: { memberId: memberOf(_id), version: new ObjectId(), recent: [] },
      },
    },
  }));
  await failuresOf(() => standings.bulkWrite(updates, { ordered: false }), [WRITE_CONFLICT]);
}

function activitiesOf({ _id, activities }: OldStanding): ActivityDocument[] {
  const [partnerId = '', memberId = '', year = ''] = _id.split('\0');
  return activities.map(({ id, points, stays, occurredAt }) => {
    const _id = activityKey({ partnerId, activityId: id });
    return { _id, partnerId, memberId, year, points, stays, occurredAt };
  });
}

function memberOf(standingId: string): string {
  return standingId.split('\0')[1] ?? '';
}
