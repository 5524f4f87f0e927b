// Copies the embedded stores while they are in use.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Environment } from '../environment.ts';
import { fileOf, openLmdb } from './lmdb.ts';
import { EMBEDDED_STORES, makePrivateFolder, restrictFiles, type StoreName } from './private.ts';

export type StoreCopy = { store: StoreName; bytes: number };

/**
 * Copies the stores of `dataDir` into a folder that is empty or does not exist, and can then serve
 * as a DATA_DIR. Each copy is the store at one moment, without freed pages; other processes may
 * write meanwhile. The folder appears when all copies are complete and on disk. Rejects if there is
 * nothing to copy.
 */
export async function backupStores(
  dataDir: string,
  environment: Environment,
  target: string,
): Promise<StoreCopy[]> {
  const folder = resolve(target);
  refuseUsed(folder);
  const stores = EMBEDDED_STORES.filter((name) => existsSync(fileOf(dataDir, name)));
  if (stores.length === 0) throw new Error(`there is no store in ${dataDir}`);
  mkdirSync(dirname(folder), { recursive: true });
  const partial = mkdtempSync(`${folder}.partial-`);
  try {
    const copies: StoreCopy[] = [];
    for (const store of stores)
      copies.push({ store, bytes: await copyStore(dataDir, store, environment, partial) });
    syncToDisk(partial);
    renameSync(partial, folder);
    syncToDisk(dirname(folder));
    return copies;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

function refuseUsed(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory() || readdirSync(folder).length > 0)
    throw new Error(`${folder} is not an empty folder`);
}

/** Returns the size of the copy. */
async function copyStore(
  dataDir: string,
  name: StoreName,
  environment: Environment,
  into: string,
): Promise<number> {
  const { root } = await openLmdb(dataDir, name, environment);
  try {
    const folder = makePrivateFolder(into, name);
    await root.backup(folder, true);
    restrictFiles(folder);
  } finally {
    await root.close();
  }
  const file = fileOf(into, name);
  syncToDisk(file);
  syncToDisk(dirname(file));
  return statSync(file).size;
}

function syncToDisk(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
