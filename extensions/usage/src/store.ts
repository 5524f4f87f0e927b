// The store of usage counts: its interface, which tables.ts implements.
import type { RequestHour, RequestRecord } from '@partner-loyalty/gateway/usage/requests.ts';
import type {
  FieldUsage,
  KeyUse,
  OperationUsage,
  UsageCounts,
} from '@partner-loyalty/gateway/usage/usage.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';

/** The requests with a key between two writes of a gateway. */
export type KeyUseInHour = KeyUse & {
  /** The hour of the last request, in UTC: `2031-05-17T10`. */
  hour: string;
  lastUsedAt: Date;
};

/** What a gateway counted of a partner's requests in an hour, or in a part of it. */
export type PartnerHour = RequestHour & { partnerId: string };

/** What one process has recorded of a partner within CHUNK_MS, in the order of time. */
export type RequestChunk = { id: string; records: readonly RequestRecord[] };

export type RequestBatch = {
  /** When it is written. */
  at: Date;
  hours: readonly PartnerHour[];
  chunks: readonly RequestChunk[];
};

export type UsageStore = UsageCounts & {
  /** Adds to the counts of earlier calls, in one write. */
  add(usage: {
    fields: readonly FieldUsage[];
    operations: readonly OperationUsage[];
  }): Promise<void>;
  /** Adds to the counts of earlier calls. The last use of a key never goes back. */
  addKeyUses(uses: readonly KeyUseInHour[]): Promise<void>;
  /**
   * Adds to the sums of earlier calls, and adds or replaces chunks of records. Then it removes some
   * of what is too old.
   */
  addRequests(batch: RequestBatch): Promise<void>;
  close(): Promise<void>;
};

export type Counts<About extends object = object> = {
  id: string;
  /** What is counted. Only the first addition under an ID sets it. */
  about: About;
  counts: Readonly<Record<string, number>>;
  /** The latest use, in milliseconds since 1970. */
  latestMs?: number;
  /** The highest of some values. */
  highest?: number;
};

/** Several processes may add at the same time. Implemented by counts.{lmdb,mongo}.ts. */
export type CountTable<About extends object = object> = {
  /** Adds to what is counted under each ID; the latest use and the highest value never go back. */
  add(additions: readonly Counts<About>[]): Promise<void>;
  /** Adds rows, or replaces those with their IDs, at once. */
  put(rows: readonly Counts<About>[]): Promise<void>;
  /** The counts that exist, by ID. */
  get(ids: readonly string[]): MaybePromise<ReadonlyMap<string, Counts<About>>>;
  /** The counts from `from` on and before `to`, in the order of IDs. */
  range(from: string, to?: string): MaybePromise<Counts<About>[]>;
  /** The counts after `from` and before `to`, the highest IDs first, at most `limit`. */
  last(from: string, to: string, limit: number): MaybePromise<Counts<About>[]>;
  /** The lowest ID from `from` on. */
  firstId(from: string): MaybePromise<string | undefined>;
  /** How many a range has. */
  size(from: string, to: string): MaybePromise<number>;
  remove(ids: readonly string[]): Promise<void>;
  /** Removes those from `from` on and before `to`, in bounded steps. */
  removeBetween(from: string, to: string): Promise<void>;
};

/** Opens a table of a store that is open. */
export type OpenCountTable = <About extends object>(
  name: string,
) => MaybePromise<CountTable<About>>;
