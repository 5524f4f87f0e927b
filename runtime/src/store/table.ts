// A small table, on either engine: rows by ID, and in the order of some of their fields.
import type { MaybePromise } from '../maybe.ts';
import type { Store, Transaction } from './engine/store.ts';

/** The fields of a row that have a number or nothing. */
export type NumberField<Row> = {
  [Field in keyof Row]-?: Row[Field] extends number | undefined ? Field & string : never;
}[keyof Row];

export type TableDefinition<Row> = {
  name: string;
  /** The field that identifies a row. */
  id: keyof Row & string;
  /** Fields with whole numbers. A row without the field is not in its order. */
  orders?: readonly NumberField<Row>[];
};

/**
 * Rows are plain JSON. Several processes may use a table at the same time: each write is atomic
 * among all of them, and resolves when it is on disk. Implemented by tables.ts.
 */
export type Table<Row> = {
  get(id: string): MaybePromise<Row | undefined>;
  /** Adds the row, or replaces the one with its ID. */
  put(row: Row): Promise<void>;
  /**
   * Writes what `change` makes of a row, undefined if there is none: removes it for undefined, and
   * writes nothing for the same object. Resolves with the row that it has written, if any.
   * `change` may be called several times.
   */
  update(
    id: string,
    change: (before: Row | undefined) => Row | undefined,
  ): Promise<Row | undefined>;
  /** Updates rows, many of them in one transaction. */
  updateAll(
    ids: readonly string[],
    change: (before: Row | undefined, id: string) => Row | undefined,
  ): Promise<void>;
  /** Does what `update` does, in a transaction of the store. */
  change(
    transaction: Transaction,
    id: string,
    change: (before: Row | undefined) => Row | undefined,
  ): Row | undefined;
  remove(id: string): Promise<void>;
  /** The rows of an order that are at `from` or later, the first `limit` of them. */
  range(order: NumberField<Row>, from: number, limit: number): MaybePromise<Row[]>;
  /** The number of rows in an order. */
  count(order: NumberField<Row>): MaybePromise<number>;
  /** The number of rows whose IDs begin with a prefix. */
  countStarting(prefix: string): MaybePromise<number>;
  /** Removes the rows of an order that are at `until` at most. */
  removeUntil(order: NumberField<Row>, until: number): Promise<void>;
  /** The rows whose IDs begin with a prefix; with `limit`, the first of them. */
  startingWith(prefix: string, limit?: number): Promise<Row[]>;
  /** Looks at every row, so a table should be small. */
  select(isWanted: (row: Row) => boolean): Promise<Row[]>;
  /** Looks at every row, or at those whose IDs begin with a prefix. Resolves with how many went. */
  removeWhere(isUnwanted: (row: Row) => boolean, prefix?: string): Promise<number>;
};

/** Opens a table of a store that is open, and creates it if necessary. */
export type OpenTable = (<Row extends object>(
  definition: TableDefinition<Row>,
) => MaybePromise<Table<Row>>) &
  Pick<Store, 'transact'>;
