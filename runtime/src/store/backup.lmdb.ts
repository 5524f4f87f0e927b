// Copies the embedded stores while they are in use.
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../environment.ts';
import { copyStore, syncToDisk } from './copy.lmdb.ts';
import { storesIn } from './file.lmdb.ts';
import { holdDataDir } from './lock.lmdb.ts';
import { makeFolder, type StoreName } from './private.ts';

type StoreCopy = { store: StoreName; bytes: number };

/**
 * Copies the stores of `dataDir` into a folder that is empty or does not exist, and can then serve
 * as a DATA_DIR. Each copy is the store at one moment, without anything that was deleted; other
 * processes may write meanwhile. The folder appears when all copies are complete and on disk.
 * Rejects if there is nothing to copy.
 */
export async function backupStores(
  dataDir: string,
  environment: Environment,
  target: string,
): Promise<StoreCopy[]> {
  const folder = resolve(target);
  refuseUsed(folder);
  const stores = storesIn(dataDir);
  const hold = await holdDataDir(dataDir);
  try {
    makeFolder(dirname(folder));
    const partial = mkdtempSync(`${folder}.partial-`);
    try {
      const copies: StoreCopy[] = [];
      for (const store of stores)
        copies.push({ store, bytes: await copyStore([dataDir, partial], store, environment) });
      // Only this process has opened the copies.
      for (const store of stores) rmSync(join(partial, store, 'lock.mdb'));
      syncToDisk(partial);
      moveTo(partial, folder);
      syncToDisk(dirname(folder));
      return copies;
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      throw error;
    }
  } finally {
    await hold.release();
  }
}

/** Another backup may have filled the folder meanwhile. */
function moveTo(partial: string, folder: string): void {
  try {
    renameSync(partial, folder);
  } catch (error) {
    refuseUsed(folder);
    throw error;
  }
}

function refuseUsed(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory() || readdirSync(folder).length > 0)
    throw new Error(`${folder} is not an empty folder`);
}
