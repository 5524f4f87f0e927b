// The store of usage counts: its interface, which tables.ts implements.
import type { RequestHour, RequestRecord } from '@partner-loyalty/gateway/usage/requests.ts';
import type {
  FieldUsage,
  KeyUse,
  OperationUsage,
  UsageCounts,
} from '@partner-loyalty/gateway/usage/usage.ts';

/** The requests with a key between two writes of a gateway. */
export type KeyUseInHour = KeyUse & {
  /** The hour of the last request, in UTC: `2031-05-17T10`. */
  hour: string;
  lastUsedAt: Date;
};

/** What a gateway counted of a partner's requests in an hour, or in a part of it. */
export type PartnerHour = RequestHour & { partnerId: string };

/** What one process has recorded of a partner within CHUNK_MS, in the order of time. */
export type RequestChunk = {
  partnerId: string;
  /** The time of the first record, in milliseconds since 1970. */
  begun: number;
  /** Different in each process, and for each of its chunks. */
  writer: string;
  records: readonly RequestRecord[];
};

export type RequestBatch = {
  /** When it is written. */
  at: Date;
  hours: readonly PartnerHour[];
  chunks: readonly RequestChunk[];
};

export type UsageStore = UsageCounts & {
  /** Adds to the counts of earlier calls. */
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
