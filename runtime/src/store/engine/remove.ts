// Removes many rows of a store in slices: others have their turn after each.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Key } from './keys.ts';
import type { Range, Store, Table } from './store.ts';

const SLICE = 200;

export async function removeRows(store: Store, table: Table, keys: readonly Key[]): Promise<void> {
  for (let from = 0; from < keys.length; from += SLICE) {
    await store.transact((tx) => {
      for (const key of keys.slice(from, from + SLICE)) tx.remove(table, key);
    });
    await nextTurn();
  }
}

export async function removeRange(
  store: Store,
  table: Table,
  range: Omit<Range, 'limit'>,
): Promise<void> {
  for (let count = SLICE; count === SLICE; ) {
    const keys = await store.keys(table, { ...range, limit: SLICE });
    await removeRows(store, table, keys);
    count = keys.length;
  }
}
