// Reads of many documents from MongoDB, each reply within the deadline of a connection.
import type { Collection, Condition, Document, Filter, FindCursor, WithId } from 'mongodb';

const PAGE_SIZE = 500;
const RANGE_SIZE = 10_000;

/** What to walk over. */
export type Walk<T extends Document> = {
  filter?: Filter<T>;
  /** An index has these fields. */
  order?: readonly (keyof T & string)[];
  projection?: Partial<Record<keyof T | '_id', 0 | 1>>;
  pageSize?: number;
};

/** Options of a read that finds `count` documents at most: the first reply has them all. */
export function oneResponse(count: number) {
  return { batchSize: count + 1 };
}

/** Options of a read of the first `size` documents, or fewer if they are over 16 MiB. */
export function onePage(size: number) {
  return { limit: size, batchSize: size, singleBatch: true };
}

/** Finds documents in an order, by a cursor: work on what it yields ends within minutes. */
export function walk<T extends Document & { _id: string | number }>(
  collection: Collection<T>,
  { filter = {}, order = ['_id'], projection, pageSize = PAGE_SIZE }: Walk<T> = {},
): FindCursor<WithId<T>> {
  const sort = Object.fromEntries(order.map((field) => [field, 1 as const]));
  return collection.find(filter, {
    sort,
    batchSize: pageSize,
    ...(projection && { projection }),
  });
}

/** Yields the documents of walk() in arrays of the page's size. */
export async function* pages<T extends Document & { _id: string | number }>(
  collection: Collection<T>,
  what: Walk<T> = {},
): AsyncGenerator<WithId<T>[]> {
  const { pageSize = PAGE_SIZE } = what;
  let page: WithId<T>[] = [];
  for await (const one of walk(collection, what)) {
    page.push(one);
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/**
 * Yields filters by `_id` that divide a collection into ranges of `size` documents. So a query that
 * no index serves reads a bounded number of documents, and is done before its deadline.
 */
export async function* ranges<T extends Document & { _id: string | number }>(
  collection: Collection<T>,
  size = RANGE_SIZE,
): AsyncGenerator<Filter<T>> {
  const options = { sort: { _id: 1 }, projection: { _id: 1 }, skip: size - 1 } as const;
  for (let start: T['_id'] | undefined; ; ) {
    const rest = rangeOf<T>(start, undefined);
    const [last] = await collection.find(rest, { ...options, ...onePage(1) }).toArray();
    yield rangeOf(start, last?._id);
    if (last === undefined) return;
    start = last._id;
  }
}

/** Counts documents, however many there are. */
export async function countAll<T extends Document & { _id: string | number }>(
  collection: Collection<T>,
  filter: Filter<T> = {},
): Promise<number> {
  let count = 0;
  for await (const range of ranges(collection))
    count += await collection.countDocuments(both(range, filter));
  return count;
}

/** The filter of documents that match two. */
export function both<T>(one: Filter<T>, other: Filter<T>): Filter<T> {
  // Cast: TypeScript cannot tell that every filter may be part of another.
  return { $and: [one, other] } as Filter<T>;
}

function rangeOf<T extends Document>(start?: T['_id'], end?: T['_id']): Filter<T> {
  if (start === undefined && end === undefined) return {};
  const range: Condition<unknown> = {
    ...(start !== undefined && { $gt: start }),
    ...(end !== undefined && { $lte: end }),
  };
  // Cast: TypeScript cannot tell that T has the field.
  return { _id: range } as Filter<T>;
}
