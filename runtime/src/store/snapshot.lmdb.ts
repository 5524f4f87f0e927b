// One snapshot of an LMDB store, which a verification reads.
import type { Database, Key, RootDatabase, Transaction } from 'lmdb';
import type { Environment } from '../environment.ts';
import { type Inspection, UNREADABLE } from './inspection.ts';
import { openLmdb } from './lmdb.ts';
import type { StoreName } from './private.ts';

/** The records of a table as they were when the snapshot was taken. */
export type Snapshot = ReturnType<typeof snapshotOf>;

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

/** Returns a function that opens a store and runs `check` on one snapshot of it. */
export function lmdbVerifier<Tables>(
  name: StoreName,
  openTables: (root: RootDatabase) => Tables | Promise<Tables>,
  check: (tables: Tables, snapshot: Snapshot, inspection: Inspection) => number | Promise<number>,
) {
  return async (dataDir: string, environment: Environment, inspection: Inspection) => {
    const { root } = await openLmdb(dataDir, name, environment);
    try {
      const tables = await openTables(root);
      return await withSnapshot(root, async (snapshot) => check(tables, snapshot, inspection));
    } finally {
      await root.close();
    }
  };
}

// lmdb modifies its options, so each call gets an object of its own.
function snapshotOf(transaction: Transaction) {
  const keys = <K extends Key>(table: Database<unknown, K>): Iterable<K> =>
    table.getKeys({ transaction });
  const get = <V, K extends Key>(table: Database<V, K>, key: K) => {
    try {
      return table.get(key, { transaction });
    } catch {
      return UNREADABLE;
    }
  };
  return {
    get,
    keys,
    /** The keys from `start`, which may be the beginning of a key. */
    keysFrom: <K extends Key>(table: Database<unknown, K>, start: Key): Iterable<K> =>
      table.getKeys({ start, transaction }),
    /** In the order of their keys. `onUnreadable` gets the key of each that cannot be decoded. */
    *records<V, K extends Key>(table: Database<V, K>, onUnreadable: (key: K) => void) {
      for (const key of keys(table)) {
        const value = get(table, key);
        if (value === UNREADABLE) onUnreadable(key);
        else if (value !== undefined) yield { key, value };
      }
    },
    count: (table: Database<unknown, Key>) => table.getKeysCount({ transaction }),
  };
}
