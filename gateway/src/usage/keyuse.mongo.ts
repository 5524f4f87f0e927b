// The use of keys on MongoDB: a document for each key in an hour, and one with its last use.
import { openCollection } from '@partner-loyalty/runtime/store/mongo.ts';
import { oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { writeBulk } from './bulk.mongo.ts';
import { activityOf, firstKeptHour, hourId, lastHours, newestHour } from './keyhours.ts';
import type { KeyUse, UsageStore } from './usagestore.ts';

/** IDs of hours sort before those of keys, which begin with a letter. */
type KeyUseDocument = { _id: string; requests?: number; refusals?: number; lastUsedAt?: Date };

const count = { minimum: 0 };
const SCHEMA = {
  bsonType: 'object',
  required: ['_id'],
  properties: {
    _id: { bsonType: 'string', minLength: 1 },
    requests: count,
    refusals: count,
    lastUsedAt: { bsonType: 'date' },
  },
};
/** Keys written in one round trip. */
const BATCH_SIZE = 1_000;

export async function openMongoKeyUses(db: Db) {
  const collection = await openCollection<KeyUseDocument>(db, 'keyUses', SCHEMA);
  let lastHour = '';
  return {
    async addKeyUses(uses) {
      for (let from = 0; from < uses.length; from += BATCH_SIZE)
        await writeBulk(collection, uses.slice(from, from + BATCH_SIZE).flatMap(writesOf));
      const newest = newestHour(uses);
      if (newest === undefined || newest <= lastHour) return;
      await collection.deleteMany({ _id: { $lt: firstKeptHour(newest) } });
      lastHour = newest;
    },
    async keyActivities(keyIds, now) {
      const lastUses = await byId(collection, keyIds);
      const hours = lastHours(now);
      const used = keyIds.filter((keyId) => lastUses.has(keyId));
      const ids = used.flatMap((keyId) => hours.map((hour) => hourId(hour, keyId)));
      const counts = await byId(collection, ids);
      return used.flatMap((keyId) => {
        const { lastUsedAt } = lastUses.get(keyId) ?? {};
        if (lastUsedAt === undefined) return [];
        const ofKey = hours.flatMap((hour) => counts.get(hourId(hour, keyId)) ?? []);
        const known = ofKey.map(({ requests = 0, refusals = 0 }) => ({ requests, refusals }));
        return activityOf(keyId, lastUsedAt, known);
      });
    },
  } satisfies Partial<UsageStore>;
}

function writesOf({ keyId, hour, requests, refusals, lastUsedAt }: KeyUse) {
  const writes: AnyBulkWriteOperation<KeyUseDocument>[] = [
    {
      updateOne: {
        filter: { _id: hourId(hour, keyId) },
        update: { $inc: { requests, refusals } },
        upsert: true,
      },
    },
    { updateOne: { filter: { _id: keyId }, update: { $max: { lastUsedAt } }, upsert: true } },
  ];
  return writes;
}

async function byId(
  collection: Collection<KeyUseDocument>,
  ids: readonly string[],
): Promise<Map<string, KeyUseDocument>> {
  const found = new Map<string, KeyUseDocument>();
  for (let from = 0; from < ids.length; from += BATCH_SIZE) {
    const some = ids.slice(from, from + BATCH_SIZE);
    const documents = collection.find({ _id: { $in: some } }, oneResponse(some.length));
    for (const document of await documents.toArray()) found.set(document._id, document);
  }
  return found;
}
