// Records the requests of partners and adds them up, and writes both every 1.5 seconds.
import { randomBytes } from 'node:crypto';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import {
  bucketOf,
  CHUNK_MS,
  chunkId,
  isError,
  noRequests,
  type RequestRecord,
  type RequestSums,
} from './requests.ts';
import type { PartnerHour, RequestBatch, UsageStore } from './usagestore.ts';

/** With the time of a write, a killed process loses at most 2 seconds. */
const WRITE_MS = 1_500;
const DEADLINE_MS = 10_000;
/** Of a partner, in a clock minute. Further requests are only counted. */
export const RECORDS_A_MINUTE = 100;
/** Of all partners, in a clock minute: about 20 MB. */
const MAX_RECORDS = 50_000;
/** In a clock minute. Requests of further ones are not counted. */
const MAX_PARTNERS = 10_000;
/** The sums of so many partners are written at once: with more, they take turns. */
const SUMS_IN_A_WRITE = 100;
/** Or of this part of them, so that none waits for more than 30 seconds. */
const LEAST_PART = 1 / 20;
/** Of a record. */
const MAX_CODES = 10;

export type RequestRecorder = {
  /**
   * Counts a request whose response has ended just now, and records it if its minute has room.
   * `budgetUsed` is the part of its key's budget that is spent.
   */
  note(partnerId: string, request: Omit<RequestRecord, 'time'>, budgetUsed: number): void;
  /**
   * Writes what there is, unless a write is under way. Never rejects: what cannot be written is
   * logged and lost.
   */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

type OpenChunk = { id: string; begun: number; records: RequestRecord[] };

/** What is recorded of a partner in the current minute. */
type Recorded = { chunks: OpenChunk[]; count: number; successes: number };

/** `now` is the time in milliseconds since 1970. */
export function createRequestRecorder(
  store: Pick<UsageStore, 'addRequests'>,
  { log }: { log: Pick<Log, 'outage'> },
  now: () => number = Date.now,
): RequestRecorder {
  const writer = randomBytes(6).toString('hex');
  let opened = 0;
  let [minute, hour] = [0, ''];
  let partners = new Map<string, Recorded>();
  let held = 0;
  /** What is not written: of this hour, by partner; of the one before; and chunks. */
  const sums = new Map<string, PartnerHour>();
  let late: PartnerHour[] = [];
  let changed = new Set<OpenChunk>();
  let writing: Promise<void> | undefined;

  function beginMinute(time: number): void {
    minute = minuteOf(time);
    partners = new Map();
    held = 0;
    const next = new Date(time).toISOString().slice(0, 13);
    if (next === hour) return;
    hour = next;
    late = [...late, ...sums.values()];
    sums.clear();
  }

  /** Undefined if there are too many partners. */
  function recordedOf(partnerId: string): Recorded | undefined {
    let found = partners.get(partnerId);
    if (found === undefined && partners.size < MAX_PARTNERS) {
      found = { chunks: [], count: 0, successes: 0 };
      partners.set(partnerId, found);
    }
    return found;
  }

  function sumsOf(partnerId: string): PartnerHour {
    let found = sums.get(partnerId);
    if (found === undefined) {
      found = { partnerId, hour, ...noRequests() };
      sums.set(partnerId, found);
    }
    return found;
  }

  function dropSuccess(recorded: Recorded): void {
    recorded.successes -= 1;
    for (const chunk of recorded.chunks.toReversed()) {
      const place = chunk.records.findLastIndex((record) => !isError(record));
      if (place === -1) continue;
      chunk.records.splice(place, 1);
      changed.add(chunk);
      return;
    }
  }

  function record(partnerId: string, { chunks }: Recorded, request: RequestRecord): void {
    const { time } = request;
    let chunk = chunks.at(-1);
    // What is written already is left alone.
    if (chunk === undefined || !changed.has(chunk) || time - chunk.begun >= CHUNK_MS) {
      opened += 1;
      chunk = { id: chunkId(partnerId, time, `${writer}${opened}`), begun: time, records: [] };
      chunks.push(chunk);
    }
    chunk.records.push(request);
    changed.add(chunk);
  }

  async function writeBatch(batch: RequestBatch): Promise<void> {
    try {
      const added = store.addRequests(batch);
      await withTimeout(added, DEADLINE_MS, 'the usage store did not respond in time');
    } catch (error) {
      log.outage({ store: 'usage', err: error }, 'requests could not be recorded');
    } finally {
      writing = undefined;
    }
  }

  function write(most = Math.max(SUMS_IN_A_WRITE, sums.size * LEAST_PART)): Promise<void> {
    if (writing !== undefined) return writing;
    const hours = [...late, ...takeFirst(sums, most)];
    if (hours.length === 0 && changed.size === 0) return Promise.resolve();
    writing = writeBatch({ at: new Date(now()), hours, chunks: [...changed] });
    late = [];
    changed = new Set();
    return writing;
  }

  const timer = setInterval(() => write(), WRITE_MS).unref();
  return {
    note(partnerId, request, budgetUsed) {
      const time = now();
      if (minuteOf(time) !== minute) beginMinute(time);
      const recorded = recordedOf(partnerId);
      if (recorded === undefined) return;
      const isSuccess = !isError(request);
      const sum = sumsOf(partnerId);
      count(sum, request, budgetUsed);
      if (recorded.count < RECORDS_A_MINUTE && held < MAX_RECORDS) {
        recorded.count += 1;
        sum.recorded += 1;
        held += 1;
      } else if (isSuccess || recorded.successes === 0) return;
      else dropSuccess(recorded);
      if (isSuccess) recorded.successes += 1;
      record(partnerId, recorded, kept(request, time));
    },
    write: () => write(),
    async close() {
      clearInterval(timer);
      await writing;
      await write(Number.POSITIVE_INFINITY);
    },
  };
}

function minuteOf(time: number): number {
  return Math.floor(time / 60_000);
}

function count(
  sum: RequestSums,
  { status, codes, durationMs }: Omit<RequestRecord, 'time'>,
  budgetUsed: number,
): void {
  sum.requests += 1;
  if (status >= 500) sum.failed += 1;
  else if (status >= 400) sum.refused += 1;
  else if (codes.length > 0) sum.partial += 1;
  if (budgetUsed > sum.budget) sum.budget = budgetUsed;
  const bucket = bucketOf(durationMs);
  sum.latency[bucket] = (sum.latency[bucket] ?? 0) + 1;
}

function kept(request: Omit<RequestRecord, 'time'>, time: number): RequestRecord {
  const { operation, codes } = request;
  return {
    time,
    ...request,
    // The name of an operation is a slice of its document, which it would keep in memory.
    operation: operation && Buffer.from(operation).toString(),
    codes: codes.length > MAX_CODES ? codes.slice(0, MAX_CODES) : codes,
  };
}

function takeFirst<T>(all: Map<string, T>, most: number): T[] {
  const taken: T[] = [];
  for (const [key, value] of all) {
    if (taken.length >= most) break;
    all.delete(key);
    taken.push(value);
  }
  return taken;
}
