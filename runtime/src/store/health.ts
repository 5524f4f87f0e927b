// Whether an embedded store's file is fit for use: what is found wrong with it, and when to stop.
import { closeSync, fstatSync, openSync, statfsSync } from 'node:fs';
import { findDamage } from './pages.ts';

/** How many pages a start looks at: a store of 200 MB, in a quarter of a second. */
const PAGES_AT_START = 50_000;
/** And how many a store in use looks at, in a millisecond. */
const PAGES_IN_USE = 200;
const LOOK_MS = 2;
/** How often pages are checked while the file keeps changing: a check takes 2 % of that. */
const REST_MS = 50;
/** A transaction that writes less is rare. */
const FULL_BYTES = 65_536;

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

/** Throws StoreDamaged if the file, which exists, is damaged. Looks at the upper pages first. */
export function refuseDamage(file: string, pages = PAGES_AT_START): void {
  const fd = openSync(file, 'r');
  try {
    const why = findDamage(fd, pages);
    if (why !== undefined) throw new StoreDamaged(file, why);
  } finally {
    closeSync(fd);
  }
}

/** The health of a store that is open. */
export class StoreHealth {
  private readonly file: string;
  private readonly fd: number;
  private closed = false;
  private size = 0;
  private changedAt = Number.NaN;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private restsUntil = Number.NEGATIVE_INFINITY;
  /** A value that cannot be read: others can. */
  private badValue: StoreDamaged | undefined = undefined;
  /** Pages that cannot be read: LMDB would end the process, so nothing may be read any more. */
  private badPages: StoreDamaged | undefined = undefined;

  constructor(file: string) {
    this.file = file;
    // Not by its path each time: the folder may be moved while the store is in use.
    this.fd = openSync(file, 'r');
  }

  /**
   * Throws if the store must not be touched. Has to precede each use: a file that was cut off or
   * overwritten is noticed here, before LMDB reads it. Returns whether it has looked at the file,
   * which it does every 2 ms at most.
   */
  check(): boolean {
    if (this.closed) return false; // LMDB refuses what follows.
    const now = performance.now();
    const isDue = now - this.lookedAt >= LOOK_MS;
    if (isDue) {
      this.lookedAt = now;
      this.look(now);
    }
    if (this.badPages !== undefined) throw this.badPages;
    return isDue;
  }

  /** Throws if damage has been found before, or is found now in the upper levels of the trees. */
  checkReady(): void {
    this.check();
    if (this.closed) throw new Error('the store is closed');
    this.checkPages();
    const damage = this.badPages ?? this.badValue;
    if (damage !== undefined) throw damage;
  }

  /** The error to throw for one that a read or a write has thrown. Remembers if it means damage. */
  examine(error: unknown): unknown {
    if (!DAMAGE_CODES.has((error as { code?: unknown } | null)?.code)) return error;
    if (error instanceof StoreDamaged) return error;
    this.badPages = new StoreDamaged(this.file, 'a page cannot be read', { cause: error });
    return this.badPages;
  }

  /** Remembers that a value could not be decoded. */
  foundBadValue(cause: unknown): StoreDamaged {
    this.badValue = new StoreDamaged(this.file, 'a value cannot be read', { cause });
    return this.badValue;
  }

  isDiskFull(): boolean {
    const { bavail, bsize } = statfsSync(this.file);
    return bavail * bsize < FULL_BYTES;
  }

  /** Calling it again has no effect. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    closeSync(this.fd);
  }

  /** Looks at the file's size and, if the file was written to, at its pages. */
  private look(now: number): void {
    const { size, mtimeMs } = fstatSync(this.fd);
    if (size < this.size) this.badPages = new StoreDamaged(this.file, 'it has been cut off');
    this.size = Math.max(this.size, size);
    if (mtimeMs === this.changedAt || now < this.restsUntil) return;
    this.changedAt = mtimeMs;
    this.checkPages();
    this.restsUntil = now + REST_MS;
  }

  private checkPages(): void {
    const why = findDamage(this.fd, PAGES_IN_USE);
    if (why !== undefined) this.badPages ??= new StoreDamaged(this.file, why);
  }
}
