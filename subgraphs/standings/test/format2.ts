// Standings stores as format 2 had them, for tests of the migration.
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import type { Db } from 'mongodb';
import type { DatedActivity } from '../src/index.ts';
import { ACTIVITIES, SCHEMAS } from '../src/store/collections.mongo.ts';
import { activityIdOf } from '../src/store/queries.mongo.ts';
import { openTables } from '../src/store/tables.lmdb.ts';
import { type Place, withDatabase } from './engine.ts';

/** Where that format kept activities, on both engines. */
export const FORMER = 'activities';

/** Creates a store of format 2 with these activities in an empty place. */
export async function createFormat2(
  place: Place,
  activities: readonly DatedActivity[],
): Promise<void> {
  const store = await place.open();
  await store.record(activities);
  await store.close();
  if (place.settings.mongodbUrl === undefined) await moveBackOnLmdb(place);
  else await withDatabase(place, moveBackOnMongo);
}

/** Gives every activity the key that it had: its ID alone. */
async function moveBackOnLmdb(place: Place): Promise<void> {
  const { root } = await openLmdb(place.settings.dataDir, 'standings', 'sandbox');
  const { activities, former } = await openTables(root);
  await root.transaction(() => {
    for (const { key, value } of [...activities.getRange()]) {
      const [partnerId, activityId] = key;
      former.put(activityId, [partnerId, ...value]);
      activities.remove(key);
    }
    root.put('environment', 'sandbox (format 2)');
    root.put('formatVersion', 2);
  });
  await root.close();
}

async function moveBackOnMongo(db: Db): Promise<void> {
  const present = db.collection<{ _id: string }>(ACTIVITIES);
  const documents = await present.find().toArray();
  const { properties, ...schema } = SCHEMAS.activities;
  const _id = { bsonType: 'string', minLength: 1 };
  const validator = { $jsonSchema: { ...schema, properties: { ...properties, _id } } };
  await present.drop();
  await db.createCollection(FORMER, { validator });
  const former = db.collection<{ _id: string }>(FORMER);
  for (let from = 0; from < documents.length; from += 1_000)
    await former.insertMany(
      documents
        .slice(from, from + 1_000)
        .map(({ _id, ...content }) => ({ ...content, _id: activityIdOf(_id) })),
    );
  await db
    .collection<{ _id: string }>('owners')
    .updateOne(
      { _id: 'standings' },
      { $set: { environment: 'sandbox (format 2)', formatVersion: 2 } },
    );
}
