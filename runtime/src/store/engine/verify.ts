// Whether the indexes of a store have what its rows say, and nothing else.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { MaybePromise } from '../../maybe.ts';
import { UNREADABLE } from '../inspection.ts';
import { outageOf } from '../outage.ts';
import { type Key, keyOf, textOf } from './keys.ts';
import { PAGE_SIZE } from './pages.ts';
import { type Entry, entriesByText, type Index, type Store, type Table } from './store.ts';

/**
 * Compares each row of a table with its entries in indexes, and each entry with its row. Others may
 * write meanwhile: what does not agree is read again in one transaction. `inspect` gets the rows in
 * pages of `limit`, without those that cannot be read. Resolves with the number of rows.
 */
export async function verifyTable<Row extends object>(
  store: Store,
  table: Table<Row>,
  report: (key: Key, problem: string) => void,
  {
    inspect,
    limit = PAGE_SIZE,
  }: { inspect?: (page: readonly Entry<Row>[]) => MaybePromise<void>; limit?: number } = {},
): Promise<number> {
  let count = 0;
  const unreadable = (key: Key) => report(key, 'the record cannot be read');
  for await (const page of readablePages(store, table, unreadable, limit)) {
    count += page.length;
    await inspect?.(page);
    for (const index of table.indexes ?? [])
      for (const { key } of await rowsThatDiffer(store, index, page))
        if (!(await hasItsEntries(store, table, index, key)))
          report(key, `the index ${index.table.name} does not have it as it is`);
  }
  // The row of an entry that cannot be read is named above.
  for (const index of table.indexes ?? [])
    for await (const page of readablePages(store, index.table, () => {}, limit))
      for (const entry of await entriesThatDiffer(store, table, index, page))
        if (!(await hasItsRow(store, table, index, entry.key)))
          report(index.rowKeyOf(entry), `the index ${index.table.name} has it at another place`);
  return count;
}

async function* readablePages<Row extends object>(
  store: Store,
  table: Table<Row>,
  unreadable: (key: Key) => void,
  limit: number,
): AsyncGenerator<Entry<Row>[]> {
  for (let after: Key | undefined; ; ) {
    const keys = await store.keys(table, { prefix: [], ...(after && { after }), limit });
    const rows = await readAll(store, table, keys);
    yield keys.flatMap((key, place) => {
      const row = rows[place];
      if (row === undefined) return [];
      if (row !== UNREADABLE && hasEntries(table, key, row)) return [{ key, row }];
      unreadable(key);
      return [];
    });
    if (keys.length < limit) return;
    after = keys.at(-1);
    await nextTurn();
  }
}

/** Whether a row has what its indexes read of it. */
function hasEntries(table: Table, key: Key, row: object): boolean {
  try {
    for (const index of table.indexes ?? []) index.entriesOf(row as never, key);
    return true;
  } catch {
    return false;
  }
}

async function readAll<Row extends object>(
  store: Store,
  table: Table<Row>,
  keys: readonly Key[],
): Promise<(Row | typeof UNREADABLE | undefined)[]> {
  try {
    return await store.getAll(table, keys);
  } catch (error) {
    if (keys.length > 1) {
      const rows = [];
      for (const key of keys) rows.push(...(await readAll(store, table, [key])));
      return rows;
    }
    if (outageOf(error) === 'damaged') return [UNREADABLE];
    throw error;
  }
}

async function rowsThatDiffer(store: Store, index: Index, page: readonly Entry<object>[]) {
  const entries = page.flatMap((each) => index.entriesOf(each.row as never, each.key));
  const found = await readAll(
    store,
    index.table,
    entries.map(({ key }) => key),
  );
  const stored = new Map(entries.map(({ key }, place) => [textOf(key), found[place]]));
  return page.filter(({ key, row }) =>
    Array.from(entriesByText(index, key, row)).some(
      ([text, entry]) => !isSame(stored.get(text), entry),
    ),
  );
}

/** Whether a row was found, and has the same JSON. The realms of the two may be different ones. */
function isSame(found: unknown, row: object): boolean {
  const plain = (json: object) => JSON.parse(JSON.stringify(json));
  return typeof found === 'object' && isDeepStrictEqual(plain(found ?? {}), plain(row));
}

async function entriesThatDiffer(
  store: Store,
  table: Table,
  index: Index,
  page: readonly Entry<object>[],
) {
  const keys = page.map((entry) => index.rowKeyOf(entry));
  const rows = await readAll(store, table, keys);
  return page.filter(({ key }, place) => {
    const row = rows[place];
    if (row === UNREADABLE) return false;
    return !entriesByText(index, keys[place] ?? [], row).has(textOf(key));
  });
}

async function hasItsEntries(store: Store, table: Table, index: Index, key: Key) {
  try {
    return await store.view((view) =>
      Array.from(entriesByText(index, key, view.get(table, key))).every(([text, entry]) =>
        isSame(view.get(index.table, keyOf(text)), entry),
      ),
    );
  } catch (error) {
    if (outageOf(error) === 'damaged') return false;
    throw error;
  }
}

async function hasItsRow(store: Store, table: Table, index: Index, key: Key): Promise<boolean> {
  return store.view((tx) => {
    const row = tx.get(index.table, key);
    if (row === undefined) return true;
    const rowKey = index.rowKeyOf({ key, row });
    return entriesByText(index, rowKey, tx.get(table, rowKey)).has(textOf(key));
  });
}
