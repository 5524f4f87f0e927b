// Turns what LMDB does with a damaged file or a full disk into errors of the operation that met it.
import { getSystemErrorName } from 'node:util';
import type { Database, DatabaseOptions, GetOptions, Key, RootDatabase } from 'lmdb';
import type { StoreHealth } from './health.ts';

/**
 * Guards the methods of a store and of the tables that it opens from now on: each one throws or
 * rejects if the store is damaged, and a write that fails rejects with the reason. Write only in
 * transactions: lmdb reports the failure of any other write outside of it, which ends the process.
 */
export function guardStore(root: RootDatabase, health: StoreHealth): void {
  guardReads(root, health);
  const openDB = root.openDB.bind(root);
  const openTable = (options: DatabaseOptions & { name: string }) => {
    const table = openDB(options);
    guardReads(table, health);
    return table;
  };
  Object.assign(root, {
    openDB: openTable,
    transaction: guardWrite(root.transaction.bind(root), health),
    childTransaction: guardWrite(root.childTransaction.bind(root), health),
  });
}

type Begin = <T>(change: () => T) => Promise<T>;

function guardWrite(begin: Begin, health: StoreHealth): Begin {
  return async (change) => {
    health.check();
    try {
      return await begin(change);
    } catch (error) {
      throw health.examine(await reasonOf(error, health));
    }
  };
}

function guardReads(table: Database, health: StoreHealth): void {
  guardDecoder(table, health);
  const get = table.get.bind(table);
  table.get = (key: Key, options?: GetOptions) => {
    health.check();
    try {
      return get(key, options);
    } catch (error) {
      // What lmdb throws for a value that is not JSON, by its name: it may be of another realm.
      const { name } = error as { name?: unknown };
      throw name === 'SyntaxError' ? health.foundBadValue(error) : health.examine(error);
    }
  };
  for (const name of ['doesExist', 'getRange', 'getKeys', 'getKeysCount'] as const) {
    // Cast: TypeScript cannot tell which of the four the arguments are for.
    const read = table[name].bind(table) as (...args: unknown[]) => unknown;
    const guarded = (...args: unknown[]) => {
      health.check();
      return read(...args);
    };
    Object.assign(table, { [name]: guarded });
  }
}

/** For MessagePack, whose errors have no class of their own. */
function guardDecoder(table: Database, health: StoreHealth): void {
  const { decoder } = table as { decoder?: { decode(bytes: unknown, options?: unknown): unknown } };
  if (decoder === undefined) return;
  const decode = decoder.decode.bind(decoder);
  decoder.decode = (bytes, options) => {
    try {
      return decode(bytes, options);
    } catch (error) {
      throw health.foundBadValue(error);
    }
  };
}

/** The reason of a failed commit, or the error itself. A system error gets its name as its code. */
async function reasonOf(error: unknown, health: StoreHealth): Promise<unknown> {
  // lmdb's error has a promise, which ends the process if nobody handles its rejection.
  const { commitError } = error as { commitError?: Promise<never> };
  const reason = (await commitError?.catch((why: unknown) => why)) ?? error;
  const { code, message } = reason as { code?: unknown; message?: string };
  // LMDB's own codes are negative (lmdb.h), those of the system positive.
  if (typeof code !== 'number' || code <= 0) return reason;
  const name = getSystemErrorName(-code);
  // LMDB's word for a write that the disk took only a part of.
  const isFull = name === 'EIO' && health.isDiskFull();
  return Object.assign(new Error(message, { cause: reason }), { code: isFull ? 'ENOSPC' : name });
}
