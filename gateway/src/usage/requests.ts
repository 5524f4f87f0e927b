// The records of partners' requests, and what is counted of them by hour.

/** One request of a partner. It has no variables, no text of the query, and nothing of a member. */
export type RequestRecord = {
  /** When its response ended, in milliseconds since 1970. */
  time: number;
  requestId: string;
  /** Undefined with a member's token. */
  keyId?: string | undefined;
  /** The app that holds the member's token. */
  clientId?: string | undefined;
  /**
   * The name of the operation, or its first 64 characters; the first root field of one without a
   * name, if it was executed.
   */
  operation?: string | undefined;
  status: number;
  /** The codes of its errors. */
  codes: readonly string[];
  /** What its key or token was charged. */
  cost: number;
  durationMs: number;
  /** Whether it failed because it asked the sandbox for that: x-sandbox-fault. */
  isFault?: true | undefined;
};

/**
 * What is counted of a partner: `requests`; of these, how many are `recorded`, were `refused` with
 * a status from 400 on, have `failed` with one from 500 on, or had errors and the status 200, which
 * is `partial`; and for each of BUCKETS how many took that long. Only `recorded` includes faults of
 * a sandbox; `faults` is their number.
 */
export type RequestSums = {
  counts: Record<string, number>;
  /** The most that a key had used of its budget: 1 is all of it. */
  budget: number;
};

/** `hour` is in UTC: `2031-05-17T10`. */
export type RequestHour = RequestSums & { hour: string };

/** What records have to have. */
export type RequestSearch = {
  requestId?: string | undefined;
  keyId?: string | undefined;
  /** The least and the most. */
  statuses?: readonly [least: number, most: number] | undefined;
  /** Among those of its errors. */
  code?: string | undefined;
  slowerThanMs?: number | undefined;
  /** In milliseconds since 1970, inclusive. */
  since?: number | undefined;
  /** In milliseconds since 1970. */
  before?: number | undefined;
};

/** The records of a partner in a clock minute of a process. Other requests are only counted. */
export const RECORDS_A_MINUTE = 100;
/** The most records of a partner. */
export const KEPT_RECORDS = 20_000;
const KEPT_HOURS = 7 * 24;
const HOUR_MS = 3_600_000;

/** Four for each doubling: a quantile is off by at most 9 %. The last has all above a minute. */
const BUCKETS = Array.from({ length: 72 }, (_, place) => `l${place}`);
const BUCKETS_A_DOUBLING = 4;
const LOWEST_MS = 0.25;

export function bucketOf(durationMs: number): string {
  const place = Math.ceil(Math.log2(durationMs / LOWEST_MS) * BUCKETS_A_DOUBLING);
  return BUCKETS[Math.min(BUCKETS.length - 1, Math.max(0, place))] ?? '';
}

/** The duration in milliseconds that this part of the requests did not exceed. */
export function quantile({ counts }: RequestSums, part: number): number {
  let rest = (counts.requests ?? 0) * part;
  const place = BUCKETS.findIndex((bucket) => {
    rest -= counts[bucket] ?? 0;
    return rest <= 0;
  });
  return LOWEST_MS * 2 ** ((place - 0.5) / BUCKETS_A_DOUBLING);
}

export function addCount(counts: Record<string, number>, name: string, more = 1): void {
  counts[name] = (counts[name] ?? 0) + more;
}

export function sumOf(all: readonly RequestSums[]): RequestSums {
  const counts: Record<string, number> = {};
  for (const one of all)
    for (const [name, count] of Object.entries(one.counts)) addCount(counts, name, count);
  return { counts, budget: Math.max(0, ...all.map(({ budget }) => budget)) };
}

export function errorsIn({ counts }: RequestSums): number {
  return (counts.partial ?? 0) + (counts.refused ?? 0) + (counts.failed ?? 0);
}

/** The number of requests that have no record. */
export function unrecordedIn({ counts }: RequestSums): number {
  const { requests = 0, faults = 0, recorded = 0 } = counts;
  return Math.max(0, requests + faults - recorded);
}

export function isError({ status, codes }: Pick<RequestRecord, 'status' | 'codes'>): boolean {
  return status >= 400 || codes.length > 0;
}

/** The hour of an instant, in UTC: `2031-05-17T10`. */
export function hourOf(at: Date): string {
  return at.toISOString().slice(0, 13);
}

/** The hours of which something is kept, the oldest first. */
export function keptHours(now: Date): string[] {
  return Array.from({ length: KEPT_HOURS }, (_, place) =>
    hourOf(new Date(now.getTime() - (KEPT_HOURS - 1 - place) * HOUR_MS)),
  );
}

/** Since when records are kept: 7 days ago, or after the hours beyond the last 20,000. */
export function keptSince(hours: readonly RequestHour[], now: Date): number {
  let recorded = 0;
  const beyond = hours.findLast(({ counts }) => {
    if (recorded >= KEPT_RECORDS) return true;
    recorded += counts.recorded ?? 0;
    return false;
  });
  const since = now.getTime() - KEPT_HOURS * HOUR_MS;
  return beyond === undefined
    ? since
    : Math.max(since, Date.parse(`${beyond.hour}:00:00Z`) + HOUR_MS);
}
