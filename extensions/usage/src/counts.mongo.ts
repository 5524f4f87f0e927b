// Tables of counts on MongoDB: a document for each row.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import {
  DUPLICATE_KEY,
  openCollection,
  openMongo,
  withMongo,
} from '@partner-loyalty/runtime/store/mongo.ts';
import {
  countAll,
  onePage,
  oneResponse,
  walk,
} from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import type { Counts, CountTable, UsageStore } from './store.ts';
import { createUsageStore, TABLES } from './tables.ts';

type CountDocument = {
  _id: string;
  about: object;
  counts: Record<string, number>;
  latestMs?: number;
  highest?: number;
};
type Write = AnyBulkWriteOperation<CountDocument>;

/** Rows in one round trip. */
const BATCH_SIZE = 1_000;

/**
 * Opens the store in the URL's database. Rejects if the server cannot be reached or the store
 * belongs to the other environment.
 */
export function openMongoUsageStore(url: string, environment: Environment): Promise<UsageStore> {
  return openMongo(url, 'usage', environment, ({ db, close }) =>
    createUsageStore((name) => openTable(db, name), close),
  );
}

async function openTable<About extends object>(db: Db, name: string): Promise<CountTable<About>> {
  const collection = await openCollection<CountDocument>(db, name);
  const between = (from: string, to?: string) => ({
    _id: { $gte: from, ...(to !== undefined && { $lt: to }) },
  });
  return {
    async add(additions) {
      for (const some of batches(additions)) await write(collection, some.map(addition));
    },
    async put(rows) {
      const writes = rows.map(({ id, ...replacement }) => ({
        replaceOne: { filter: { _id: id }, replacement, upsert: true },
      }));
      await collection.bulkWrite(writes, { ordered: false });
    },
    async get(ids) {
      const found = new Map<string, Counts<About>>();
      for (const some of batches(ids)) {
        const documents = collection.find({ _id: { $in: [...some] } }, oneResponse(some.length));
        for (const one of await documents.toArray()) found.set(one._id, rowOf(one));
      }
      return found;
    },
    async range(from, to) {
      const found: Counts<About>[] = [];
      for await (const one of walk(collection, { filter: between(from, to) }))
        found.push(rowOf(one));
      return found;
    },
    async last(from, to, limit) {
      const options = { sort: { _id: -1 }, limit, ...oneResponse(limit) } as const;
      return (await collection.find(between(from, to), options).toArray()).map(rowOf<About>);
    },
    async firstId(from) {
      const options = { sort: { _id: 1 }, projection: { _id: 1 }, ...onePage(1) } as const;
      return (await collection.find(between(from), options).toArray())[0]?._id;
    },
    size: (from, to) => collection.countDocuments(between(from, to)),
    async remove(ids) {
      for (const some of batches(ids)) await collection.deleteMany({ _id: { $in: [...some] } });
    },
    async removeBetween(from, to) {
      const options = { sort: { _id: 1 }, projection: { _id: 1 }, ...onePage(BATCH_SIZE) } as const;
      for (let count = BATCH_SIZE; count === BATCH_SIZE; ) {
        const found = await collection.find(between(from, to), options).toArray();
        await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
        count = found.length;
      }
    },
  };
}

function* batches<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += BATCH_SIZE)
    yield all.slice(from, from + BATCH_SIZE);
}

function addition({ id, about, counts, ...maxima }: Counts): Write {
  const added = Object.entries(counts).map(([name, count]) => [
    `counts.${storedName(name)}`,
    count,
  ]);
  return {
    updateOne: {
      filter: { _id: id },
      update: {
        $setOnInsert: { about },
        ...(added.length > 0 && { $inc: Object.fromEntries(added) }),
        ...(Object.keys(maxima).length > 0 && { $max: maxima }),
      },
      upsert: true,
    },
  };
}

function rowOf<About extends object>({ _id, counts = {}, ...row }: CountDocument): Counts<About> {
  const named = Object.entries(counts).map(([name, count]) => [countName(name), count]);
  // Cast: only rows of the table are stored.
  return { ...row, id: _id, counts: Object.fromEntries(named) } as Counts<About>;
}

// MongoDB reads a dot as a path. No name contains a slash.
const storedName = (name: string) => name.replaceAll('.', '/');
const countName = (name: string) => name.replaceAll('/', '.');

/** Writes in one round trip, and again whatever another process inserted at the same moment. */
async function write(collection: Collection<CountDocument>, writes: Write[]): Promise<void> {
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

/** Resolves with the number of records. Nothing refers to them, and they refer to nothing. */
export function verifyMongoUsage(url: string, environment: Environment): Promise<number> {
  return withMongo(url, 'usage', environment, async (db) => {
    let count = 0;
    for (const name of Object.values(TABLES))
      count += await countAll(db.collection<{ _id: string }>(name));
    return count;
  });
}
