// Opens the environment that is the store now, and lets go of it when nothing uses it any more.
import { existsSync } from 'node:fs';
import { type Database, type DatabaseOptions, open, type RootDatabase } from 'lmdb';
import { refuseDamage, StoreHealth } from '../health.ts';
import { PRIVATE_FILE, restrictFiles } from '../private.ts';
import { guardDecoder } from './guard.lmdb.ts';
import { markOf } from './mark.lmdb.ts';
import {
  FIRST,
  fileIn,
  folderOf,
  type Generation,
  namedGeneration,
  type Place,
  removeGeneration,
} from './place.ts';

export type TableOptions = DatabaseOptions & { name: string };

/** An environment that is open. */
export type Opened = {
  generation: Generation;
  root: RootDatabase;
  /** In the order in which they were first opened. */
  tables: Database[];
  health: StoreHealth;
  /** Transactions, snapshots and copies that have not ended. */
  uses: number;
};

/** More than the generations that a store can go through while it is being opened. */
const ATTEMPTS = 20;

/**
 * Opens the generation that is the store now: `from`, or that which it leads to. With `isTrusted`,
 * its pages are not looked at first.
 */
export function openCurrent(place: Place, from: Generation, isTrusted = false): Opened {
  let generation = from;
  let failure: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const opened = openGeneration(place, generation, isTrusted);
      const mark = markOf(opened.root, generation);
      if (mark?.isMoved !== true) return opened;
      void closeOpened(opened);
      generation = mark.to;
    } catch (error) {
      failure = error;
      // It may have been replaced meanwhile.
      const named = namedGeneration(place);
      if (named === generation) throw error;
      generation = named;
    }
  }
  throw failure;
}

export function openTable({ root, health, tables }: Opened, options: TableOptions): void {
  // lmdb modifies its options, so each call gets an object of its own.
  const table = root.openDB({ ...options });
  guardDecoder(table, health);
  tables.push(table);
}

export async function closeOpened({ root, health }: Opened): Promise<void> {
  await root.close();
  health.close();
}

function openGeneration(place: Place, generation: Generation, isTrusted: boolean): Opened {
  const [folder, file] = [folderOf(place, generation), fileIn(place, generation)];
  if (generation !== FIRST && !existsSync(file)) throw new Error(`${file} is missing`);
  if (!isTrusted && existsSync(file)) refuseDamage(file);
  const root = openFile(folder, file);
  restrictFiles(folder); // A umask may have taken more from the new files.
  const opened = { generation, root, tables: [], health: new StoreHealth(file), uses: 0 };
  guardDecoder(root, opened.health);
  if (generation === FIRST || root.doesExist('environment')) return opened;
  // The file was removed before LMDB opened it, which has created it anew.
  void closeOpened(opened);
  removeGeneration(place, generation);
  throw new Error(`${file} is missing`);
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
