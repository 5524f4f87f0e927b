// Tables of an embedded store: rows by ID and, for all orders of a table, the IDs by position.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { type Inspection, UNREADABLE } from './inspection.ts';
import type { Snapshot } from './snapshot.lmdb.ts';
import type { OpenTable, Table, TableDefinition } from './table.ts';

/** After everything else that an ID may go on with. */
const LAST = '\u{10ffff}';
/** How many rows are read or written before others have their turn. */
const SLICE = 200;

type Position = [order: string, at: number, id: string];

/** Opens tables in the store with this root. */
export function lmdbTables(root: RootDatabase): OpenTable {
  return (definition) => createTable(root, definition);
}

/** A table without orders has no positions. */
function openDatabases<Row>(root: RootDatabase, { name, orders }: TableDefinition<Row>) {
  return {
    rows: root.openDB<Row, string>({ name, encoding: 'json' }),
    ...(orders && {
      positions: root.openDB<true, Position>({ name: `${name}-orders`, encoding: 'json' }),
    }),
  };
}

function createTable<Row extends object>(
  root: RootDatabase,
  definition: TableDefinition<Row>,
): Table<Row> {
  const { rows, positions } = openDatabases(root, definition);
  const { id: idField, orders = [] } = definition;
  // Cast: a table has one field of IDs.
  const idOf = (row: Row) => row[idField] as string;

  /** Call it in a transaction. */
  function replace(id: string, before: Row | undefined, after: Row | undefined): void {
    for (const order of orders) {
      const [from, to] = [numberIn(before, order), numberIn(after, order)];
      if (from === to) continue;
      if (from !== undefined) positions?.remove([order, from, id]);
      if (to !== undefined) positions?.put([order, to, id], true);
    }
    if (after === undefined) rows.remove(id);
    else rows.put(id, after);
  }

  /** Call it in a transaction. */
  function change(id: string, next: (before: Row | undefined) => Row | undefined): Row | undefined {
    const before = rows.get(id);
    const after = next(before);
    if (after === before) return undefined;
    replace(id, before, after);
    return after;
  }

  async function write<T>(work: () => T): Promise<T> {
    const result = await root.transaction(work);
    await root.flushed;
    return result;
  }

  const idsUntil = (order: string, until: number, limit?: number): string[] =>
    Array.from(
      positions?.getKeys({ start: [order], end: [order, until + 1], ...(limit && { limit }) }) ??
        [],
      ([, , id]) => id,
    );

  /** The rows whose IDs begin with a prefix, in slices: others have their turn after each. */
  async function* slices(prefix: string, size = SLICE) {
    const end = prefix + LAST;
    for (let after: string | undefined; ; ) {
      const start =
        after === undefined ? { start: prefix } : { start: after, exclusiveStart: true };
      const slice = Array.from(rows.getRange({ ...start, end, limit: size }));
      yield slice;
      if (slice.length < size) return;
      after = slice.at(-1)?.key;
      await nextTurn();
    }
  }

  return {
    get: (id) => rows.get(id),
    put: (row) => write(() => replace(idOf(row), rows.get(idOf(row)), row)),
    update: (id, next) => write(() => change(id, next)),
    async updateFirst(order, until, next) {
      const first = () => idsUntil(order, until, 1)[0];
      // Most of the time there is none, so it looks first without a transaction.
      if (first() === undefined) return undefined;
      return write(() => {
        const id = first();
        return id === undefined ? undefined : change(id, (before) => before && next(before));
      });
    },
    remove: (id) => write(() => replace(id, rows.get(id), undefined)),
    range: (order, from, limit) =>
      Array.from(
        positions?.getKeys({ start: [order, from], end: [order, Number.MAX_VALUE], limit }) ?? [],
      ).flatMap(([, , id]) => rows.get(id) ?? []),
    count: (order) =>
      positions?.getKeysCount({ start: [order], end: [order, Number.MAX_VALUE] }) ?? 0,
    async removeUntil(order, until) {
      while (idsUntil(order, until, 1).length > 0) {
        await write(() => {
          for (const id of idsUntil(order, until, SLICE)) replace(id, rows.get(id), undefined);
        });
        await nextTurn();
      }
    },
    async startingWith(prefix, limit = Number.POSITIVE_INFINITY) {
      const found: Row[] = [];
      for await (const slice of slices(prefix, Math.min(limit, SLICE))) {
        for (const { value } of slice) found.push(value);
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async select(isWanted) {
      const found: Row[] = [];
      for await (const slice of slices(''))
        for (const { value } of slice) if (isWanted(value)) found.push(value);
      return found;
    },
    async removeWhere(isUnwanted, prefix = '') {
      let count = 0;
      for await (const slice of slices(prefix)) {
        const unwanted = slice.filter(({ value }) => isUnwanted(value));
        if (unwanted.length === 0) continue;
        count += await write(() => {
          const left = unwanted.filter(({ key }) => {
            const row = rows.get(key);
            if (row === undefined || !isUnwanted(row)) return false;
            replace(key, row, undefined);
            return true;
          });
          return left.length;
        });
      }
      return count;
    },
  };
}

function numberIn<Row>(row: Row | undefined, field: string): number | undefined {
  // Cast: the definition of a table names fields with numbers only.
  return (row as Record<string, number | undefined> | undefined)?.[field];
}

/**
 * Returns the verification of a table on a snapshot, which has to be taken afterwards. `nameOf`
 * names a row in reports.
 */
export function tableVerifier<Row extends object>(
  root: RootDatabase,
  definition: TableDefinition<Row>,
  nameOf: (id: string) => string,
): (snapshot: Snapshot, inspection: Inspection) => void {
  const { rows, positions } = openDatabases(root, definition);
  const { id: idField, orders = [] } = definition;
  return (snapshot, { report }) => {
    const unreadable = (id: string) => report(nameOf(id), 'the record cannot be read');
    for (const { key, value } of snapshot.records(rows, unreadable)) {
      if (value[idField] !== key) report(nameOf(key), 'the record has another ID');
      for (const order of orders) {
        const at = numberIn(value, order);
        if (
          positions &&
          at !== undefined &&
          snapshot.get(positions, [order, at, key]) === undefined
        )
          report(nameOf(key), `the index by ${order} does not have it`);
      }
    }
    if (positions === undefined) return;
    for (const [order, at, id] of snapshot.keys(positions)) {
      const row = snapshot.get(rows, id);
      if (row !== UNREADABLE && numberIn(row, order) !== at)
        report(nameOf(id), `the index by ${order} has it at another place`);
    }
  };
}
