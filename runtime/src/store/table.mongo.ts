// Tables on MongoDB: a document for each row, replaced only as it was read.
import { randomUUID } from 'node:crypto';
import type { Db, Filter } from 'mongodb';
import { batchLoad } from '../eventloop/batchload.ts';
import { isDuplicate, openCollection } from './mongo.ts';
import { oneResponse, pages, walk } from './reads/reads.mongo.ts';
import type { NumberField, OpenTable, Table, TableDefinition } from './table.ts';

/** `version` changes with every write. */
type RowDocument = { _id: string; version: string; [field: string]: unknown };

/** After everything else that an ID may go on with. */
const LAST = '\u{10ffff}';

/** Opens tables in a database. Several processes may create them at the same time. */
export function mongoTables(db: Db): OpenTable {
  return (definition) => openTable(db, definition);
}

async function openTable<Row extends object>(
  db: Db,
  { name, id: idField, orders = [] }: TableDefinition<Row>,
): Promise<Table<Row>> {
  await openCollection(
    db,
    name,
    undefined,
    orders.map((order) => [{ [order]: 1 }, { sparse: true }]),
  );
  // A row that a lagging secondary lacks is no row that was removed.
  const rows = db.collection<RowDocument>(name, {
    readPreference: 'primary',
    writeConcern: { w: 'majority', journal: true },
  });

  const documentOf = (row: Row): RowDocument => {
    // Cast: a table has one field of IDs.
    return { _id: row[idField] as string, version: randomUUID(), ...row };
  };

  /** False if the document was written since it was read. */
  async function replace(before: RowDocument | null, after: Row | undefined): Promise<boolean> {
    if (before === null) return after === undefined || insert(after);
    const same = { _id: before._id, version: before.version };
    if (after === undefined) return (await rows.deleteOne(same)).deletedCount === 1;
    return (await rows.replaceOne(same, documentOf(after))).matchedCount === 1;
  }

  async function insert(row: Row): Promise<boolean> {
    try {
      await rows.insertOne(documentOf(row));
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Writes the first row of a filter, again if another process was faster. */
  async function change(
    filter: Filter<RowDocument>,
    order: NumberField<Row> | '_id',
    next: (before: Row | undefined) => Row | undefined,
  ): Promise<Row | undefined> {
    for (;;) {
      const sort = { [order]: 1 } as const;
      const stored = await rows.findOne(filter, { sort });
      const before = stored === null ? undefined : rowOf<Row>(stored);
      const after = next(before);
      if (after === before) return undefined;
      if (await replace(stored, after)) return after;
    }
  }

  return {
    get: batchLoad(async (ids) => {
      const found = await rows.find({ _id: { $in: ids } }, oneResponse(ids.length)).toArray();
      return new Map(found.map((document) => [document._id, rowOf<Row>(document)]));
    }),
    async put(row) {
      const document = documentOf(row);
      await rows.replaceOne({ _id: document._id }, document, { upsert: true });
    },
    update: (id, next) => change({ _id: id }, '_id', next),
    updateFirst: (order, until, next) =>
      change({ [order]: { $lte: until } }, order, (before) => before && next(before)),
    async remove(id) {
      await rows.deleteOne({ _id: id });
    },
    async range(order, from, limit) {
      const options = { sort: { [order]: 1 }, limit, ...oneResponse(limit) } as const;
      const found = await rows.find({ [order]: { $gte: from } }, options).toArray();
      return found.map((document) => rowOf<Row>(document));
    },
    count: (order) => rows.countDocuments({ [order]: { $exists: true } }),
    async removeUntil(order, until) {
      await rows.deleteMany({ [order]: { $lte: until } });
    },
    async startingWith(prefix, limit = Number.POSITIVE_INFINITY) {
      const found: Row[] = [];
      for await (const document of walk(rows, { filter: startsWith(prefix) })) {
        found.push(rowOf<Row>(document));
        if (found.length >= limit) break;
      }
      return found;
    },
    async select(isWanted) {
      const found: Row[] = [];
      for await (const document of walk(rows)) {
        const row = rowOf<Row>(document);
        if (isWanted(row)) found.push(row);
      }
      return found;
    },
    async removeWhere(isUnwanted, prefix = '') {
      let count = 0;
      for await (const page of pages(rows, { filter: startsWith(prefix) })) {
        const unwanted = page.filter((document) => isUnwanted(rowOf(document)));
        if (unwanted.length === 0) continue;
        const ids = unwanted.map(({ _id }) => _id);
        count += (await rows.deleteMany({ _id: { $in: ids } })).deletedCount;
      }
      return count;
    },
  };
}

function startsWith(prefix: string): Filter<RowDocument> {
  return { _id: { $gte: prefix, $lt: prefix + LAST } };
}

function rowOf<Row>({ _id, version, ...row }: RowDocument): Row {
  // Cast: only rows are stored.
  return row as Row;
}
