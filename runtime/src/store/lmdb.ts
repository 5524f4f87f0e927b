// Opens an embedded store: an LMDB database in a folder, owned by one environment.
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { type Environment, refuseForeignStore } from '../environment.ts';
import {
  environmentOf,
  FORMATS,
  markedEnvironment,
  type Ownership,
  ownershipOf,
  readableFormat,
} from './format.ts';
import { Follower, type StoreRoot } from './generations/follow.lmdb.ts';
import { openCurrent } from './generations/open.ts';
import { FIRST, fileIn, namedGeneration, placeOf } from './generations/place.ts';
import { makePrivateFolder, type StoreName } from './private.ts';

export type EmbeddedStore = {
  /**
   * Its reads throw, and its transactions reject, if the store is damaged or cannot be written.
   * Write only in transactions, and iterate within one tick.
   */
  root: StoreRoot;
  /** Resolves unless the store is damaged. */
  ready(): Promise<void>;
};

/** Brings a store from any older format to this version's. It may be repeated, and killed. */
export type LmdbMigration = (root: StoreRoot) => Promise<void>;

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
  makePrivateFolder(dataDir, name);
  const place = placeOf(dataDir, name);
  const created = statSync(fileIn(place, FIRST), { throwIfNoEntry: false });
  if (created?.size === 0) await pause(CREATION_MS);
  const follower = new Follower(place, openCurrent(place, namedGeneration(place)));
  const { root } = follower;
  try {
    const format = await claim(root, name, environment);
    if (format < FORMATS[name] && migrate !== undefined)
      await migrateStore(root, name, environment, migrate);
    return { root, ready: async () => follower.ready() };
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
  const owner =
    ownerOf(root) ??
    (await root.transaction((): Ownership => {
      const known = ownerOf(root);
      if (known !== undefined) return known;
      const fresh = ownershipOf(name, environment);
      for (const [key, value] of Object.entries(fresh)) root.put(key, value);
      return fresh;
    }));
  return ownedFormat(name, owner, environment);
}

/** The format of a store. Throws if it belongs to another environment, or is of a newer version. */
function ownedFormat(name: StoreName, owner: Ownership, environment: Environment): number {
  refuseForeignStore(name, environmentOf(owner), environment);
  return readableFormat(name, owner);
}

/**
 * False if it belongs to no environment yet. Throws if it belongs to another one, or is of a newer
 * version.
 */
export function isStoreOf(root: RootDatabase, name: StoreName, environment: Environment): boolean {
  const owner = ownerOf(root);
  return owner !== undefined && ownedFormat(name, owner, environment) > 0;
}

function ownerOf(root: RootDatabase): Ownership | undefined {
  const environment: string | undefined = root.get('environment');
  return environment === undefined
    ? undefined
    : { environment, formatVersion: root.get('formatVersion') };
}

async function migrateStore(
  root: StoreRoot,
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

/** The file that an embedded store is in now. */
export function fileOf(dataDir: string, name: StoreName): string {
  const place = placeOf(dataDir, name);
  return fileIn(place, namedGeneration(place));
}
