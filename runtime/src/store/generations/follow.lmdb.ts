// A store as its users see it: one root and its tables, whatever generation they are in by now.
import { setTimeout as pause } from 'node:timers/promises';
import type { Database, GetOptions, Key, RootDatabase, Transaction } from 'lmdb';
import { timeoutError } from '../../timeout.ts';
import { readError, writeError } from './guard.lmdb.ts';
import { type Mark, markOf, removeMark } from './mark.lmdb.ts';
import { closeOpened, type Opened, openCurrent, openTable, type TableOptions } from './open.ts';
import { fileIn, type Generation, isBeingMade, type Place } from './place.ts';

/**
 * The root of a store. Write only in transactions: lmdb reports the failure of any other write
 * outside of it, which ends the process. Iterate within one tick, or in a snapshot.
 */
export type StoreRoot = RootDatabase & {
  /** Runs what only opens tables, in one transaction, even while writes wait. */
  openTables<T>(open: () => T): Promise<T>;
};

/** How long a write waits for a copy that is being made. */
export const HOLD_MS = 2_000;
const POLL_MS = 5;
/** How often a process that does nothing looks whether the store has moved. */
const IDLE_MS = 1_000;
/** Until then, whatever a read has returned in a tick has been used. */
const CLOSE_AFTER_MS = 100;

type Kind = 'transaction' | 'childTransaction';

/**
 * Makes the methods of a store and of the tables that it opens follow the store from generation to
 * generation. Each read throws if the store is damaged, and each write that fails rejects with the
 * reason.
 */
export class Follower {
  readonly root: StoreRoot;
  private readonly place: Place;
  private current: Opened;
  private readonly tables: TableOptions[] = [];
  private readonly retired = new Set<Opened>();
  private readonly snapshots = new WeakMap<object, Opened>();
  /** Set while the store is known to have moved, and is not open where it is now. */
  private movedTo: Generation | undefined = undefined;
  private released: Promise<void> | undefined = undefined;
  private readonly timer: NodeJS.Timeout;
  private isClosed = false;

  constructor(place: Place, opened: Opened) {
    this.place = place;
    this.current = opened;
    this.root = this.createRoot();
    this.timer = setInterval(() => this.followIdly(), IDLE_MS).unref();
  }

  ready(): void {
    this.now().health.checkReady();
  }

  private createRoot(): StoreRoot {
    const write = (kind: Kind) => (change: () => unknown) => this.write(kind, change);
    const own = {
      openDB: (options: TableOptions) => this.openTable(options),
      openTables: (open: () => unknown) => this.write('transaction', open, true),
      transaction: write('transaction'),
      childTransaction: write('childTransaction'),
      useReadTransaction: () => this.useReadTransaction(),
      backup: (path: string, compact: boolean) =>
        this.use(this.now(), ({ root }) => root.backup(path, compact)),
      close: () => this.close(),
    };
    const root = this.createTable((opened) => opened.root);
    Object.defineProperty(root, 'flushed', { get: () => this.current.root.flushed });
    // Cast: it has every method that lmdb's has.
    return Object.assign(root, own) as unknown as StoreRoot;
  }

  private openTable(options: TableOptions): Database {
    const index = this.tables.length;
    openTable(this.now(), options);
    this.tables.push(options);
    // Cast: every generation gets the same tables when it is opened.
    return this.createTable((opened) => opened.tables[index] as Database);
  }

  /** `of` is called for each use. */
  private createTable(of: (opened: Opened) => Database): Database {
    const table: Record<string, unknown> = {};
    for (const name of methodsOf(of(this.current)))
      table[name] = (...args: unknown[]) => callMethod(of(this.current), name, args);
    const reads: Pick<Database, 'get' | 'doesExist' | 'getRange' | 'getKeys' | 'getKeysCount'> = {
      get: (key: Key, options?: GetOptions) => {
        const opened = this.now(options);
        try {
          return of(opened).get(key, options);
        } catch (error) {
          throw readError(error, opened.health);
        }
      },
      doesExist: (key: Key) => of(this.now()).doesExist(key),
      getRange: (options) => of(this.now(options)).getRange(options),
      getKeys: (options) => of(this.now(options)).getKeys(options),
      getKeysCount: (options) => of(this.now(options)).getKeysCount(options),
    };
    // Cast: it has every method that lmdb's has.
    return Object.assign(table, reads) as unknown as Database;
  }

  /** Where to read: the store as it is now, or as it was when a snapshot was taken. */
  private now(options?: { transaction?: Transaction }): Opened {
    const opened = options?.transaction && this.snapshots.get(options.transaction);
    if (opened !== undefined) {
      opened.health.check();
      return opened;
    }
    // A check looks at the file only every 2 ms.
    if (this.current.health.check() || this.movedTo !== undefined) this.follow();
    return this.current;
  }

  /** Opens the generation that has taken the place of this one, if there is one. */
  private follow(): void {
    const { current } = this;
    const mark = markOf(current.root, current.generation);
    if (mark?.isMoved === true) this.movedTo = mark.to;
    if (this.movedTo === undefined || this.isClosed) return;
    const next = openCurrent(this.place, this.movedTo, true);
    try {
      for (const options of this.tables) openTable(next, options);
    } catch (error) {
      void closeOpened(next);
      throw error;
    }
    this.movedTo = undefined;
    this.current = next;
    this.retired.add(current);
    this.closeUnused(current);
  }

  private followIdly(): void {
    try {
      this.now();
    } catch {
      // The next use of the store meets it too.
    }
  }

  private async write<T>(kind: Kind, change: () => T, isOpening = false): Promise<T> {
    for (;;) {
      const opened = this.now();
      let mark: Mark | undefined;
      const result = await this.commit(opened, kind, () => {
        mark = refusalOf(this.place, opened, isOpening);
        return mark === undefined ? change() : undefined;
      });
      // Cast: without a mark, it is what the change has returned.
      if (mark === undefined) return result as T;
      if (mark.isMoved) {
        if (this.current === opened) this.movedTo = mark.to;
      } else if (Date.now() - mark.since >= HOLD_MS) throw held(this.place, opened);
      else await this.whenReleased(opened);
    }
  }

  private commit<T>(opened: Opened, kind: Kind, change: () => T): Promise<T> {
    return this.use(opened, async ({ root, health }) => {
      try {
        return await root[kind](change);
      } catch (error) {
        throw await writeError(error, health);
      }
    });
  }

  /** Resolves when writes go on, or have waited long enough. However many wait, one looks. */
  private whenReleased(opened: Opened): Promise<void> {
    this.released ??= this.pollMark(opened).finally(() => {
      this.released = undefined;
    });
    return this.released;
  }

  private async pollMark(opened: Opened): Promise<void> {
    let mark: Mark | undefined;
    do {
      await pause(POLL_MS);
      if (this.isClosed || this.current !== opened) return;
      mark = markOf(opened.root, opened.generation);
    } while (
      mark !== undefined &&
      !mark.isMoved &&
      Date.now() - mark.since < HOLD_MS &&
      isBeingMade(this.place, mark.to)
    );
  }

  private useReadTransaction(): Transaction {
    const opened = this.now();
    const transaction = opened.root.useReadTransaction();
    this.snapshots.set(transaction, opened);
    opened.uses += 1;
    const done = transaction.done.bind(transaction);
    transaction.done = () => {
      done();
      this.release(opened);
    };
    return transaction;
  }

  /** Keeps what is open from being closed while `work` uses it. */
  private async use<T>(opened: Opened, work: (opened: Opened) => Promise<T>): Promise<T> {
    opened.uses += 1;
    try {
      return await work(opened);
    } finally {
      this.release(opened);
    }
  }

  private release(opened: Opened): void {
    opened.uses -= 1;
    if (opened !== this.current) this.closeUnused(opened);
  }

  private closeUnused(opened: Opened): void {
    setTimeout(() => {
      if (opened.uses === 0 && this.retired.delete(opened)) void closeOpened(opened);
    }, CLOSE_AFTER_MS).unref();
  }

  private async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    const all = [...this.retired, this.current];
    this.retired.clear();
    for (const opened of all) await closeOpened(opened);
  }
}

/** Why nothing may be written here, if so. Call it in a transaction. */
function refusalOf(place: Place, opened: Opened, isOpening: boolean): Mark | undefined {
  const mark = markOf(opened.root, opened.generation);
  if (mark === undefined || mark.isMoved) return mark;
  if (isOpening) return undefined;
  if (isBeingMade(place, mark.to)) return mark;
  // Whoever was making the copy is gone. If not, the missing mark says that the copy is void.
  removeMark(opened.root);
  return undefined;
}

function held(place: Place, { generation }: Opened): Error {
  return timeoutError(`${fileIn(place, generation)} is being compacted`);
}

function callMethod(table: Database, name: string, args: unknown[]): unknown {
  // Cast: lmdb's types do not list its methods by name.
  const { [name]: method } = table as unknown as Record<string, (...args: unknown[]) => unknown>;
  return method?.apply(table, args);
}

/** The names of a table's methods, inherited ones included. */
function methodsOf(table: Database): string[] {
  const names: string[] = [];
  let one: object = table;
  // All but those of every object.
  for (let next = Object.getPrototypeOf(one); next !== null; next = Object.getPrototypeOf(one)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(one)))
      if (typeof value === 'function' && name !== 'constructor') names.push(name);
    one = next;
  }
  return names;
}
