// What a store engine does: tables of rows by ordered keys, and transactions of rules over them.
import { isDeepStrictEqual } from 'node:util';
import type { MaybePromise } from '../../maybe.ts';
import type { StoreState } from '../outage.ts';
import { afterOf, compareTexts, endOf, type Key, keyOf, textOf } from './keys.ts';

/**
 * Rows are plain JSON. The first part of a key names the row's group, which all tables with this
 * name of a group share. What a rule finds by a range, or as absent without writing it, has to be
 * in a group: whoever writes a row of the group conflicts with it.
 */
export type Table<Row extends object = object> = {
  readonly name: string;
  readonly group?: string;
  /** Reads in no transaction may come from a server that lags, if the URL of MongoDB says so. */
  readonly nearby?: boolean;
  /** Whether rules put no row over another one that they have not read, under the same key. */
  readonly isUnique?: boolean;
  readonly indexes?: readonly Index[];
  /** Has no value. */
  readonly rows?: Row;
};

/**
 * A table whose rows follow from those of another one: each transaction that writes a row writes
 * its entries, too. Rules only read it. Nothing but the rule keeps two rows from having an entry
 * under one key.
 */
export type Index<Row extends object = never> = {
  readonly table: Table;
  entriesOf(row: Row, key: Key): readonly Entry<object>[];
  /** The key of the row that has an entry. */
  rowKeyOf(entry: Entry<object>): Key;
};

type Options<Row extends object> = Pick<Table, 'group' | 'nearby' | 'isUnique'> & {
  indexes?: readonly Index<Row>[];
};

export function table<Row extends object>(name: string, options: Options<Row> = {}): Table<Row> {
  // Cast: only rows of this table are passed to its indexes.
  return { name, ...options } as Table<Row>;
}

export type Entry<Row> = { key: Key; row: Row };

/**
 * The rows whose keys begin with `prefix`, from `from` or after `after`, and before `until`: the
 * first `limit`, or the last ones if it is reversed.
 */
export type Range = {
  prefix: Key;
  from?: Key;
  after?: Key;
  until?: Key;
  limit: number;
  reverse?: boolean;
  /** As of one moment: no row that was written later than another one is there without it. */
  snapshot?: true;
};

/** What a rule reads, at one moment. */
export type View = {
  get<Row extends object>(table: Table<Row>, key: Key): Row | undefined;
  /** The rows of keys, in their order: one read, where `get` for each is one after the other. */
  getAll<Row extends object>(table: Table<Row>, keys: readonly Key[]): (Row | undefined)[];
  range<Row extends object>(table: Table<Row>, range: Range): Entry<Row>[];
  /** A row that may change before the transaction ends. */
  peek<Row extends object>(table: Table<Row>, key: Key): Row | undefined;
  peekAll<Row extends object>(table: Table<Row>, keys: readonly Key[]): (Row | undefined)[];
};

/** What a rule reads and writes. It sees what it has written. */
export type Transaction = View & {
  put<Row extends object>(table: Table<Row>, key: Key, row: Row): void;
  remove<Row extends object>(table: Table<Row>, key: Key): void;
};

export type Reads = { table: Table; keys: readonly Key[] };

/** Synchronous, without effects, and run again if others write what it has read. */
export type Rule<T> = (transaction: Transaction) => T;

/**
 * Several processes may have a store open. Transactions are serializable: what a rule has read is
 * unchanged when its writes are visible. They resolve when they are on disk, and reject with what
 * the rule throws, without a write.
 */
export type Store = {
  get<Row extends object>(table: Table<Row>, key: Key): MaybePromise<Row | undefined>;
  getAll<Row extends object>(
    table: Table<Row>,
    keys: readonly Key[],
  ): MaybePromise<(Row | undefined)[]>;
  range<Row extends object>(table: Table<Row>, range: Range): MaybePromise<Entry<Row>[]>;
  /** The keys of a range. The rows are not read. */
  keys(table: Table, range: Range): MaybePromise<Key[]>;
  /** How many rows a range has, without its limit. */
  count<Row extends object>(table: Table<Row>, range: Omit<Range, 'limit'>): MaybePromise<number>;
  /** What a rule finds that only reads, as of now: what has resolved before is there. */
  view<T>(rule: (view: View) => T): MaybePromise<T>;
  /** `reads` are rows that the rule is going to read: MongoDB reads all of them at once. */
  transact<T>(rule: Rule<T>, reads?: readonly Reads[]): Promise<T>;
  /** Adds to rows, whose numbers begin at 0, in no transaction. No rule reads such a row. */
  add<Row extends object>(table: Table<Row>, additions: readonly Addition[]): Promise<void>;
  /** Rejects if the store cannot be used. */
  ready(): Promise<StoreState>;
  close(): Promise<void>;
};

/**
 * Adds amounts, raises numbers to `highest`, and puts `initially` into a new row. The names have
 * neither dots nor dollar signs.
 */
export type Addition = {
  key: Key;
  amounts: Readonly<Record<string, number>>;
  highest?: Readonly<Record<string, number>>;
  initially?: Readonly<Record<string, unknown>>;
};

/** Reads of one kind of engine, by the texts of keys. */
export type Source = {
  get(table: Table, text: string): object | undefined;
  getAll?(table: Table, texts: readonly string[]): (object | undefined)[];
  range(table: Table, bounds: Bounds): [text: string, row: object][];
  peekAll?(table: Table, texts: readonly string[]): (object | undefined)[];
};

/** From `from` to before `until`. */
export type Bounds = { from: string; until: string; limit: number; reverse: boolean };

export function boundsOf({ prefix, from, after, until, limit, reverse }: Range): Bounds {
  const first = textOf(from ?? prefix);
  return {
    from: after === undefined ? first : afterOf(textOf(after)),
    until: until === undefined ? endOf(prefix) : textOf(until),
    limit,
    reverse: reverse ?? false,
  };
}

export function entriesOf<Row>(found: readonly [text: string, row: object][]): Entry<Row>[] {
  // Cast: a table has rows of one type.
  return found.map(([text, row]) => ({ key: keyOf(text), row: row as Row }));
}

/** The rows to put, and undefined for those to remove, by the texts of their keys. */
export type Writes = ReadonlyMap<Table, ReadonlyMap<string, object | undefined>>;
/** The texts of keys of unique tables under which there was a row, though the rule read none. */
export type Replaced = ReadonlyMap<Table, ReadonlySet<string>>;

/** The tables with their indexes. */
export function withIndexes(tables: readonly Table[]): Table[] {
  return tables.flatMap((each) => [each, ...(each.indexes ?? []).map((index) => index.table)]);
}

/** Runs a rule over what the source reads. Throws what the rule throws. */
export function runRule<T>(
  rule: Rule<T>,
  source: Source,
): { result: T; writes: Writes; replaced: Replaced } {
  const writes = new Map<Table, Map<string, object | undefined>>();
  const replaced = new Map<Table, Set<string>>();

  /** `isNew` if there is no row yet in a unique table. */
  function write(to: Table, text: string, row: object | undefined, isNew = false): void {
    const rows = mapFor(writes, to);
    if (to.isUnique && !isNew && !rows.has(text))
      replaced.set(to, (replaced.get(to) ?? new Set()).add(text));
    rows.set(text, row);
  }

  function read(from: Table, text: string, source: () => object | undefined) {
    const written = writes.get(from);
    return written?.has(text) ? written.get(text) : source();
  }

  function readAll(
    from: Table,
    texts: readonly string[],
    source: (table: Table, texts: readonly string[]) => (object | undefined)[],
  ) {
    const found = source(from, texts);
    if (!writes.has(from)) return found;
    return texts.map((text, place) => read(from, text, () => found[place]));
  }

  const one = (from: Table, texts: readonly string[]) =>
    texts.map((text) => source.get(from, text));
  const getAll = source.getAll ?? one;
  const peekAll = source.peekAll ?? one;

  function replace(to: Table, key: Key, row: object | undefined): void {
    const text = textOf(key);
    if (to.indexes !== undefined) {
      const before = read(to, text, () => source.get(to, text));
      for (const index of to.indexes) replaceEntries(index, key, before, row);
    }
    write(to, text, row, row !== undefined);
  }

  function replaceEntries(index: Index, key: Key, before?: object, after?: object): void {
    const [old, next] = [entriesByText(index, key, before), entriesByText(index, key, after)];
    for (const text of old.keys()) if (!next.has(text)) write(index.table, text, undefined);
    for (const [text, entry] of next) {
      const present = old.get(text);
      if (present === undefined) write(index.table, text, entry, true);
      else if (!isDeepStrictEqual(present, entry)) write(index.table, text, entry);
    }
  }

  // Casts: a table has rows of one type.
  const transaction: Transaction = {
    get: <Row>(from: Table, key: Key) => {
      const text = textOf(key);
      return read(from, text, () => source.get(from, text)) as Row | undefined;
    },
    getAll: <Row>(from: Table, keys: readonly Key[]) =>
      readAll(from, keys.map(textOf), getAll) as (Row | undefined)[],
    peek: <Row>(from: Table, key: Key) =>
      readAll(from, [textOf(key)], peekAll)[0] as Row | undefined,
    peekAll: <Row>(from: Table, keys: readonly Key[]) =>
      readAll(from, keys.map(textOf), peekAll) as (Row | undefined)[],
    range: <Row>(from: Table, range: Range) => {
      const bounds = boundsOf(range);
      const written = [...(writes.get(from) ?? [])].filter(([text]) => isWithin(bounds, text));
      const limit = bounds.limit + written.length;
      const rows = new Map<string, object | undefined>(source.range(from, { ...bounds, limit }));
      for (const [text, row] of written) rows.set(text, row);
      const found = [...rows].filter((each): each is [string, object] => each[1] !== undefined);
      if (written.length > 0) found.sort(orderOf(bounds));
      return entriesOf<Row>(found.slice(0, bounds.limit));
    },
    put: replace,
    remove: (from, key) => replace(from, key, undefined),
  };
  const result = rule(transaction);
  return { result, writes, replaced };
}

/** What is known of the rows of a table. */
export function mapFor<Row>(known: Map<Table, Map<string, Row>>, table: Table): Map<string, Row> {
  let rows = known.get(table);
  if (rows === undefined) {
    rows = new Map();
    known.set(table, rows);
  }
  return rows;
}

/** What an index has of a row, by the texts of keys. */
export function entriesByText(index: Index, key: Key, row?: object): Map<string, object> {
  const entries = new Map<string, object>();
  if (row === undefined) return entries;
  // Cast: an index gets rows of its table.
  for (const entry of index.entriesOf(row as never, key)) entries.set(textOf(entry.key), entry.row);
  return entries;
}

export function isWithin({ from, until }: Bounds, text: string): boolean {
  return compareTexts(from, text) <= 0 && compareTexts(text, until) < 0;
}

export function orderOf({ reverse }: Bounds) {
  return ([one]: [string, object], [other]: [string, object]) =>
    reverse ? compareTexts(other, one) : compareTexts(one, other);
}

/** A row with what is added to it. */
export function sumOf(
  row: object | undefined,
  { amounts, highest = {}, initially }: Addition,
): Record<string, unknown> {
  // Cast: only numbers are added to.
  const sum = { ...(row ?? initially) } as Record<string, number>;
  for (const [name, amount] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + amount;
  for (const [name, most] of Object.entries(highest)) sum[name] = Math.max(sum[name] ?? most, most);
  return sum;
}
