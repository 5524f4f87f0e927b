// A store in LMDB: reads are synchronous, and a rule runs within a write transaction.
import type { Database } from 'lmdb';
import type { Environment } from '../../environment.ts';
import { openLmdb } from '../lmdb.ts';
import type { StoreName } from '../private.ts';
import { type Key, keyOf, textOf } from './keys.ts';
import {
  type Bounds,
  boundsOf,
  entriesOf,
  mapFor,
  type Range,
  runRule,
  type Source,
  type Store,
  sumOf,
  type Table,
  withIndexes,
} from './store.ts';

/** Opens the embedded store `dataDir/name` with its tables, as openLmdb does. */
export async function openLmdbStore(
  dataDir: string,
  environment: Environment,
  name: StoreName,
  tables: readonly Table[],
): Promise<Store> {
  const { root, ready } = await openLmdb(dataDir, name, environment);
  // Each in a transaction of its own would block the process while another one writes.
  const databases = await root
    .transaction(
      () =>
        new Map<string, Database<object, string>>(
          withIndexes(tables).map((table) => [
            table.name,
            root.openDB({ name: table.name, encoding: 'json' }),
          ]),
        ),
    )
    .catch(async (error) => {
      await root.close();
      throw error;
    });

  function rowsOf(table: Table): Database<object, string> {
    const rows = databases.get(table.name);
    if (rows === undefined) throw new Error(`the store ${name} has no table ${table.name}`);
    return rows;
  }

  const source: Source = {
    get: (table, text) => rowsOf(table).get(text),
    range: (table, bounds) =>
      Array.from(rowsOf(table).getRange(rangeOf(bounds)), ({ key, value }) => [key, value]),
  };
  // Cast: a table has rows of one type.
  const get = <Row>(table: Table, key: Key) => source.get(table, textOf(key)) as Row | undefined;

  /** Resolves when it is on disk. What `work` throws is thrown after the transaction. */
  async function write<T>(work: () => T): Promise<T> {
    const outcome = await root.transaction(() => {
      try {
        return { result: work() };
      } catch (error) {
        return { error };
      }
    });
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  }

  return {
    get,
    getAll: <Row>(table: Table, keys: readonly Key[]) => keys.map((key) => get<Row>(table, key)),
    range: <Row>(table: Table, range: Range) =>
      entriesOf<Row>(source.range(table, boundsOf(range))),
    keys: (table, range) => [...rowsOf(table).getKeys(rangeOf(boundsOf(range)))].map(keyOf),
    count(table, range) {
      const { start, end } = rangeOf(boundsOf({ ...range, limit: 0, reverse: false }));
      return rowsOf(table).getKeysCount({ start, end });
    },
    view(rule) {
      // Otherwise it might see what another process had written when this tick began.
      root.resetReadTxn();
      return runRule(rule, remembering(source)).result;
    },
    transact: (rule) =>
      write(() => {
        const { result, writes } = runRule(rule, remembering(source));
        for (const [table, rows] of writes) {
          const stored = rowsOf(table);
          for (const [text, row] of rows)
            if (row === undefined) stored.remove(text);
            else stored.put(text, row);
        }
        return result;
      }),
    add: (table, additions) =>
      write(() => {
        for (const addition of additions)
          rowsOf(table).put(textOf(addition.key), sumOf(get(table, addition.key), addition));
      }),
    ready,
    close: () => root.close(),
  };
}

/** Reads each row once, for a rule that asks for it several times. */
function remembering(source: Source): Source {
  const known = new Map<Table, Map<string, object | undefined>>();
  return {
    ...source,
    get(table, text) {
      const rows = mapFor(known, table);
      let row = rows.get(text);
      if (row === undefined && !rows.has(text)) {
        row = source.get(table, text);
        rows.set(text, row);
      }
      return row;
    },
  };
}

/** lmdb begins a reversed range at its end, with that key. */
function rangeOf({ from, until, limit, reverse }: Bounds) {
  if (!reverse) return { start: from, end: until, limit };
  return { start: until, end: from, limit, reverse, exclusiveStart: true, inclusiveEnd: true };
}
