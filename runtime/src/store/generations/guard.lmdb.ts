// Turns what LMDB does with a damaged file or a full disk into errors of the operation that met it.
import { getSystemErrorName } from 'node:util';
import type { Database } from 'lmdb';
import type { StoreHealth } from '../health.ts';

/** The error to throw for one that a read has thrown. */
export function readError(error: unknown, health: StoreHealth): unknown {
  // What lmdb throws for a value that is not JSON, by its name: it may be of another realm.
  const { name } = error as { name?: unknown };
  return name === 'SyntaxError' ? health.foundBadValue(error) : health.examine(error);
}

/** The error to reject with for one that a transaction has rejected with. */
export async function writeError(error: unknown, health: StoreHealth): Promise<unknown> {
  return health.examine(await reasonOf(error, health));
}

/** For MessagePack, whose errors have no class of their own. */
export function guardDecoder(table: Database, health: StoreHealth): void {
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
