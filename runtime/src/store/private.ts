// Keeps the embedded store's files from other users of the machine.
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** The embedded stores, each a folder of this name. */
export const EMBEDDED_STORES = ['members', 'standings', 'graph', 'usage', 'keys'] as const;
export type StoreName = (typeof EMBEDDED_STORES)[number];
/** In the folder of a store: the copy that is being made, and a file that says what was erased. */
export const COPY = 'copy';
export const ERASED = 'erased';
/** What a data folder of this project contains. */
const OWN_NAMES = new Set<string>([...EMBEDDED_STORES, 'outbox', 'lastgraph', 'lock']);

/**
 * Creates `dataDir/name` for its owner only, whatever the umask, and takes other users' access
 * from it and the files in it. From the data folder too, unless it contains something else: it may
 * then be a folder like /tmp, whose mode is not ours to change. What belongs to another user stays
 * as it is.
 */
export function makePrivateFolder(dataDir: string, name: string): string {
  const path = join(dataDir, name);
  try {
    makeFolder(path, PRIVATE_FOLDER);
  } catch (error) {
    // Without the error as its cause: some are of outages, which a start does not end with.
    throw new Error(`DATA_DIR ${dataDir} cannot be made: ${(error as Error).message}`);
  }
  if (readdirSync(dataDir).every((entry) => OWN_NAMES.has(entry)))
    restrict(dataDir, PRIVATE_FOLDER);
  restrict(path, PRIVATE_FOLDER);
  restrictFiles(path);
  return path;
}

/** Makes a folder and those above it. Node's own way to do so never ends below /proc. */
export function makeFolder(path: string, mode?: number): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}

/** Takes other users' access from the files in a folder. */
export function restrictFiles(folder: string): void {
  for (const entry of readdirSync(folder)) restrict(join(folder, entry), PRIVATE_FILE);
}

/** Ignores links: what they lead to may be anything. */
function restrict(path: string, mode: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const kind = mode === PRIVATE_FOLDER ? stats?.isDirectory() : stats?.isFile();
  if (!stats || !kind || stats.uid !== process.geteuid?.() || (stats.mode & 0o777) === mode) return;
  chmodSync(path, mode);
}
