// The file of an embedded store, and how LMDB opens it.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase, type RootDatabaseOptions } from 'lmdb';
import { openError, refuseCutOff, refuseForeignFile, refuseFullDisk } from './health.lmdb.ts';
import { EMBEDDED_STORES, PRIVATE_FILE, type StoreName } from './private.ts';

export const LMDB_OPTIONS: RootDatabaseOptions = {
  // It is no part of the file.
  maxDbs: 128,
  // With overlapping syncs, killing a process during one makes the next commit of another panic.
  overlappingSync: false,
  // Otherwise a failed commit rejects a promise inside lmdb, which ends the process.
  eventTurnBatching: false,
  // lmdb reads this, but its types do not have it.
  ...{ permissionsMode: PRIVATE_FILE },
};

export function fileIn(folder: string): string {
  return join(folder, 'data.mdb');
}

export function fileOf(dataDir: string, name: StoreName): string {
  return fileIn(join(dataDir, name));
}

/** The stores that a data folder has. Throws if it has none. */
export function storesIn(dataDir: string): StoreName[] {
  const stores = EMBEDDED_STORES.filter((name) => existsSync(fileOf(dataDir, name)));
  if (stores.length === 0) throw new Error(`there is no store in ${dataDir}`);
  return stores;
}

/** LMDB maps its lock file before it has room for it: on a full disk, that ends the process. */
export function requireRoom(folder: string): void {
  for (const file of [fileIn(folder), join(folder, 'lock.mdb')])
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${file} is a folder, not a file of the store: move it away`);
  if (!existsSync(join(folder, 'lock.mdb'))) refuseFullDisk(folder);
}

/** Opens the environment in a folder. Its error names the file, which LMDB's own does not. */
export function openFile(folder: string, options: RootDatabaseOptions): RootDatabase {
  const file = fileIn(folder);
  requireRoom(folder);
  refuseForeignFile(file);
  let root: RootDatabase | undefined;
  try {
    const isNew = !existsSync(file);
    root = open({ ...options, path: folder });
    if (!isNew) refuseCutOff(file, root);
    return root;
  } catch (error) {
    void root?.close();
    throw openError(file, error);
  }
}
