// One snapshot of an LMDB store, which a verification reads.
import type { Database, Key, RootDatabase, Transaction } from 'lmdb';
import { UNREADABLE } from './inspection.ts';

/** The records of a table as they were when the snapshot was taken. */
export type Snapshot = {
  get<V, K extends Key>(table: Database<V, K>, key: K): V | typeof UNREADABLE | undefined;
  /** In the order of their keys. `onUnreadable` gets the key of each that cannot be decoded. */
  records<V, K extends Key>(
    table: Database<V, K>,
    onUnreadable: (key: K) => void,
  ): Iterable<{ key: K; value: V }>;
  keys<V, K extends Key>(table: Database<V, K>): Iterable<K>;
  /** From a key on, or from the beginning of one. */
  keysFrom<V, K extends Key>(table: Database<V, K>, start: Key): Iterable<K>;
  count(table: Database<unknown, Key>): number;
};

/**
 * Runs `read` on one snapshot of a store, which others may write to meanwhile. The tables have to
 * be open before: a snapshot has only those.
 */
export async function withSnapshot<T>(
  root: RootDatabase,
  read: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const transaction = root.useReadTransaction();
  try {
    return await read(snapshotOf(transaction));
  } finally {
    transaction.done();
  }
}

// lmdb modifies its options, so each call gets an object of its own.
function snapshotOf(transaction: Transaction): Snapshot {
  const keys: Snapshot['keys'] = (table) => table.getKeys({ transaction });
  const get: Snapshot['get'] = (table, key) => {
    try {
      return table.get(key, { transaction });
    } catch {
      return UNREADABLE;
    }
  };
  return {
    get,
    keys,
    keysFrom: (table, start) => table.getKeys({ start, transaction }),
    *records(table, onUnreadable) {
      for (const key of keys(table)) {
        const value = get(table, key);
        if (value === UNREADABLE) onUnreadable(key);
        else if (value !== undefined) yield { key, value };
      }
    },
    count: (table) => table.getKeysCount({ transaction }),
  };
}
