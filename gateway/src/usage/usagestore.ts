// The store of usage counts: the interface of usagestore.lmdb.ts and usagestore.mongo.ts.
import type { SurfaceName } from '../planning/contract.ts';

/** Who used it. Members whose tokens no partner holds have no partner. */
type Caller = {
  /** In UTC: `2031-05-17`. */
  day: string;
  surface: SurfaceName;
  partnerId?: string | undefined;
};

/** How often a field or an argument was requested. */
export type FieldUsage = Caller & {
  /** A schema coordinate: `Type.field`, `Type.field(argument:)` or `Type.inputField`. */
  coordinate: string;
  count: number;
};

/** How often an operation was requested. */
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
  /** The counts since a day, inclusive. A caller may have one for each day. */
  fields(since: string): Promise<FieldUsage[]>;
  operations(since: string): Promise<OperationUsage[]>;
  close(): Promise<void>;
};
