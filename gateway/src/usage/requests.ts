// The records of partners' requests, and what is counted of them by hour.

/** One request of a partner. It has no variables, no text of the query, and nothing of a member. */
export type RequestRecord = {
  /** When its response ended, in milliseconds since 1970. */
  time: number;
  requestId: string;
  /** Undefined with a member's token. */
  keyId?: string | undefined;
  /** Of the app that holds the member's token. */
  clientId?: string | undefined;
  /** The operation's name, of which callers choose the first 64 characters. */
  operation?: string | undefined;
  status: number;
  /** Those of its errors. */
  codes: readonly string[];
  cost: number;
  durationMs: number;
};

/** Records of a partner that one process has written together, in the order of their times. */
export type RequestChunk = {
  /** As chunkId makes it. */
  id: string;
  records: readonly RequestRecord[];
};

/** What is counted of a partner's requests. */
export type RequestSums = {
  requests: number;
  /** Of these, how many have a record. */
  recorded: number;
  /** How many had errors beside their data, with the status 200. */
  partial: number;
  /** How many were refused with a status from 400 to 499. */
  refused: number;
  /** How many failed with a status of 500 or more. */
  failed: number;
  /** The most that a key had used of its budget: 1 is all of it. */
  budget: number;
  /** How many took how long: see bucketOf. */
  latency: number[];
};

/** `hour` is in UTC: `2031-05-17T10`. */
export type RequestHour = RequestSums & { hour: string };

export type RequestSearch = {
  requestId?: string | undefined;
  status?: number | undefined;
  /** One of the record's. */
  code?: string | undefined;
  /** In milliseconds since 1970, exclusive. */
  before?: number | undefined;
};

/** A chunk covers at most this time. */
export const CHUNK_MS = 2_000;
export const KEPT_RECORDS = 20_000;
const KEPT_HOURS = 7 * 24;
const HOUR_MS = 3_600_000;
const KEPT_MS = KEPT_HOURS * HOUR_MS;

/** Four buckets for each doubling: a quantile is off by at most 9 %. */
const BUCKETS_A_DOUBLING = 4;
const LOWEST_MS = 0.25;
/** The last one is for all above a minute. */
const BUCKETS = 72;

/** The place in `latency` that counts a duration. */
export function bucketOf(durationMs: number): number {
  const place = Math.ceil(Math.log2(durationMs / LOWEST_MS) * BUCKETS_A_DOUBLING);
  return Math.min(BUCKETS - 1, Math.max(0, place));
}

/** The duration in milliseconds that a part of the requests did not exceed; undefined of none. */
export function quantile({ requests, latency }: RequestSums, part: number): number | undefined {
  let rest = Math.ceil(requests * part);
  if (rest === 0) return undefined;
  const place = latency.findIndex((count) => {
    rest -= count ?? 0;
    return rest <= 0;
  });
  return LOWEST_MS * 2 ** ((place - 0.5) / BUCKETS_A_DOUBLING);
}

export function noRequests(): RequestSums {
  const latency = new Array<number>(BUCKETS).fill(0);
  return { requests: 0, recorded: 0, partial: 0, refused: 0, failed: 0, budget: 0, latency };
}

/** Hours together. */
export function sumOf(all: readonly RequestSums[]): RequestSums {
  const sum = noRequests();
  for (const one of all) {
    for (const name of ['requests', 'recorded', 'partial', 'refused', 'failed'] as const)
      sum[name] += one[name];
    sum.budget = Math.max(sum.budget, one.budget);
    one.latency.forEach((count, place) => {
      sum.latency[place] = (sum.latency[place] ?? 0) + count;
    });
  }
  return sum;
}

export function errorsIn({ partial, refused, failed }: RequestSums): number {
  return partial + refused + failed;
}

export function isError({ status, codes }: Pick<RequestRecord, 'status' | 'codes'>): boolean {
  return status >= 400 || codes.length > 0;
}

/** The hours of which something is kept, the newest first. */
export function keptHours(now: Date): string[] {
  return Array.from({ length: KEPT_HOURS }, (_, ago) =>
    new Date(now.getTime() - ago * HOUR_MS).toISOString().slice(0, 13),
  );
}

/** Since when records are kept: 7 days ago, or after the hours beyond the last 20,000. */
export function keptSince(hours: readonly RequestHour[], now: Date): Date {
  let recorded = 0;
  const beyond = hours.toReversed().find((hour) => {
    if (recorded >= KEPT_RECORDS) return true;
    recorded += hour.recorded;
    return false;
  });
  const since = now.getTime() - KEPT_MS;
  if (beyond === undefined) return new Date(since);
  return new Date(Math.max(since, Date.parse(`${beyond.hour}:00:00Z`) + HOUR_MS));
}

/** IDs sort by partner and time. `unique` is different for every chunk of a moment. */
export function chunkId(partnerId: string, begun: number, unique: string): string {
  return `${chunkPlace(partnerId, begun)} ${unique}`;
}

/** Before the chunks of a partner that begin then or later, and after all that begin earlier. */
export function chunkPlace(partnerId: string, at: number | Date): string {
  return `${partnerId} ${new Date(at).toISOString()}`;
}

/** The IDs of a partner's chunks are between these. No partner's ID has a space. */
export function chunksOf(partnerId: string): { from: string; to: string } {
  return { from: `${partnerId} `, to: `${partnerId}!` };
}

export function partnerIn(id: string): string {
  return id.slice(0, id.indexOf(' '));
}

export function begunAt(id: string): number {
  return Date.parse(id.split(' ')[1] ?? '');
}
