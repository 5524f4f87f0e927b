// The part of the usage store that has the requests of partners, on tables of either engine.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChunkTable } from './chunks.ts';
import type { Counts, CountTable } from './counts.ts';
import { hourId } from './records.ts';
import {
  begunAt,
  CHUNK_MS,
  chunkPlace,
  chunksOf,
  KEPT_RECORDS,
  keptHours,
  keptSince,
  noRequests,
  partnerIn,
  type RequestHour,
  type RequestRecord,
  type RequestSearch,
} from './requests.ts';
import type { PartnerHour, UsageStore } from './usagestore.ts';

/** Between two turns of the event loop, about so many records are read. */
const RECORDS_A_TURN = 1_000;
const [LEAST_CHUNKS, MOST_CHUNKS] = [10, 500];
/** Partners whose old records are removed with one write. */
const PARTNERS_A_WRITE = 5;

type RequestTables = Pick<UsageStore, 'addRequests' | 'requestHours' | 'requests'>;

export function createRequestTables(hours: CountTable, chunks: ChunkTable): RequestTables {
  const sweep = createSweep(hours, chunks);
  return {
    async addRequests(batch) {
      await hours.add(batch.hours.map(countsOf));
      if (batch.chunks.length > 0) await chunks.put(batch.chunks);
      await sweep(batch.at);
    },
    requestHours: (partnerId, now) => hoursOf(hours, partnerId, now),
    async requests(partnerId, search, least, now) {
      const since = keptSince(await hoursOf(hours, partnerId, now), now);
      // A time far from now has no place in the order of IDs.
      const before = search.before && Math.min(now.getTime(), search.before);
      return findNewest(chunks, partnerId, since, { ...search, before }, least);
    },
  };
}

async function hoursOf(hours: CountTable, partnerId: string, now: Date): Promise<RequestHour[]> {
  const kept = keptHours(now);
  const rows = await hours.get(kept.map((hour) => hourId(hour, partnerId)));
  return kept.toReversed().flatMap((hour) => {
    const row = rows.get(hourId(hour, partnerId));
    return row === undefined ? [] : [{ hour, ...sumsIn(row) }];
  });
}

/** Returns a function that removes what is too old: a step at each call, all of it in an hour. */
function createSweep(hours: CountTable, chunks: ChunkTable): (now: Date) => Promise<void> {
  let lastHour = '';
  /** Partners that sort before it are done; undefined if all are. */
  let place: string | undefined;

  async function sweepNext(from: string, now: Date): Promise<string | undefined> {
    const first = await chunks.firstId(from);
    if (first === undefined) return undefined;
    const partnerId = partnerIn(first);
    const since = keptSince(await hoursOf(hours, partnerId, now), now);
    const range = chunksOf(partnerId);
    await chunks.removeBetween(range.from, chunkPlace(partnerId, since));
    return range.to;
  }

  return async (now) => {
    const [hour = ''] = keptHours(now);
    if (hour > lastHour) {
      lastHour = hour;
      place = '';
      await hours.removeBefore(keptHours(now).at(-1) ?? '');
    }
    for (let count = 0; count < PARTNERS_A_WRITE && place !== undefined; count += 1)
      place = await sweepNext(place, now);
  };
}

async function findNewest(
  chunks: ChunkTable,
  partnerId: string,
  since: Date,
  search: RequestSearch,
  least: number,
): Promise<{ records: RequestRecord[]; hasMore: boolean }> {
  const { before } = search;
  const from = chunkPlace(partnerId, since);
  let to = before === undefined ? chunksOf(partnerId).to : chunkPlace(partnerId, before);
  const found: RequestRecord[] = [];
  let [size, seen] = [LEAST_CHUNKS, 0];
  while (seen < KEPT_RECORDS) {
    const page = await chunks.last(from, to, size);
    const records = page.flatMap((chunk) => chunk.records.toReversed());
    found.push(...records.slice(0, KEPT_RECORDS - seen).filter((one) => matches(one, search)));
    found.sort((a, b) => b.time - a.time);
    seen += records.length;
    if (page.length < size) return firstOf(found, least);
    to = page.at(-1)?.id ?? from;
    // Chunks of several processes overlap: what is not read yet may be as new as this.
    const last = found[least]?.time;
    if (last !== undefined && last >= begunAt(to) + CHUNK_MS) break;
    const chunksOfTurn = (RECORDS_A_TURN * page.length) / Math.max(1, records.length);
    size = Math.max(LEAST_CHUNKS, Math.min(MOST_CHUNKS, Math.floor(chunksOfTurn)));
    await nextTurn();
  }
  return firstOf(found, least);
}

/** The first of them, and all further ones of the same moment: the next page begins before it. */
function firstOf(found: readonly RequestRecord[], least: number) {
  const last = found[least - 1]?.time;
  const end = found.findIndex(({ time }, place) => place >= least && time !== last);
  return end === -1
    ? { records: [...found], hasMore: false }
    : { records: found.slice(0, end), hasMore: true };
}

function matches(record: RequestRecord, search: RequestSearch): boolean {
  const { requestId, status, code, before } = search;
  return (
    (requestId === undefined || record.requestId === requestId) &&
    (status === undefined || record.status === status) &&
    (code === undefined || record.codes.includes(code)) &&
    (before === undefined || record.time < before)
  );
}

const SUMMED = ['requests', 'recorded', 'partial', 'refused', 'failed'] as const;

/** Of the buckets, those that have something: `l7` is the one at place 7. */
function countsOf({ partnerId, hour, latency, budget, ...sums }: PartnerHour): Counts {
  const counts: Record<string, number> = {};
  for (const name of SUMMED) if (sums[name] > 0) counts[name] = sums[name];
  latency.forEach((count, place) => {
    if (count > 0) counts[`l${place}`] = count;
  });
  return { id: hourId(hour, partnerId), about: {}, counts, highest: budget };
}

function sumsIn({ counts, highest = 0 }: Counts) {
  const sums = { ...noRequests(), budget: highest };
  for (const name of SUMMED) sums[name] = counts[name] ?? 0;
  sums.latency.forEach((_, place) => {
    sums.latency[place] = counts[`l${place}`] ?? 0;
  });
  return sums;
}
