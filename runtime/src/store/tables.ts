// Small tables of a store: rows by ID, with an index for each of their orders.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapMaybe } from '../maybe.ts';
import type { Key } from './engine/keys.ts';
import { pagesOf } from './engine/pages.ts';
import { type Store, type Table as Stored, type Transaction, table } from './engine/store.ts';
import { verifyTable } from './engine/verify.ts';
import type { OpenTable, Table, TableDefinition } from './table.ts';

/** After everything else that an ID may go on with. */
const LAST = '\u{10ffff}';
/** How many rows are read or written before others have their turn. */
const SLICE = 200;

/** What the store of a definition has to be opened with. */
export function storedTable<Row extends object>({
  name,
  orders = [],
}: {
  name: string;
  orders?: readonly string[];
}): Stored<Row> {
  return table<Row>(name, {
    indexes: orders.map((order) => ({
      table: table(indexName(name, order), { isUnique: true }),
      entriesOf(row: Row, [id = '']) {
        const at = numberIn(row, order);
        if (at === undefined) return [];
        // No search finds others in their order.
        if (!Number.isSafeInteger(at) || at < 0) throw new RangeError(`${order} cannot be ${at}`);
        return [{ key: [at, id], row: {} }];
      },
      rowKeyOf: ({ key: [, id = ''] }) => [id],
    })),
  });
}

/** A table, and how reports name a row: not by an address, or what it is found by. */
export type NamedTable = [
  definition: { name: string; id: string; orders?: readonly string[] },
  nameOf: (id: string) => string,
];

/** Reports what is wrong with tables, as verifyTable does. */
export async function verifyRows(
  store: Store,
  tables: readonly NamedTable[],
  report: (record: string, problem: string) => void,
): Promise<void> {
  for (const [definition, nameOf] of tables) {
    const reportRow = ([id]: Key, problem: string) => report(nameOf(String(id)), problem);
    await verifyTable<Record<string, unknown>>(store, storedTable(definition), reportRow, {
      inspect(page) {
        for (const { key, row } of page)
          if (row[definition.id] !== key[0]) reportRow(key, 'the record has another ID');
      },
    });
  }
}

/** Opens tables in a store that was opened with them. */
export function tablesIn(store: Store): OpenTable {
  const open = <Row extends object>(definition: TableDefinition<Row>) =>
    createTable(store, definition);
  return Object.assign(open, { transact: store.transact });
}

function createTable<Row extends object>(
  store: Store,
  definition: TableDefinition<Row>,
): Table<Row> {
  const rows = storedTable<Row>(definition);
  const { id: idField } = definition;
  // Cast: a table has one field of IDs.
  const keyOf = (row: Row) => [row[idField] as string];
  const index = (order: string) => table<object>(indexName(definition.name, order));

  /** Writes nothing if `next` returns what it got. */
  function change(
    tx: Transaction,
    id: string,
    next: (before: Row | undefined) => Row | undefined,
  ): Row | undefined {
    const before = tx.get(rows, [id]);
    const after = next(before);
    if (after === before && after !== undefined) return undefined;
    // Even if there is none: then nobody else may write it meanwhile.
    if (after === undefined) tx.remove(rows, [id]);
    else tx.put(rows, [id], after);
    return after;
  }

  async function firstIds(order: string, until: number, limit: number) {
    const found = await store.range(index(order), { prefix: [], until: [until + 1], limit });
    return found.map(({ key: [, id = ''] }) => String(id));
  }

  const startingWith = (prefix: string) => ({
    prefix: [],
    ...(prefix !== '' && { from: [prefix], until: [prefix + LAST] }),
  });

  /** The rows whose IDs begin with a prefix, in slices: others have their turn after each. */
  const slices = (prefix: string, limit = SLICE) =>
    pagesOf(store, rows, startingWith(prefix), limit);

  /** Removes those that are still unwanted; resolves with how many. */
  const removeAll = (ids: readonly string[], isUnwanted: (row: Row) => boolean) =>
    store.transact((tx) => {
      const found = tx.getAll(
        rows,
        ids.map((id) => [id]),
      );
      // Removed again, those that are gone stay so until this is written.
      const unwanted = found.map((row) => row === undefined || isUnwanted(row));
      for (const [place, id] of ids.entries()) if (unwanted[place]) tx.remove(rows, [id]);
      return found.filter((row, place) => row !== undefined && unwanted[place]).length;
    });

  return {
    get: (id) => store.get(rows, [id]),
    put: (row) => store.transact((tx) => tx.put(rows, keyOf(row), row)),
    update: (id, next) => store.transact((tx) => change(tx, id, next)),
    async updateAll(ids, next) {
      for (let from = 0; from < ids.length; from += SLICE) {
        const slice = ids.slice(from, from + SLICE);
        const keys = slice.map((id) => [id]);
        await store.transact(
          (tx) => {
            for (const id of slice) change(tx, id, (before) => next(before, id));
          },
          [{ table: rows, keys }],
        );
      }
    },
    remove: (id) => store.transact((tx) => tx.remove(rows, [id])),
    range: (order, from, limit) =>
      mapMaybe(store.range(index(order), { prefix: [], from: [from], limit }), (found) =>
        mapMaybe(
          store.getAll(
            rows,
            found.map(({ key: [, id = ''] }) => [id]),
          ),
          (all) => all.flatMap((row) => row ?? []),
        ),
      ),
    change,
    countStarting: (prefix) => store.count(rows, startingWith(prefix)),
    count: (order) => store.count(index(order), { prefix: [] }),
    async removeUntil(order, until) {
      for (;;) {
        const first = await firstIds(order, until, SLICE);
        if (first.length === 0) return;
        const count = await removeAll(first, (row) => (numberIn(row, order) ?? until + 1) <= until);
        // Others have removed them, or they are entries without rows.
        if (count === 0) return;
        await nextTurn();
      }
    },
    async startingWith(prefix, limit = Number.POSITIVE_INFINITY) {
      const found: Row[] = [];
      for await (const slice of slices(prefix, Math.min(limit, SLICE))) {
        for (const { row } of slice) found.push(row);
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async select(isWanted) {
      const found: Row[] = [];
      for await (const slice of slices(''))
        for (const { row } of slice) if (isWanted(row)) found.push(row);
      return found;
    },
    async removeWhere(isUnwanted, prefix = '') {
      let count = 0;
      for await (const slice of slices(prefix)) {
        const ids = slice.flatMap(({ key: [id = ''], row }) =>
          isUnwanted(row) ? [String(id)] : [],
        );
        if (ids.length > 0) count += await removeAll(ids, isUnwanted);
      }
      return count;
    },
  };
}

function indexName(name: string, order: string): string {
  return `${name}-by-${order}`;
}

function numberIn<Row>(row: Row | undefined, field: string): number | undefined {
  // Cast: the definition of a table names fields with numbers only.
  return (row as Record<string, number | undefined> | undefined)?.[field];
}
