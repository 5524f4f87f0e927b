// Records the requests of partners and counts them, and writes both every 1.5 seconds.
import { randomBytes } from 'node:crypto';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import {
  addCount,
  bucketOf,
  CHUNK_MS,
  chunkPlace,
  hourOf,
  isError,
  RECORDS_A_MINUTE,
  type RequestRecord,
  type RequestSums,
} from './requests.ts';
import type { PartnerHour, RequestBatch, UsageStore } from './usagestore.ts';

/** With the time of a write, a killed process loses at most 2 seconds. */
const WRITE_MS = 1_500;
const DEADLINE_MS = 10_000;
/** Of all partners, in a clock minute: about 20 MB. */
const MAX_RECORDS = 50_000;
/** In a clock minute. Requests of further ones are not counted. */
const MAX_PARTNERS = 10_000;
/** The sums of so many partners are written at once: with more, they take turns. */
const SUMS_IN_A_WRITE = 100;
/** Or this part of them, so that none waits for more than 30 seconds. */
const LEAST_PART = 1 / 20;

type Ended = Omit<RequestRecord, 'time'>;

export type RequestRecorder = {
  /**
   * Counts a request whose response has ended just now, and records it if its minute has room.
   * `budgetUsed` is the part of its key's budget that is spent.
   */
  note(partnerId: string, request: Ended, budgetUsed: number): void;
  /**
   * Writes what there is, unless a write is under way. Never rejects: what cannot be written is
   * logged and lost.
   */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

type Chunk = { id: string; begun: number; records: RequestRecord[] };

/** What there is of a partner in this minute: its records, and what is counted but not written. */
type Minute = { sums: PartnerHour | undefined; chunks: Chunk[]; records: number; errors: number };

/** `now` is the time in milliseconds since 1970. */
export function createRequestRecorder(
  store: Pick<UsageStore, 'addRequests'>,
  { log }: { log: Pick<Log, 'outage'> },
  now: () => number = Date.now,
): RequestRecorder {
  const writer = randomBytes(6).toString('hex');
  let opened = 0;
  let minute = 0;
  let hour = '';
  let minutes = new Map<string, Minute>();
  let held = 0;
  /** What is not written yet. */
  const sums = new Set<PartnerHour>();
  let chunks = new Set<Chunk>();
  let writing: Promise<void> | undefined;

  /** Undefined if there are too many partners. */
  function minuteOf(partnerId: string, time: number): Minute | undefined {
    const current = Math.floor(time / 60_000);
    if (current !== minute) {
      minute = current;
      hour = hourOf(new Date(time));
      minutes = new Map();
      held = 0;
    }
    let found = minutes.get(partnerId);
    if (found === undefined && minutes.size < MAX_PARTNERS) {
      found = { sums: undefined, chunks: [], records: 0, errors: 0 };
      minutes.set(partnerId, found);
    }
    return found;
  }

  /** An error takes the place of a success, even of one that is written. */
  function dropSuccess(of: Minute): void {
    const isSuccess = (record: RequestRecord) => !isError(record);
    const chunk = of.chunks.findLast(({ records }) => records.some(isSuccess));
    if (chunk === undefined) return;
    chunk.records.splice(chunk.records.findLastIndex(isSuccess), 1);
    chunks.add(chunk);
  }

  function add(partnerId: string, of: Minute, record: RequestRecord): void {
    const { time } = record;
    let chunk = of.chunks.at(-1);
    if (chunk === undefined || !chunks.has(chunk) || time - chunk.begun >= CHUNK_MS) {
      opened += 1;
      const id = `${chunkPlace(partnerId, time)} ${writer}${opened}`;
      chunk = { id, begun: time, records: [] };
      of.chunks.push(chunk);
      chunks.add(chunk);
    }
    chunk.records.push(record);
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
    if (writing !== undefined || sums.size + chunks.size === 0) return writing ?? Promise.resolve();
    const hours = [...sums].slice(0, most);
    for (const each of hours) sums.delete(each);
    writing = writeBatch({ at: new Date(now()), hours, chunks: [...chunks] });
    chunks = new Set();
    return writing;
  }

  const timer = setInterval(() => write(), WRITE_MS).unref();
  return {
    note(partnerId, request, budgetUsed) {
      const time = now();
      const of = minuteOf(partnerId, time);
      if (of === undefined) return;
      if (of.sums === undefined || !sums.has(of.sums)) {
        of.sums = { partnerId, hour, counts: {}, budget: 0 };
        sums.add(of.sums);
      }
      count(of.sums, request, budgetUsed);
      const failed = isError(request);
      if (of.records < RECORDS_A_MINUTE && held < MAX_RECORDS) {
        of.records += 1;
        held += 1;
        addCount(of.sums.counts, 'recorded');
      } else if (failed && of.errors < of.records) dropSuccess(of);
      else return;
      if (failed) of.errors += 1;
      add(partnerId, of, { time, ...request });
    },
    write: () => write(),
    async close() {
      clearInterval(timer);
      await writing;
      await write(Number.POSITIVE_INFINITY);
    },
  };
}

function count(sums: RequestSums, { status, codes, durationMs }: Ended, budgetUsed: number): void {
  const { counts } = sums;
  addCount(counts, 'requests');
  if (status >= 500) addCount(counts, 'failed');
  else if (status >= 400) addCount(counts, 'refused');
  else if (codes.length > 0) addCount(counts, 'partial');
  if (budgetUsed > sums.budget) sums.budget = budgetUsed;
  addCount(counts, bucketOf(durationMs));
}
