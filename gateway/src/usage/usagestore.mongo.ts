// The store of usage counts on MongoDB: a document for each caller or operation of a day.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { openCollection, openMongo } from '@partner-loyalty/runtime/store/mongo.ts';
import { onePage, pages } from '@partner-loyalty/runtime/store/reads/reads.mongo.ts';
import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { openMongoKeyUses, writeBulk } from './keyuse.mongo.ts';
import {
  type CallerRecord,
  callerRecords,
  daysOf,
  firstKeptDay,
  KEPT_OPERATIONS,
  keptOperations,
  MAX_OPERATIONS,
  type OperationRecord,
  operationRecords,
  operationsOf,
} from './records.ts';
import type { FieldUsage, OperationUsage, UsageStore } from './usagestore.ts';

/** The most operations removed at once; the next addition removes the others. */
const REMOVED_OPERATIONS = 10_000;

/** Either `counts` or `operation` and `count` are set. */
type UsageDocument = Pick<FieldUsage, 'day' | 'surface' | 'partnerId'> & {
  _id: string;
  counts?: Record<string, number>;
  operation?: string;
  count?: number;
};
type Write = AnyBulkWriteOperation<UsageDocument>;

/**
 * Opens the store in the URL's database. Rejects if the server cannot be reached or the store
 * belongs to the other environment.
 */
export async function openMongoUsageStore(
  url: string,
  environment: Environment,
): Promise<UsageStore> {
  const { db, close } = await openMongo(url, 'usage', environment);
  try {
    const usage = await openCollection<UsageDocument>(db, 'usage');
    return { ...methodsOf(usage), ...(await openMongoKeyUses(db)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function methodsOf(collection: Collection<UsageDocument>) {
  let lastDay = '';
  return {
    async add(usage) {
      const callers = callerRecords(usage.fields).map(addCounts);
      const operations = operationRecords(usage.operations).map(addOperation);
      const days = daysOf(usage);
      await writeBulk(collection, [...callers, ...operations]);
      for (const day of days) await removeRareOperations(collection, day);
      const newest = days.findLast((day) => day > lastDay);
      if (newest === undefined) return;
      await collection.deleteMany({ _id: { $lt: firstKeptDay(newest) } });
      lastDay = newest;
    },
    async fields(since) {
      const found: FieldUsage[] = [];
      const filter = { _id: { $gte: since }, counts: { $exists: true } };
      for await (const page of pages(collection, { filter })) found.push(...page.flatMap(fieldsOf));
      return found;
    },
    async operations(since) {
      const found: OperationUsage[] = [];
      const filter = { _id: { $gte: since }, operation: { $exists: true } };
      for await (const page of pages(collection, { filter })) found.push(...page.map(operationOf));
      return keptOperations(found);
    },
  } satisfies Partial<UsageStore>;
}

function addCounts({ id, counts, ...caller }: CallerRecord): Write {
  const added = Array.from(counts, ([coordinate, count]) => [
    `counts.${nameOf(coordinate)}`,
    count,
  ]);
  return {
    updateOne: {
      filter: { _id: id },
      update: { $setOnInsert: caller, $inc: Object.fromEntries(added) },
      upsert: true,
    },
  };
}

function addOperation({ id, count, ...operation }: OperationRecord): Write {
  return {
    updateOne: {
      filter: { _id: id },
      update: { $setOnInsert: operation, $inc: { count } },
      upsert: true,
    },
  };
}

async function removeRareOperations(
  collection: Collection<UsageDocument>,
  day: string,
): Promise<void> {
  const { from, to } = operationsOf(day);
  const ofDay = { _id: { $gte: from, $lt: to } };
  if ((await collection.countDocuments(ofDay, { limit: MAX_OPERATIONS + 1 })) <= MAX_OPERATIONS)
    return;
  const rare = collection.find(ofDay, {
    sort: { count: -1, _id: 1 },
    skip: KEPT_OPERATIONS,
    projection: { _id: 1 },
    ...onePage(REMOVED_OPERATIONS),
  });
  const ids = (await rare.toArray()).map(({ _id }) => _id);
  await collection.deleteMany({ _id: { $in: ids } });
}

function fieldsOf({ day, surface, partnerId, counts = {} }: UsageDocument): FieldUsage[] {
  const caller = { day, surface, ...(partnerId !== undefined && { partnerId }) };
  return Object.entries(counts).map(([name, count]) => ({
    ...caller,
    coordinate: coordinateOf(name),
    count,
  }));
}

function operationOf(document: UsageDocument): OperationUsage {
  const { day, surface, partnerId, operation = '', count = 0 } = document;
  return { day, surface, ...(partnerId !== undefined && { partnerId }), operation, count };
}

// MongoDB reads a dot as a path. No coordinate contains a slash.
const nameOf = (coordinate: string) => coordinate.replaceAll('.', '/');
const coordinateOf = (name: string) => name.replaceAll('/', '.');
