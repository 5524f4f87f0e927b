// The use of keys on MongoDB: a document for each key in an hour, and one with its last use.
import { DUPLICATE_KEY, openCollection } from '@partner-loyalty/runtime/store/mongo.ts';
import { oneResponse } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import {
  type AnyBulkWriteOperation,
  type Collection,
  type Db,
  type Document,
  MongoBulkWriteError,
} from 'mongodb';
import { activityOf, firstKeptHour, hourId, lastHours, newestHour } from './records.ts';
import type { KeyUse, UsageStore } from './usagestore.ts';

/** IDs of hours sort before those of keys, which begin with a letter. */
type KeyUseDocument = { _id: string; requests?: number; refusals?: number; lastUsedAt?: Date };

/** Keys written in one round trip. */
const BATCH_SIZE = 1_000;

export async function openMongoKeyUses(db: Db) {
  const collection = await openCollection<KeyUseDocument>(db, 'keyUses');
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

/** Writes in one round trip, and again whatever another process inserted at the same moment. */
export async function writeBulk<T extends Document>(
  collection: Collection<T>,
  writes: readonly AnyBulkWriteOperation<T>[],
): Promise<void> {
  if (writes.length === 0) return;
  try {
    await collection.bulkWrite(writes, { ordered: false });
  } catch (error) {
    const again = error instanceof MongoBulkWriteError ? duplicates(error) : [];
    if (again.length === 0) throw error;
    await collection.bulkWrite(
      again.flatMap((index) => writes[index] ?? []),
      { ordered: false },
    );
  }
}

/** The indexes of the failed writes if all of them failed on duplicate keys; otherwise none. */
function duplicates({ writeErrors }: MongoBulkWriteError): number[] {
  const failed = [writeErrors].flat();
  return failed.every(({ code }) => code === DUPLICATE_KEY) ? failed.map(({ index }) => index) : [];
}
