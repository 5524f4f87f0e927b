// The store of usage counts: the interface of usagestore.lmdb.ts and usagestore.mongo.ts.
import type { SurfaceName } from '../planning/contract.ts';

/** Whose use it was. Members who read with a token of their own have no partner. */
type Caller = {
  /** In UTC: `2031-05-17`. */
  day: string;
  surface: SurfaceName;
  partnerId?: string | undefined;
};

/** How often a field or an argument was asked for. */
export type FieldUsage = Caller & {
  /** A schema coordinate: `Type.field`, `Type.field(argument:)` or `Type.inputField`. */
  coordinate: string;
  count: number;
};

/** How often an operation was asked for. */
export type OperationUsage = Caller & {
  /** Normalized, without literals. */
  operation: string;
  count: number;
};

export type UsageStore = {
  /** Adds to the counts of earlier calls, in one write. */
  add(usage: {
    fields: readonly FieldUsage[];
    operations: readonly OperationUsage[];
  }): Promise<void>;
  /** The counts since a day, inclusive, of all days together or of each. */
  fields(since: string): Promise<FieldUsage[]>;
  operations(since: string): Promise<OperationUsage[]>;
  close(): Promise<void>;
};
