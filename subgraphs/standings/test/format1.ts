// Standings stores as format 1 had them, for tests of the migration.
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import type { DatedActivity } from '../src/index.ts';
import { openTables } from '../src/store/tables.lmdb.ts';
import { type Place, withDatabase } from './engine.ts';
import { createFormat2 } from './format2.ts';

const text = { bsonType: 'string', minLength: 1 };
const int = { bsonType: 'int' };
/** The validator of that format. */
export const OLD_SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'points', 'stays', 'activities'],
  properties: {
    _id: { bsonType: 'string', minLength: 5 },
    points: int,
    stays: int,
    activities: {
      bsonType: 'array',
      minItems: 1,
      items: {
        bsonType: 'object',
        required: ['id', 'points', 'stays', 'occurredAt'],
        properties: { id: text, points: int, stays: int, occurredAt: { bsonType: 'date' } },
      },
    },
  },
};

/** Creates a store of format 1 with these activities in an empty place. */
export async function createFormat1(
  place: Place,
  activities: readonly DatedActivity[],
): Promise<void> {
  if (place.settings.mongodbUrl === undefined) return createOnLmdb(place, activities);
  await withDatabase(place, async (db) => {
    await db.collection<{ _id: string }>('owners').insertOne({
      _id: 'standings',
      ...{ environment: 'sandbox' },
    });
    await db.createCollection('standings', { validator: { $jsonSchema: OLD_SCHEMA } });
    const standings = db.collection<{ _id: string }>('standings');
    await standings.createIndex({ 'activities.id': 1 }, { unique: true });
    const documents = standingsOf(activities);
    for (let from = 0; from < documents.length; from += 1_000)
      await standings.insertMany(documents.slice(from, from + 1_000));
  });
}

/** Records activities of one standing as a process of format 1 does. */
export function oldUpdate(activities: readonly DatedActivity[]) {
  const [standing] = standingsOf(activities);
  const { _id = '', points = 0, stays = 0, activities: added = [] } = standing ?? {};
  return {
    filter: { _id, 'activities.id': { $nin: added.map(({ id }) => id) } },
    update: { $inc: { points, stays }, $push: { activities: { $each: added } } },
  };
}

function standingsOf(activities: readonly DatedActivity[]) {
  const standings = new Map<string, ReturnType<typeof emptyStanding>>();
  for (const { activityId: id, partnerId, memberId, year, ...content } of activities) {
    const { points, stays, occurredAt } = content;
    const standing = emptyStanding(`${partnerId}\0${memberId}\0${year}`);
    const known = standings.get(standing._id) ?? standing;
    known.points += points;
    known.stays += stays;
    known.activities.push({ id, points, stays, occurredAt });
    standings.set(known._id, known);
  }
  return [...standings.values()];
}

function emptyStanding(_id: string) {
  const activities: { id: string; points: number; stays: number; occurredAt: Date }[] = [];
  return { _id, points: 0, stays: 0, activities };
}

/** Format 1 had the same records, but no index by member. */
async function createOnLmdb(place: Place, activities: readonly DatedActivity[]): Promise<void> {
  await createFormat2(place, activities);
  const { root } = await openLmdb(place.settings.dataDir, 'standings', 'sandbox');
  const { memberActivities } = await openTables(root);
  await root.transaction(() => memberActivities.clearSync());
  await root.transaction(() => {
    root.put('environment', 'sandbox');
    root.remove('formatVersion');
  });
  await root.close();
}
