// Whether an embedded store's file is fit for use: what is found wrong with it, and when.
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { getSystemErrorName } from 'node:util';
import type { Database, RootDatabase } from 'lmdb';
import { outageOf, type StoreState } from './outage.ts';

const LOOK_MS = 2;
/** A transaction that writes less is rare. */
const FULL_BYTES = 65_536;
/** How long a store counts as full after a write that had no room, unless one succeeds. */
const NO_ROOM_MS = 60_000;
/** LMDB does not write pages that the same transaction frees: a file may lack so many. */
const UNWRITTEN_PAGES = 256;

/** LMDB's code for a page that is not what it should be (lmdb.h), which isOutage knows. */
const CORRUPTED = -30_796;
/** LMDB's codes for a damaged file: missing page, corrupted page, fatal error, not an LMDB file. */
const DAMAGE_CODES = new Set<unknown>([-30_797, CORRUPTED, -30_795, -30_793]);

/** A store whose file is damaged. The message names the file. */
export class StoreDamaged extends Error {
  readonly code = CORRUPTED;
  constructor(file: string, why: string, options?: ErrorOptions) {
    super(`${file} is damaged: ${why}. Restore the store from a backup`, options);
    this.name = 'StoreDamaged';
  }
}

/** The error to throw for one that opening a file has thrown. It names the file. */
export function openError(file: string, error: unknown): Error {
  if (error instanceof StoreDamaged) return error;
  const { code, message } = error as { code?: unknown; message?: string };
  if (DAMAGE_CODES.has(code)) return new StoreDamaged(file, `${message}`, { cause: error });
  return new Error(`${file} cannot be opened: ${message ?? error}`, { cause: error });
}

/** The number that the two head pages of an LMDB file begin with, after 24 bytes (mdb.c). */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const PAGE_BYTES_AT = 48;

/**
 * Throws StoreDamaged if a file, which may be absent, is not one of LMDB: lmdb would end the
 * process on it, and take an empty one for a new store.
 */
export function refuseForeignFile(file: string): void {
  if (!existsSync(file)) return;
  const fd = openSync(file, 'r');
  try {
    const numberAt = (position: number) => {
      const bytes = Buffer.alloc(4);
      return readSync(fd, bytes, 0, 4, position) === 4 ? bytes.readUInt32LE() : undefined;
    };
    if (numberAt(0) === undefined) throw new StoreDamaged(file, 'it is empty');
    const heads = [0, numberAt(PAGE_BYTES_AT) ?? 0];
    if (heads.some((head) => numberAt(head + MAGIC_AT) !== MAGIC))
      throw new StoreDamaged(file, 'it is not an LMDB file');
  } finally {
    closeSync(fd);
  }
}

/** Throws StoreDamaged if much of the file is missing: reading that would end the process. */
export function refuseCutOff(file: string, root: RootDatabase): void {
  // Cast: lmdb's types do not say what it returns.
  const stats = root.getStats() as { pageSize: number; lastPageNumber: number };
  const pages = statSync(file).size / stats.pageSize;
  const missing = stats.lastPageNumber + 1 - pages;
  if (missing > Math.min(UNWRITTEN_PAGES, pages / 2)) throw new StoreDamaged(file, CUT_OFF);
}

const CUT_OFF = 'it has been cut off';

/** The bytes left on the disk that has this file or folder. One without a limit has 0 blocks. */
export function roomOf(path: string): number {
  const { blocks, bavail, bsize } = statfsSync(path);
  return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY;
}

export function isDiskFull(path: string): boolean {
  return roomOf(path) < FULL_BYTES;
}

/** Throws if the disk that has this folder is full. */
export function refuseFullDisk(folder: string): void {
  if (isDiskFull(folder))
    throw new Error(
      `the disk of ${folder} is full: nothing was changed; make room, then try again`,
    );
}

/** The health of a store that is open. */
export class StoreHealth {
  private readonly file: string;
  private readonly fd: number;
  private isClosed = false;
  private size = 0;
  private lookedAt = Number.NEGATIVE_INFINITY;
  /** When a write last had no room, if none has succeeded since. */
  hadNoRoomAt = Number.NEGATIVE_INFINITY;
  /** A value that cannot be read: others can. */
  private badValue: StoreDamaged | undefined = undefined;
  /** Pages that cannot be read: nothing may be read any more, since LMDB can end the process. */
  private badPages: StoreDamaged | undefined = undefined;

  constructor(file: string) {
    this.file = file;
    // Not by its path each time: the folder may be moved while the store is in use.
    this.fd = openSync(file, 'r');
  }

  /**
   * Throws if the store must not be touched. Has to precede each use: a file that was cut off is
   * noticed here, before LMDB reads it. Looks at the file every 2 ms at most.
   */
  check(): void {
    if (this.isClosed) return; // LMDB refuses what follows.
    const now = performance.now();
    if (now - this.lookedAt >= LOOK_MS) {
      this.lookedAt = now;
      const { size } = fstatSync(this.fd);
      if (size < this.size) this.badPages = new StoreDamaged(this.file, CUT_OFF);
      this.size = Math.max(this.size, size);
    }
    if (this.badPages !== undefined) throw this.badPages;
  }

  /** Throws if damage has been found before. */
  checkReady(): StoreState {
    this.check();
    if (this.isClosed) throw new Error('the store is closed');
    if (this.badValue !== undefined) throw this.badValue;
    // A quota, or a limit on the size of files, does not show on the disk.
    const isLimited = performance.now() - this.hadNoRoomAt < NO_ROOM_MS;
    return isLimited || (existsSync(this.file) && isDiskFull(this.file)) ? 'full' : undefined;
  }

  /** The error to throw for one that a read has thrown. Remembers if it means damage. */
  readError(error: unknown): unknown {
    // What lmdb throws for a value that is not JSON, by its name: it may be of another realm.
    const { name } = error as { name?: unknown };
    return name === 'SyntaxError' ? this.foundBadValue(error) : this.examine(error);
  }

  /**
   * The error to reject with for one that a transaction has rejected with: the reason of a failed
   * commit, or the error itself. A system error gets its name as its code.
   */
  async writeError(error: unknown): Promise<unknown> {
    // lmdb's error has a promise, which ends the process if nobody handles its rejection.
    const { commitError } = error as { commitError?: Promise<never> };
    const reason = (await commitError?.catch((why: unknown) => why)) ?? error;
    const { code, message } = reason as { code?: unknown; message?: string };
    // LMDB's own codes are negative (lmdb.h), those of the system positive.
    if (typeof code !== 'number' || code <= 0) return this.examine(reason);
    const name = getSystemErrorName(-code);
    // LMDB's word for a write that the disk took only a part of.
    const isFull = name === 'EIO' && isDiskFull(this.file);
    const words = { code: isFull ? 'ENOSPC' : name };
    const failure = Object.assign(new Error(message, { cause: reason }), words);
    if (outageOf(failure) === 'full') this.hadNoRoomAt = performance.now();
    return failure;
  }

  /** Remembers that a value could not be decoded. */
  foundBadValue(cause: unknown): StoreDamaged {
    this.badValue = new StoreDamaged(this.file, 'a value cannot be read', { cause });
    return this.badValue;
  }

  /** Calling it again has no effect. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    closeSync(this.fd);
  }

  private examine(error: unknown): unknown {
    if (!DAMAGE_CODES.has((error as { code?: unknown } | null)?.code)) return error;
    if (error instanceof StoreDamaged) return error;
    this.badPages = new StoreDamaged(this.file, 'a page cannot be read', { cause: error });
    return this.badPages;
  }
}

/** Makes each read of a table throw if the store is damaged. */
export function guardReads(table: Database, health: StoreHealth): void {
  const { get, doesExist, getRange, getKeys, getKeysCount } = table;
  table.get = (...args) => {
    health.check();
    try {
      return get.apply(table, args);
    } catch (error) {
      throw health.readError(error);
    }
  };
  const checked =
    <Args extends unknown[], T>(read: (...args: Args) => T) =>
    (...args: Args): T => {
      health.check();
      return read.apply(table, args);
    };
  Object.assign(table, {
    doesExist: checked(doesExist),
    getRange: checked(getRange),
    getKeys: checked(getKeys),
    getKeysCount: checked(getKeysCount),
  });
  guardDecoder(table, health);
}

/** For MessagePack, whose errors have no class of their own. */
function guardDecoder(table: Database, health: StoreHealth): void {
  const { decoder } = table as { decoder?: { decode(bytes: unknown, options?: unknown): unknown } };
  if (decoder === undefined) return;
  const decode = decoder.decode.bind(decoder);
  decoder.decode = (bytes, options) => {
    try {
      return decode(bytes, options);
    } catch (error) {
      throw health.foundBadValue(error);
    }
  };
}

/** In transactions. */
const READERS_CHECKED = 1_000;

/**
 * Makes each transaction reject with the reason of its failure. What a process that was killed was
 * reading is let go of now and then: its pages would never be used again.
 */
export function guardWrites(root: RootDatabase, health: StoreHealth): void {
  let writes = 0;
  const guard = (kind: 'transaction' | 'childTransaction') => {
    const write = root[kind].bind(root);
    root[kind] = async <T>(change: () => T): Promise<T> => {
      health.check();
      try {
        const result = await write(change);
        writes += 1;
        if (writes % READERS_CHECKED === 0) root.readerCheck();
        health.hadNoRoomAt = Number.NEGATIVE_INFINITY;
        return result;
      } catch (error) {
        throw await health.writeError(error);
      }
    };
  };
  guard('transaction');
  guard('childTransaction');
}
