// The lock of a data folder's embedded stores: shared by any number of processes, or exclusive.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { fileIn, LMDB_OPTIONS, requireRoom } from './file.lmdb.ts';
import { openError, refuseFullDisk } from './health.lmdb.ts';
import { makePrivateFolder } from './private.ts';

type Hold = {
  /** Calling it again has no effect. */
  release(): Promise<void>;
};

/**
 * Holds the stores of `dataDir` with others. Waits while a process holds them exclusively. The
 * kernel ends a hold with its process, however that ends.
 */
export async function holdDataDir(dataDir: string): Promise<Hold> {
  const lock = openLock(dataDir, 'lock');
  // Nobody holds them exclusively inside this transaction, and the snapshot is in LMDB's table of
  // readers when it ends. It never waits for the event loop, which another opener here may block.
  const snapshot = lock.transactionSync(() => lock.useReadTransaction());
  let isReleased = false;
  return {
    async release() {
      if (isReleased) return;
      isReleased = true;
      snapshot.done();
      await lock.close();
    },
  };
}

/**
 * Runs `work` while nobody has a store of `dataDir` open, and nobody can open one. Without running
 * it, resolves to undefined if somebody has. Waits for another exclusive holder.
 */
export function withDataDirAlone<T>(
  dataDir: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  return inTransaction(dataDir, 'lock', async (lock) => {
    lock.readerCheck(); // Removes those of processes that were killed.
    return /\d/.test(lock.readerList()) ? undefined : work();
  });
}

/**
 * Runs `work` after others that have called this for `dataDir`, in whatever process. Rejects, and
 * does not run it, if the disk is full.
 */
export function oneErasureAtATime<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  return inTransaction(dataDir, join('lock', 'erasing'), () => {
    refuseFullDisk(dataDir);
    return work();
  });
}

/** LMDB's lock of writers is a robust mutex, so that a killed process does not keep it. */
async function inTransaction<T>(
  dataDir: string,
  name: string,
  work: (lock: RootDatabase) => Promise<T>,
): Promise<T> {
  const lock = openLock(dataDir, name);
  try {
    return await lock.transaction(() => work(lock));
  } finally {
    await lock.close();
  }
}

/**
 * An environment that has no data. Opening it blocks this process while another one is in a
 * transaction.
 */
function openLock(dataDir: string, name: string): RootDatabase {
  const path = makePrivateFolder(dataDir, name);
  requireRoom(path);
  try {
    removeDamaged(fileIn(path));
    return open({ ...LMDB_OPTIONS, path });
  } catch (error) {
    throw openError(path, error);
  }
}

/** What an LMDB file begins with on this machine, and where (mdb.c). */
const MAGIC = { at: 24, hex: 'dec0efbe' };
const PAGE_NUMBER_BYTES = 8;

/**
 * Removes the data file unless it is as LMDB makes it: two pages that differ in their numbers only.
 * lmdb would end the process on any other. Those who have it open are not concerned: transactions
 * and readers are in the lock file beside it, which LMDB itself makes anew.
 */
function removeDamaged(file: string): void {
  if (!existsSync(file)) return;
  const content = readFileSync(file);
  const half = content.length / 2;
  const withoutNumber = (at: number) => content.subarray(at + PAGE_NUMBER_BYTES, at + half);
  const isLmdb = content.toString('hex', MAGIC.at, MAGIC.at + 4) === MAGIC.hex;
  if (!isLmdb || !withoutNumber(0).equals(withoutNumber(half))) rmSync(file);
}
