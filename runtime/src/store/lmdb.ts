// Opens an embedded store: an LMDB database in a folder, owned by one environment.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { type Environment, refuseForeignStore } from '../environment.ts';
import {
  environmentOf,
  FORMATS,
  markedEnvironment,
  type Ownership,
  ownershipOf,
  readableFormat,
} from './format.ts';
import { guardStore } from './guard.lmdb.ts';
import { refuseDamage, StoreHealth } from './health.ts';
import { makePrivateFolder, PRIVATE_FILE, restrictFiles, type StoreName } from './private.ts';

export type EmbeddedStore = {
  /**
   * Its reads throw, and its transactions reject, if the store is damaged or cannot be written.
   * Write only in transactions.
   */
  root: RootDatabase;
  /** Resolves unless the store is damaged. */
  ready(): Promise<void>;
};

/** Brings a store from any older format to this version's. It may be repeated, and killed. */
export type LmdbMigration = (root: RootDatabase) => Promise<void>;

/** Another process that creates the store at the same moment needs less. */
const CREATION_MS = 200;

/**
 * Opens `dataDir/name`, and creates it if it does not exist. Several processes of a machine may
 * have it open. Only its owner may read it. Throws if the store belongs to the other environment,
 * its format is newer than this version knows, its file is damaged or the folder is not writable.
 * `migrate` changes a store of an older format; without it, such a store is opened as it is.
 */
export async function openLmdb(
  dataDir: string,
  name: StoreName,
  environment: Environment,
  migrate?: LmdbMigration,
): Promise<EmbeddedStore> {
  const path = makePrivateFolder(dataDir, name);
  const file = fileOf(dataDir, name);
  if (existsSync(file)) {
    if (statSync(file).size === 0) await pause(CREATION_MS);
    refuseDamage(file);
  }
  const root = openFile(path, file);
  restrictFiles(path); // A umask may have taken more from the new files.
  const health = new StoreHealth(file);
  guardStore(root, health);
  const close = root.close.bind(root);
  root.close = async () => {
    await close();
    health.close();
  };
  try {
    const format = await claim(root, name, environment);
    if (format < FORMATS[name] && migrate !== undefined)
      await migrateStore(root, name, environment, migrate);
    return { root, ready: async () => health.checkReady() };
  } catch (error) {
    await root.close();
    throw error;
  }
}

/** Returns the format of the store. A store that is new gets this version's. */
async function claim(
  root: RootDatabase,
  name: StoreName,
  environment: Environment,
): Promise<number> {
  const owner = await root.transaction((): Ownership => {
    const known = ownerOf(root);
    if (known !== undefined) return known;
    const fresh = ownershipOf(name, environment);
    for (const [key, value] of Object.entries(fresh)) root.put(key, value);
    return fresh;
  });
  refuseForeignStore(name, environmentOf(owner), environment);
  return readableFormat(name, owner);
}

function ownerOf(root: RootDatabase): Ownership | undefined {
  const environment: string | undefined = root.get('environment');
  return environment === undefined
    ? undefined
    : { environment, formatVersion: root.get('formatVersion') };
}

async function migrateStore(
  root: RootDatabase,
  name: StoreName,
  environment: Environment,
  migrate: LmdbMigration,
): Promise<void> {
  const format = FORMATS[name];
  // From here on, no process of an older version can open the store.
  await root.transaction(() => root.put('environment', markedEnvironment(environment, format)));
  await migrate(root);
  await root.transaction(() => root.put('formatVersion', format));
  await root.flushed;
}

/** The format of a store that is open. */
export function formatOf(root: RootDatabase): number {
  return ownerOf(root)?.formatVersion ?? 1;
}

/** The file of an embedded store. */
export function fileOf(dataDir: string, name: StoreName): string {
  return join(dataDir, name, 'data.mdb');
}

/** Its error names the file, which LMDB's own does not. */
function openFile(path: string, file: string): RootDatabase {
  const options = {
    path,
    maxDbs: 16,
    // With overlapping syncs, killing a process during one makes the next commit of another panic.
    overlappingSync: false,
    // Otherwise a failed commit rejects a promise inside lmdb, which ends the process.
    eventTurnBatching: false,
    // lmdb reads this, but its types do not have it.
    permissionsMode: PRIVATE_FILE,
  };
  try {
    return open(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} cannot be opened: ${why}`, { cause: error });
  }
}
