// The part of the usage store that has the requests of partners, on tables of either engine.
import { setTimeout as pause } from 'node:timers/promises';
import {
  KEPT_RECORDS,
  keptHours,
  keptSince,
  type RequestHour,
  type RequestRecord,
  type RequestSearch,
} from '@partner-loyalty/gateway/usage/requests.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import { CHUNK_MS, chunkPlace, hourId, partsOf } from './records.ts';
import type { Counts, CountTable, RequestChunk, UsageStore } from './store.ts';

/** A table of counts that counts nothing: its rows have the records as JSON. */
type ChunkTable = CountTable<{ records: string }>;

/** With 100 records in each, that takes 10 ms of CPU time. */
const WRITTEN_AT_ONCE = 100;
/** Between two pauses, about so many records are read. */
const RECORDS_A_TURN = 1_000;
const [LEAST_CHUNKS, MOST_CHUNKS] = [10, 500];
/** Partners whose old records are removed with one write. */
const SWEPT_AT_ONCE = 5;

export function createRequestTables(
  hours: CountTable,
  chunks: ChunkTable,
): Pick<UsageStore, 'addRequests' | 'requestHours' | 'requests'> {
  /** A partner has one search at a time, which pauses: they take half of a core at most. */
  const place = createPlaces({ ofOwner: 1 });
  let lastHour = '';
  /** Partners before it have no old records in this hour; undefined if none has. */
  let swept: string | undefined;

  async function requestHours(partnerId: string, now: Date): Promise<RequestHour[]> {
    const kept = keptHours(now);
    const rows = await hours.get(kept.map((hour) => hourId(hour, partnerId)));
    return kept.flatMap((hour) => {
      const row = rows.get(hourId(hour, partnerId));
      return row === undefined ? [] : [{ hour, counts: row.counts, budget: row.highest ?? 0 }];
    });
  }

  /** Where the chunks of a partner begin that are kept. */
  async function keptFrom(partnerId: string, now: Date): Promise<string> {
    return chunkPlace(partnerId, keptSince(await requestHours(partnerId, now), now));
  }

  /** Removes what is too old: a step at each call, and all of it once an hour. */
  async function sweep(now: Date): Promise<void> {
    const [first = ''] = keptHours(now);
    if (first > lastHour) {
      await hours.removeBetween('', first);
      lastHour = first;
      swept = '';
    }
    for (let count = 0; count < SWEPT_AT_ONCE && swept !== undefined; count += 1) {
      const id = await chunks.firstId(swept);
      const { partnerId } = partsOf(id ?? '');
      if (id !== undefined) await chunks.removeBetween(id, await keptFrom(partnerId, now));
      swept = id && endOf(partnerId);
    }
  }

  return {
    async addRequests(batch) {
      await hours.add(
        batch.hours.map(({ partnerId, hour, counts, budget }) => {
          return { id: hourId(hour, partnerId), about: {}, counts, highest: budget };
        }),
      );
      for (let from = 0; from < batch.chunks.length; from += WRITTEN_AT_ONCE)
        await chunks.put(batch.chunks.slice(from, from + WRITTEN_AT_ONCE).map(rowOf));
      await sweep(batch.at);
    },
    requestHours,
    async requests(partnerId, search, least, now) {
      // A time far from now has no place in the order of IDs.
      const before = search.before && Math.max(0, Math.min(now.getTime(), search.before));
      const to = before === undefined ? endOf(partnerId) : chunkPlace(partnerId, before);
      const range = { from: await keptFrom(partnerId, now), to };
      const leave = await place({ owner: partnerId });
      return findNewest(chunks, range, { ...search, before }, least).finally(leave);
    },
  };
}

/** After all chunks of a partner, and before those of the next. */
function endOf(partnerId: string): string {
  return `${partnerId}!`;
}

function rowOf({ id, records }: RequestChunk): Counts<{ records: string }> {
  return { id, about: { records: JSON.stringify(records) }, counts: {} };
}

async function findNewest(
  chunks: ChunkTable,
  { from, to }: { from: string; to: string },
  search: RequestSearch,
  least: number,
): Promise<{ records: RequestRecord[]; hasMore: boolean }> {
  const found: RequestRecord[] = [];
  let [end, size, seen] = [to, LEAST_CHUNKS, 0];
  while (seen < KEPT_RECORDS) {
    const startedAt = performance.now();
    const page = await chunks.last(from, end, size);
    // Cast: only records are stored.
    const read = page.flatMap(({ about }) => JSON.parse(about.records) as RequestRecord[]);
    found.push(...read.filter((record) => matches(record, search)));
    found.sort((a, b) => b.time - a.time);
    if (page.length < size) break;
    seen += read.length;
    end = page.at(-1)?.id ?? from;
    // Chunks of several processes overlap: what is not read yet may be as new as this.
    const next = found[least]?.time;
    if (next !== undefined && next >= partsOf(end).begun + CHUNK_MS) break;
    const fitting = Math.floor((RECORDS_A_TURN * page.length) / Math.max(1, read.length));
    size = Math.min(MOST_CHUNKS, Math.max(LEAST_CHUNKS, fitting));
    await pause(performance.now() - startedAt);
  }
  // The next page begins before the last one's moment, so all of that moment are on this page.
  const last = found[least - 1]?.time;
  const isNext = ({ time }: RequestRecord, place: number) => place >= least && time !== last;
  const next = found.findIndex(isNext);
  return { records: next === -1 ? found : found.slice(0, next), hasMore: next !== -1 };
}

function matches(record: RequestRecord, search: RequestSearch): boolean {
  const { requestId, statuses: [least, most] = [0, 999], code, slowerThanMs, before } = search;
  return (
    (requestId === undefined || record.requestId === requestId) &&
    record.status >= least &&
    record.status <= most &&
    (code === undefined || record.codes.includes(code)) &&
    (slowerThanMs === undefined || record.durationMs > slowerThanMs) &&
    (before === undefined || record.time < before)
  );
}
