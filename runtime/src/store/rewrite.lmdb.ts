// Rewrites embedded stores: a copy without what was erased takes the place of each.
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../environment.ts';
import { type CopyProgress, copyStore, syncToDisk } from './copy.lmdb.ts';
import { fileOf, storesIn } from './file.lmdb.ts';
import { withDataDirAlone } from './lock.lmdb.ts';
import {
  COPY,
  EMBEDDED_STORES,
  ERASED,
  makePrivateFolder,
  PRIVATE_FILE,
  type StoreName,
} from './private.ts';

export type Rewritten = { store: StoreName; bytesBefore: number; bytes: number };
export type RewriteProgress = (store: StoreName, ...progress: Parameters<CopyProgress>) => void;

/** Says, for the next rewrite, that records are about to be erased. */
export function markErased(dataDir: string, store: StoreName): void {
  const folder = makePrivateFolder(dataDir, store);
  const file = join(folder, ERASED);
  if (existsSync(file)) return;
  writeFileSync(file, 'records were erased: the next rewrite of data.mdb clears them\n', {
    mode: PRIVATE_FILE,
  });
  syncToDisk(file);
  syncToDisk(folder);
}

/**
 * Rewrites all stores of `dataDir`. Undefined, and nothing is changed, if another process has one
 * open. Killed at any point, it leaves each store as it was or rewritten.
 */
export function rewriteStores(
  dataDir: string,
  environment: Environment,
  onProgress?: RewriteProgress,
): Promise<Rewritten[] | undefined> {
  const stores = storesIn(dataDir);
  return withDataDirAlone(dataDir, () => rewriteEach(dataDir, stores, environment, onProgress));
}

/**
 * Does what rewriteStores does, but only to the stores from which something was erased since they
 * were rewritten. Also removes what a process has left that was killed while it rewrote them.
 */
export async function rewriteErased(
  dataDir: string,
  environment: Environment,
  onProgress?: RewriteProgress,
): Promise<Rewritten[] | undefined> {
  const having = (entry: string) =>
    EMBEDDED_STORES.filter(
      (store) => existsSync(fileOf(dataDir, store)) && existsSync(join(dataDir, store, entry)),
    );
  if (having(ERASED).length + having(COPY).length === 0) return [];
  return withDataDirAlone(dataDir, () => {
    for (const store of having(COPY)) removeCopy(dataDir, store);
    // Another process may have rewritten them meanwhile.
    return rewriteEach(dataDir, having(ERASED), environment, onProgress);
  });
}

async function rewriteEach(
  dataDir: string,
  stores: StoreName[],
  environment: Environment,
  onProgress: RewriteProgress = () => {},
): Promise<Rewritten[]> {
  const rewritten: Rewritten[] = [];
  for (const store of stores) {
    const folder = join(dataDir, store);
    const bytesBefore = statSync(fileOf(dataDir, store)).size;
    removeCopy(dataDir, store);
    try {
      const copyDir = join(folder, COPY);
      const bytes = await copyStore([dataDir, copyDir], store, environment, (...progress) =>
        onProgress(store, ...progress),
      );
      renameSync(fileOf(copyDir, store), fileOf(dataDir, store));
      syncToDisk(folder);
      rewritten.push({ store, bytesBefore, bytes });
    } finally {
      removeCopy(dataDir, store);
    }
    rmSync(join(folder, ERASED), { force: true });
    syncToDisk(folder);
  }
  return rewritten;
}

function removeCopy(dataDir: string, store: StoreName): void {
  rmSync(join(dataDir, store, COPY), { recursive: true, force: true });
}
