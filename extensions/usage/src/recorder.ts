// Records the requests of partners and counts them, and writes both every 1.5 seconds.
import { randomBytes } from 'node:crypto';
import {
  addCount,
  bucketOf,
  hourOf,
  isError,
  RECORDS_A_MINUTE,
  type RequestRecord,
  type RequestSums,
} from '@partner-loyalty/gateway/usage/requests.ts';
import type { EndedRequest, UsageCounter } from '@partner-loyalty/gateway/usage/usage.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { PartnerHour, RequestBatch, RequestChunk, UsageStore } from './records.ts';
import { CHUNK_MS } from './records.ts';
import { createWriter, type Writer } from './writer.ts';

/** With the time of a write, a killed process loses at most 2 seconds. */
const WRITE_MS = 1_500;
/** The records of all partners in a clock minute: about 20 MB. */
const MAX_RECORDS = 50_000;
/** In a clock minute. Requests of other partners are not counted. */
const MAX_PARTNERS = 10_000;
/** The sums of so many partners are written at once: with more, they take turns. */
const SUMS_IN_A_WRITE = 100;
/** Or this part of them, so that none waits for more than 30 seconds. */
const LEAST_PART = 1 / 20;

type Chunk = RequestChunk & { records: RequestRecord[] };

/** What there is of a partner in this minute: its records, and what is counted but not written. */
type Minute = { sums: PartnerHour | undefined; chunks: Chunk[]; records: number; errors: number };

/** `note` records a request if its minute has room. `now` is in milliseconds since 1970. */
export function createRequestRecorder(
  store: Pick<UsageStore, 'addRequests'>,
  { log }: { log: Pick<Log, 'outage'> },
  now: () => number = Date.now,
): Writer & { note: UsageCounter['ended'] } {
  const writer = randomBytes(6).toString('hex');
  let opened = 0;
  let minute = 0;
  let hour = '';
  let minutes = new Map<string, Minute>();
  let held = 0;
  /** What is not written yet. */
  const sums = new Set<PartnerHour>();
  let chunks = new Set<Chunk>();

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
  function dropSuccess(current: Minute): void {
    const isSuccess = (record: RequestRecord) => !isError(record);
    const chunk = current.chunks.findLast(({ records }) => records.some(isSuccess));
    if (chunk === undefined) return;
    chunk.records.splice(chunk.records.findLastIndex(isSuccess), 1);
    chunks.add(chunk);
  }

  function add(partnerId: string, current: Minute, record: RequestRecord): void {
    const { time } = record;
    let chunk = current.chunks.at(-1);
    if (chunk === undefined || !chunks.has(chunk) || time - chunk.begun >= CHUNK_MS) {
      opened += 1;
      chunk = { partnerId, begun: time, writer: `${writer}${opened}`, records: [] };
      current.chunks.push(chunk);
      chunks.add(chunk);
    }
    chunk.records.push(record);
  }

  function take(isLast: boolean): RequestBatch | undefined {
    if (sums.size + chunks.size === 0) return undefined;
    const most = isLast ? sums.size : Math.max(SUMS_IN_A_WRITE, sums.size * LEAST_PART);
    const hours = [...sums].slice(0, most);
    for (const each of hours) sums.delete(each);
    const batch = { at: new Date(now()), hours, chunks: [...chunks] };
    chunks = new Set();
    return batch;
  }

  const options = { intervalMs: WRITE_MS, what: 'records of requests', log };
  return {
    note(partnerId, request, budgetUsed) {
      const time = now();
      const current = minuteOf(partnerId, time);
      if (current === undefined) return;
      if (current.sums === undefined || !sums.has(current.sums)) {
        current.sums = { partnerId, hour, counts: {}, budget: 0 };
        sums.add(current.sums);
      }
      count(current.sums, request, budgetUsed);
      // What was asked for is no error that has to be kept.
      const failed = isError(request) && request.isFault === undefined;
      if (current.records < RECORDS_A_MINUTE && held < MAX_RECORDS) {
        current.records += 1;
        held += 1;
        addCount(current.sums.counts, 'recorded');
      } else if (failed && current.errors < current.records) dropSuccess(current);
      else return;
      if (failed) current.errors += 1;
      add(partnerId, current, { time, ...request });
    },
    ...createWriter(take, store.addRequests, options),
  };
}

function count(
  sums: RequestSums,
  { status, codes, durationMs, isFault }: EndedRequest,
  budgetUsed: number,
): void {
  const { counts } = sums;
  if (isFault) {
    addCount(counts, 'faults');
    return;
  }
  addCount(counts, 'requests');
  if (status >= 500) addCount(counts, 'failed');
  else if (status >= 400) addCount(counts, 'refused');
  else if (codes.length > 0) addCount(counts, 'partial');
  if (budgetUsed > sums.budget) sums.budget = budgetUsed;
  addCount(counts, bucketOf(durationMs));
}
