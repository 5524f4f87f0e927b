// Replaces the embedded stores by copies without freed pages, while they are in use.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '../../environment.ts';
import { refuseDamage } from '../health.ts';
import { isStoreOf } from '../lmdb.ts';
import { EMBEDDED_STORES, PRIVATE_FOLDER, restrictFiles, type StoreName } from '../private.ts';
import { writeError } from './guard.lmdb.ts';
import { type Mark, markOf, putMark, removeMark } from './mark.lmdb.ts';
import { closeOpened, type Opened, openCurrent } from './open.ts';
import {
  FIRST,
  fileIn,
  folderOf,
  type Generation,
  isBeingMade,
  keepAlive,
  lastSign,
  namedGeneration,
  nameGeneration,
  nextGeneration,
  type Place,
  placeOf,
  removeGeneration,
  removeOthers,
  syncFolder,
} from './place.ts';
import { clearSlack } from './slack.ts';

export type Compacted = { store: StoreName; bytesBefore: number; bytes: number };

/** Another process compacts the same store. */
export class AlreadyCompacting extends Error {}

/** A copy is void, and made again, if this process was stopped for so long that writes went on. */
const ATTEMPTS = 5;
const ALIVE_MS = 200;
/** Clearing the slack has looked at every page already. */
const LOOKED_AT = 1_000;
const POLL_MS = 50;

/**
 * Compacts each store of `dataDir` in turn: what was deleted is in no file afterwards. Others may
 * use the stores meanwhile: reads go on, and a write waits while its store is copied, at most 2 s,
 * then it rejects as an outage. No write that was acknowledged is lost. Killed at any point, it can
 * be repeated. Rejects with AlreadyCompacting if another process is at it, and if there is nothing.
 */
export async function compactStores(
  dataDir: string,
  environment: Environment,
): Promise<Compacted[]> {
  const stores = EMBEDDED_STORES.filter((name) =>
    existsSync(fileIn(placeOf(dataDir, name), FIRST)),
  );
  if (stores.length === 0) throw new Error(`there is no store in ${dataDir}`);
  const compacted: Compacted[] = [];
  for (const name of stores)
    compacted.push(await compactStore(placeOf(dataDir, name), environment));
  return compacted;
}

async function compactStore(place: Place, environment: Environment): Promise<Compacted> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const opened = openCurrent(place, namedGeneration(place));
    try {
      const isOwned = isStoreOf(opened.root, place.name, environment);
      await refuseAnother(place, opened);
      const bytesBefore = statSync(fileIn(place, opened.generation)).size;
      // A store that is just being created has nothing that could be deleted.
      const generation = isOwned ? await replace(place, opened) : opened.generation;
      if (generation === undefined) continue;
      return { store: place.name, bytesBefore, bytes: statSync(fileIn(place, generation)).size };
    } finally {
      await closeOpened(opened);
    }
  }
  throw new Error(`${place.path} cannot be compacted: others write to it`);
}

/** Rejects if another process compacts the store; one that was killed does not. */
async function refuseAnother(place: Place, { root, generation }: Opened): Promise<void> {
  const made = () => {
    const mark = markOf(root, generation);
    return mark === undefined || mark.isMoved ? undefined : mark.to;
  };
  const to = made();
  if (to === undefined) return;
  const before = lastSign(place, to);
  while (made() === to && isBeingMade(place, to)) {
    if (lastSign(place, to) !== before) throw another(place);
    await pause(POLL_MS);
  }
}

function another({ path }: Place): AlreadyCompacting {
  return new AlreadyCompacting(`${path} is being compacted by another process`);
}

/** Returns the generation that has replaced the open one; undefined if it has to be repeated. */
async function replace(place: Place, opened: Opened): Promise<Generation | undefined> {
  const to = nextGeneration(place, opened.generation, randomBytes(4).toString('hex'));
  if (!(await holdWrites(place, opened, to))) return undefined;
  const timer = setInterval(() => keepAlive(place, to), ALIVE_MS);
  try {
    // What an earlier one has left that was killed.
    finish(place, opened.generation, to);
    await copy(place, opened, to);
    if (!(await move(opened, to))) return undefined;
  } catch (error) {
    await letWritesGo(opened, to).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(timer);
    if (!hasMoved(opened, to)) removeGeneration(place, to);
  }
  finish(place, to);
  return to;
}

/** From now on, nobody writes to what is open. False if it is no longer the store. */
function holdWrites(place: Place, opened: Opened, to: Generation): Promise<boolean> {
  return change(opened, (mark) => {
    if (mark?.isMoved) return false;
    if (mark !== undefined && isBeingMade(place, mark.to)) throw another(place);
    mkdirSync(folderOf(place, to), { mode: PRIVATE_FOLDER });
    const { root, generation } = opened;
    putMark(root, { from: generation, to, since: Date.now(), isMoved: false });
    return true;
  });
}

/** Makes a copy that is complete and on disk, and has only what is not deleted. */
async function copy(place: Place, { root }: Opened, to: Generation): Promise<void> {
  const [folder, file] = [folderOf(place, to), fileIn(place, to)];
  try {
    await root.backup(folder, true);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} cannot be written: ${why}`, { cause: error });
  }
  restrictFiles(folder);
  await clearSlack(file);
  const written = await openFile(file, 'r');
  await written.sync().finally(() => written.close());
  syncFolder(folder);
  syncFolder(dirname(folder));
  refuseDamage(file, LOOKED_AT);
}

/** Makes the copy the store. False if somebody has written meanwhile. */
function move(opened: Opened, to: Generation): Promise<boolean> {
  return change(opened, (mark) => {
    if (mark?.to !== to) return false;
    putMark(opened.root, { ...mark, isMoved: true });
    return true;
  });
}

function letWritesGo(opened: Opened, to: Generation): Promise<boolean> {
  return change(opened, (mark) => {
    if (mark?.to !== to || mark.isMoved) return false;
    removeMark(opened.root);
    return true;
  });
}

function hasMoved({ root, generation }: Opened, to: Generation): boolean {
  const mark = markOf(root, generation);
  return mark?.to === to && mark.isMoved;
}

async function change(
  { root, generation, health }: Opened,
  act: (mark: Mark | undefined) => boolean,
): Promise<boolean> {
  try {
    const result = await root.transaction(() => act(markOf(root, generation)));
    await root.flushed;
    return result;
  } catch (error) {
    throw await writeError(error, health);
  }
}

/** Names the generation that is the store, and removes all others but that which is being made. */
function finish(place: Place, current: Generation, made = current): void {
  if (namedGeneration(place) !== current) nameGeneration(place, current);
  removeOthers(place, current, made);
}
