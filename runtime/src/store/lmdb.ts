// Opens an embedded store: an LMDB database in a folder, owned by one environment.
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import type { Environment } from '../environment.ts';
import { fileOf, LMDB_OPTIONS, openFile } from './file.lmdb.ts';
import { guardReads, guardWrites, StoreHealth } from './health.lmdb.ts';
import { holdDataDir } from './lock.lmdb.ts';
import type { StoreState } from './outage.ts';
import { type Ownership, ownershipOf, refuseOwner } from './ownership.ts';
import { EMBEDDED_STORES, makePrivateFolder, restrictFiles, type StoreName } from './private.ts';

export type EmbeddedStore = {
  /**
   * Its reads throw, and its transactions reject, if the store is damaged or cannot be written. A
   * transaction resolves when it is on disk. Write only in transactions: lmdb reports the failure
   * of any other write outside of it, which ends the process. Iterate within one tick, or in a
   * snapshot.
   */
  root: RootDatabase;
  /** Rejects if the store is damaged. */
  ready(): Promise<StoreState>;
};

/** Another process that creates the store at the same moment needs less. */
const CREATION_MS = 2_000;
const LOOK_MS = 50;

/**
 * Opens `dataDir/name`, and creates it if it does not exist. Several processes of a machine may
 * have it open; while one rewrites the stores, this waits. Only its owner may read it. Throws if
 * the store belongs to the other environment, its format is newer than this version knows, its
 * file is damaged or the folder is not writable.
 */
export function openLmdb(
  dataDir: string,
  name: StoreName,
  environment: Environment,
): Promise<EmbeddedStore> {
  return oneAtATime(async () => {
    const file = resolve(fileOf(dataDir, name));
    const opened = openFiles.get(file) ?? (await openAlone(dataDir, name, () => close(file)));
    openFiles.set(file, opened);
    opened.holders += 1;
    try {
      await claim(opened.store.root, name, environment);
      return opened.store;
    } catch (error) {
      await close(file);
      throw error;
    }
  });
}

type OpenFile = { store: EmbeddedStore; holders: number; end(): Promise<void> };

/** A process opens a file once: two writers in it may wait for each other on its event loop. */
const openFiles = new Map<string, OpenFile>();

/**
 * lmdb opens in a transaction that blocks the process, while another transaction of the same
 * process may wait for its event loop.
 */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

let last: Promise<unknown> = Promise.resolve();

/** Closes it for one of its holders. */
async function close(file: string): Promise<void> {
  const opened = openFiles.get(file);
  if (opened === undefined) return;
  opened.holders -= 1;
  if (opened.holders > 0) return;
  openFiles.delete(file);
  await opened.end();
}

async function openAlone(
  dataDir: string,
  name: StoreName,
  onClose: () => Promise<void>,
): Promise<OpenFile> {
  const folder = makePrivateFolder(dataDir, name);
  const hold = await holdDataDir(dataDir);
  let root: RootDatabase | undefined;
  try {
    const file = fileOf(dataDir, name);
    const isEmpty = () => statSync(file, { throwIfNoEntry: false })?.size === 0;
    for (let waited = 0; isEmpty() && waited < CREATION_MS; waited += LOOK_MS) await pause(LOOK_MS);
    root = openFile(folder, LMDB_OPTIONS);
    const health = new StoreHealth(file);
    restrictFiles(folder); // A umask may have taken more from the new files.
    guardStore(root, health);
    const closeRoot = root.close.bind(root);
    root.close = () => oneAtATime(onClose);
    return {
      store: { root, ready: async () => health.checkReady() },
      holders: 0,
      async end() {
        await closeRoot();
        health.close();
        await hold.release();
      },
    };
  } catch (error) {
    await root?.close();
    await hold.release();
    throw error;
  }
}

/** Opens each store that exists. Rejects if one cannot be opened or has no room to write. */
export async function checkLmdb(dataDir: string, environment: Environment): Promise<StoreName[]> {
  const stores = EMBEDDED_STORES.filter((name) => existsSync(fileOf(dataDir, name)));
  for (const name of stores) {
    const { root, ready } = await openLmdb(dataDir, name, environment);
    const state = await ready().finally(() => root.close());
    if (state === 'full') throw new Error(`the ${name} store has no room to write`);
  }
  return stores;
}

export function ownerOf(root: RootDatabase): Ownership | undefined {
  const environment: string | undefined = root.get('environment');
  return environment === undefined
    ? undefined
    : { environment, formatVersion: root.get('formatVersion') };
}

/** A new store gets this environment and this version's format. */
async function claim(root: RootDatabase, name: StoreName, environment: Environment): Promise<void> {
  const owner =
    ownerOf(root) ??
    (await root.transaction((): Ownership => {
      const known = ownerOf(root);
      if (known !== undefined) return known;
      const fresh = ownershipOf(name, environment);
      for (const [key, value] of Object.entries(fresh)) root.put(key, value);
      return fresh;
    }));
  refuseOwner(name, owner, environment);
}

function guardStore(root: RootDatabase, health: StoreHealth): void {
  guardReads(root, health);
  guardWrites(root, health);
  const openDb = root.openDB.bind(root) as (options: object) => ReturnType<RootDatabase['openDB']>;
  // Cast: stores name their tables in the options.
  root.openDB = ((options: object) => {
    // lmdb modifies its options, so each call gets an object of its own.
    const table = openDb({ ...options });
    guardReads(table, health);
    return table;
  }) as RootDatabase['openDB'];
}
