// Where an embedded store's environment is: `data.mdb` itself, or the folder that `data.mdb` names.
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE, type StoreName } from '../private.ts';

/** The folder of a store. */
export type Place = { path: string; name: StoreName };
/**
 * The name of a folder that a compacted copy is in, which no other copy ever gets; or FIRST, for
 * the environment that the store was created with.
 */
export type Generation = string;

export const FIRST: Generation = '';

const GENERATION = /^[1-9]\d{0,8}-[0-9a-f]{8}$/;
const POINTER = /^moved to ([1-9]\d{0,8}-[0-9a-f]{8})\n/;
const POINTER_BYTES = 64;
const NEW_POINTER = 'data.mdb.new';
/** A compacting process sets the time of its folder more often than this. */
const LEASE_MS = 2_000;

export function placeOf(dataDir: string, name: StoreName): Place {
  return { path: join(dataDir, name), name };
}

export function folderOf({ path }: Place, generation: Generation): string {
  return join(path, generation);
}

export function fileIn(place: Place, generation: Generation): string {
  return join(folderOf(place, generation), 'data.mdb');
}

/**
 * The generation that `data.mdb` names. Throws if that file is gone and another generation is not:
 * nobody knows then which one is the store.
 */
export function namedGeneration(place: Place): Generation {
  const file = fileIn(place, FIRST);
  if (!existsSync(file)) {
    if (generationsIn(place).length === 0) return FIRST;
    throw new Error(`${file} is missing, which says where the store is`);
  }
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(POINTER_BYTES);
    const length = readSync(fd, bytes, 0, POINTER_BYTES, 0);
    return POINTER.exec(bytes.toString('latin1', 0, length))?.[1] ?? FIRST;
  } finally {
    closeSync(fd);
  }
}

/** Replaces `data.mdb` by the name of a generation. The file that it was stays with who has it. */
export function nameGeneration(place: Place, generation: Generation): void {
  const file = join(place.path, NEW_POINTER);
  const fd = openSync(file, 'w', PRIVATE_FILE);
  try {
    writeSync(
      fd,
      `moved to ${generation}\nby loyalty compact: the folder of that name is the store\n`,
    );
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(file, fileIn(place, FIRST));
  syncFolder(place.path);
}

/** A name that no generation of this place has or had. */
export function nextGeneration(place: Place, after: Generation, random: string): Generation {
  const numbers = [after, ...generationsIn(place)].map((name) => Number.parseInt(name, 10) || 0);
  return `${Math.max(...numbers) + 1}-${random}`;
}

/** Removes everything of generations other than these two. */
export function removeOthers(place: Place, current: Generation, made: Generation): void {
  for (const generation of generationsIn(place))
    if (generation !== current && generation !== made) removeGeneration(place, generation);
  rmSync(join(place.path, NEW_POINTER), { force: true });
  if (current !== FIRST) rmSync(join(place.path, 'lock.mdb'), { force: true });
  syncFolder(place.path);
}

export function removeGeneration(place: Place, generation: Generation): void {
  if (generation === FIRST) throw new Error('the first generation is replaced, not removed');
  rmSync(folderOf(place, generation), { recursive: true, force: true });
}

/** Says that the process that makes a generation is alive. Nothing, if the folder was removed. */
export function keepAlive(place: Place, generation: Generation): void {
  const [folder, now] = [folderOf(place, generation), new Date()];
  if (existsSync(folder)) utimesSync(folder, now, now);
}

/** Whether the process that makes a generation has said lately that it is alive. */
export function isBeingMade(place: Place, generation: Generation): boolean {
  const sign = lastSign(place, generation);
  return sign !== undefined && Date.now() - sign < LEASE_MS;
}

/** When the process that makes a generation said that it is alive, in milliseconds since 1970. */
export function lastSign(place: Place, generation: Generation): number | undefined {
  return statSync(folderOf(place, generation), { throwIfNoEntry: false })?.mtimeMs;
}

export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function generationsIn({ path }: Place): Generation[] {
  if (!existsSync(path)) return [];
  return readdirSync(path).filter((entry) => GENERATION.test(entry));
}
