// The store of usage counts: its interface, which usagetables.ts implements.
import type { SurfaceName } from '../schema/surfaces.ts';
import type { RequestChunk, RequestHour, RequestRecord, RequestSearch } from './requests.ts';

/** Who used it. Members whose tokens no partner holds have no partner. */
export type UsageCaller = {
  /** In UTC: `2031-05-17`. */
  day: string;
  surface: SurfaceName;
  partnerId?: string | undefined;
};

export type FieldUsage = UsageCaller & {
  /** A schema coordinate: `Type.field`, `Type.field(argument:)` or `Type.inputField`. */
  coordinate: string;
  count: number;
};

export type OperationUsage = UsageCaller & {
  /** Normalized, without literals. */
  operation: string;
  count: number;
};

/** The requests with a key between two writes of a gateway. */
export type KeyUse = {
  keyId: string;
  /** The hour of the last request, in UTC: `2031-05-17T10`. */
  hour: string;
  requests: number;
  /** How many of these were refused with a status from 400 to 499. */
  refusals: number;
  /** And how many failed with a status of 500 or more. */
  errors: number;
  lastUsedAt: Date;
};

/** The use of a key: the last one, and the requests and refusals of the last 24 hours. */
export type KeyActivity = Omit<KeyUse, 'hour' | 'errors'>;

/** What a gateway counted of a partner's requests in an hour, or in a part of it. */
export type PartnerHour = RequestHour & { partnerId: string };

export type RequestBatch = {
  /** When it is written. */
  at: Date;
  hours: readonly PartnerHour[];
  chunks: readonly RequestChunk[];
};

export type UsageStore = {
  /** Adds to the counts of earlier calls, in one write. */
  add(usage: {
    fields: readonly FieldUsage[];
    operations: readonly OperationUsage[];
  }): Promise<void>;
  /** The counts since a day, inclusive. A caller may have one for each day. */
  fields(since: string): Promise<FieldUsage[]>;
  /** The counts of a partner on some days. */
  fieldsOf(partnerId: string, days: readonly string[]): Promise<FieldUsage[]>;
  operations(since: string): Promise<OperationUsage[]>;
  /** Adds to the counts of earlier calls. The last use of a key never goes back. */
  addKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** The activity of each key that was ever used, by whole hours, the one of `now` included. */
  keyActivities(keyIds: readonly string[], now: Date): Promise<KeyActivity[]>;
  /** The requests with each key since the hour of an instant. 48 hours are kept. */
  keyUsesSince(instant: Date): Promise<Omit<KeyUse, 'hour' | 'lastUsedAt'>[]>;
  /**
   * Adds to the sums of earlier calls, and adds or replaces chunks of records. Then it removes some
   * of what is too old.
   */
  addRequests(batch: RequestBatch): Promise<void>;
  /** The hours of the last 7 days in which a partner had requests, the oldest first. */
  requestHours(partnerId: string, now: Date): Promise<RequestHour[]>;
  /**
   * Records of a partner's requests, the newest first: at least `least`, if there are so many. It
   * looks at the last 20,000 of 7 days.
   */
  requests(
    partnerId: string,
    search: RequestSearch,
    least: number,
    now: Date,
  ): Promise<{ records: RequestRecord[]; hasMore: boolean }>;
  close(): Promise<void>;
};
