// What an extension counts of the use of the API, and lends to others.
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import type { GraphQLSchema } from 'graphql';
import type { ExecutableOperation } from '../document/executable.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import type { RequestHour, RequestRecord, RequestSearch } from './requests.ts';

export type Usage = {
  usage: UsageCounter;
  usageStore: UsageCounts;
};

export type UsageCounter = {
  /** Counts what an operation asks for whose variables fit it. */
  count(
    surface: SurfaceName,
    schema: GraphQLSchema,
    operation: ExecutableOperation,
    caller: Caller,
    variables: Record<string, unknown>,
  ): void;
  /**
   * Counts a partner's request whose response has ended just now, even if it was refused.
   * `budgetUsed` is the part of its key's budget that is spent.
   */
  ended(partnerId: string, request: EndedRequest, budgetUsed: number): void;
};

export type EndedRequest = Omit<RequestRecord, 'time'>;

/** What is counted, by every gateway on the same store. */
export type UsageCounts = {
  /** The counts since a day, inclusive. A caller may have one for each day. */
  fields(since: string): Promise<FieldUsage[]>;
  /** The counts of a partner on some days. */
  fieldsOf(partnerId: string, days: readonly string[]): Promise<FieldUsage[]>;
  operations(since: string): Promise<OperationUsage[]>;
  /** The activity of each key that was ever used, by whole hours, the one of `now` included. */
  keyActivities(keyIds: readonly string[], now: Date): Promise<KeyActivity[]>;
  /** The requests with each key since the hour of an instant. 48 hours are kept. */
  keyUsesSince(instant: Date): Promise<KeyUse[]>;
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
};

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

/** The requests with a key. */
export type KeyUse = {
  keyId: string;
  requests: number;
  /** How many of these were refused with a status from 400 to 499. */
  refusals: number;
  /** And how many failed with a status of 500 or more. */
  errors: number;
};

/** The use of a key: the last one, and the requests and refusals of the last 24 hours. */
export type KeyActivity = Omit<KeyUse, 'errors'> & { lastUsedAt: Date };

/** Without an extension that counts. */
export const NO_USAGE: Usage = {
  usage: { count() {}, ended() {} },
  usageStore: {
    fields: async () => [],
    fieldsOf: async () => [],
    operations: async () => [],
    keyUsesSince: async () => [],
    keyActivities: async () => [],
    requestHours: async () => [],
    requests: async () => ({ records: [], hasMore: false }),
  },
};
