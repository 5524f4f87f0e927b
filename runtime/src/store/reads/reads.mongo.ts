// Reads of many documents from MongoDB that leave no cursor open between two replies.
//
// A cursor is lost when the primary changes, or when the work on a batch takes ten minutes.
import type { Collection, Condition, Document, Filter, FindCursor, WithId } from 'mongodb';

const PAGE_SIZE = 500;
const RANGE_SIZE = 10_000;

/** What to walk over. `projection` must leave the fields of `order` in. */
export type Walk<T extends Document> = {
  filter?: Filter<T>;
  /** Ends with `_id`, and an index has these fields. */
  order?: readonly (keyof T & string)[];
  projection?: Partial<Record<keyof T | '_id', 0 | 1>>;
  pageSize?: number;
};

/** Options of a read that finds `count` documents at most: the first reply has them all. */
export function oneReply(count: number) {
  return { batchSize: count + 1 };
}

/** Options of a read of the first `size` documents, or fewer if they are over 16 MiB. */
export function onePage(size: number) {
  return { limit: size, batchSize: size, singleBatch: true };
}

/** Yields documents in an order, in pages that are queries of their own, until one is empty. */
export async function* pages<T extends Document & { _id: string | number }>(
  collection: Collection<T>,
  what: Walk<T> = {},
): AsyncGenerator<WithId<T>[]> {
  for (let last: WithId<T> | undefined; ; ) {
    const page = await pageQuery(collection, what, last).toArray();
    last = page.at(-1);
    if (last === undefined) return;
    yield page;
  }
}

/** The query of the page after a document, or of the first page. */
export function pageQuery<T extends Document & { _id: string | number }>(
  collection: Collection<T>,
  { filter = {}, order = ['_id'], projection, pageSize = PAGE_SIZE }: Walk<T>,
  last?: WithId<T>,
): FindCursor<WithId<T>> {
  const sort = Object.fromEntries(order.map((field) => [field, 1 as const]));
  const rest = last === undefined ? filter : both(filter, after(last, order));
  const options = { sort, ...(projection && { projection }), ...onePage(pageSize) };
  return collection.find(rest, options);
}

/** Yields the documents of pages(). */
export async function* walk<T extends Document & { _id: string | number }>(
  collection: Collection<T>,
  what?: Walk<T>,
): AsyncGenerator<WithId<T>> {
  for await (const page of pages(collection, what)) yield* page;
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

/** One branch for each field: those before it are equal, and it is greater. */
function after<T extends Document>(
  last: WithId<T>,
  order: readonly (keyof T & string)[],
): Filter<T> {
  const branches = order.map((field, index) => ({
    ...Object.fromEntries(order.slice(0, index).map((equal) => [equal, last[equal]])),
    [field]: { $gt: last[field] },
  }));
  const [only] = branches;
  // Cast: the keys are fields of T, and the values are theirs.
  return (branches.length === 1 ? only : { $or: branches }) as Filter<T>;
}
