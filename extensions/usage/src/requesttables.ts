// The part of the usage store that has the requests of partners, in tables of either engine.
import { setTimeout as pause } from 'node:timers/promises';
import {
  KEPT_RECORDS,
  keptHours,
  keptSince,
  type RequestHour,
  type RequestRecord,
  type RequestSearch,
} from '@partner-loyalty/gateway/usage/requests.ts';
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { removeRange } from '@partner-loyalty/runtime/store/engine/remove.ts';
import { type Store, table } from '@partner-loyalty/runtime/store/engine/store.ts';
import { CHUNK_MS, type Counts, type UsageStore } from './records.ts';

/** By hour and partner: what is counted, and the highest part of a budget. */
export const HOURS = table<Counts & { budget: number }>('hours');
/** By partner, time and writer: the records as JSON, which MongoDB's driver writes faster. */
export const CHUNKS = table<{ records: string }>('requests');

/** With 100 records in each, that takes 10 ms of CPU time. */
const WRITTEN_AT_ONCE = 100;
/** Between two pauses, about so many records are read. */
const RECORDS_A_TURN = 1_000;
const [LEAST_CHUNKS, MOST_CHUNKS] = [10, 500];
/** Partners whose old records are removed with one write. */
const SWEPT_AT_ONCE = 5;

export function createRequestTables(
  store: Store,
): Pick<UsageStore, 'addRequests' | 'requestHours' | 'requests'> {
  let lastHour = '';
  /** Partners before it have no old records in this hour; undefined if none has. */
  let swept: Key | undefined;

  async function requestHours(partnerId: string, now: Date): Promise<RequestHour[]> {
    const kept = keptHours(now);
    const rows = await store.getAll(
      HOURS,
      kept.map((hour) => [hour, partnerId]),
    );
    return kept.flatMap((hour, at) => {
      const { budget, ...counts } = rows[at] ?? { budget: undefined };
      return budget === undefined ? [] : [{ hour, counts, budget }];
    });
  }

  /** Where the chunks of a partner begin that are kept. */
  async function keptFrom(partnerId: string, now: Date): Promise<Key> {
    return [partnerId, keptSince(await requestHours(partnerId, now), now)];
  }

  /** Removes what is too old: a step at each call, and all of it once an hour. */
  async function sweep(now: Date): Promise<void> {
    const [first = ''] = keptHours(now);
    if (first > lastHour) {
      await removeRange(store, HOURS, { prefix: [], until: [first] });
      lastHour = first;
      swept = [];
    }
    for (let count = 0; count < SWEPT_AT_ONCE && swept !== undefined; count += 1) {
      const [next] = await store.keys(CHUNKS, { prefix: [], from: swept, limit: 1 });
      if (next === undefined) {
        swept = undefined;
        return;
      }
      const partnerId = String(next[0]);
      const until = await keptFrom(partnerId, now);
      await removeRange(store, CHUNKS, { prefix: [partnerId], until });
      swept = [`${partnerId}\0`];
    }
  }

  return {
    async addRequests({ hours, chunks, at }) {
      await store.add(
        HOURS,
        hours.map(({ partnerId, hour, counts, budget }) => {
          return { key: [hour, partnerId], amounts: counts, highest: { budget } };
        }),
      );
      for (let from = 0; from < chunks.length; from += WRITTEN_AT_ONCE)
        await store.transact((tx) => {
          for (const { partnerId, begun, writer, records } of chunks.slice(
            from,
            from + WRITTEN_AT_ONCE,
          ))
            tx.put(CHUNKS, [partnerId, begun, writer], { records: JSON.stringify(records) });
        });
      await sweep(at);
    },
    requestHours,
    async requests(partnerId, search, least, now) {
      // A time far from now has no place in the order of keys.
      const before = search.before && Math.max(0, Math.min(now.getTime(), search.before));
      const [, kept = 0] = await keptFrom(partnerId, now);
      // A record may be so much later than its chunk begins.
      const from = [partnerId, Math.max(Number(kept), (search.since ?? 0) - CHUNK_MS)];
      const until: Key = before === undefined ? [`${partnerId}\0`] : [partnerId, before];
      const range = { prefix: [partnerId], from, until };
      return findNewest(store, range, { ...search, before }, least);
    },
  };
}

async function findNewest(
  store: Store,
  range: { prefix: Key; from: Key; until: Key },
  search: RequestSearch,
  least: number,
): Promise<{ records: RequestRecord[]; hasMore: boolean }> {
  const found: RequestRecord[] = [];
  let [until, limit, seen] = [range.until, LEAST_CHUNKS, 0];
  while (seen < KEPT_RECORDS) {
    const startedAt = performance.now();
    const page = await store.range(CHUNKS, { ...range, until, limit, reverse: true });
    // Cast: only records are stored.
    const read = page.flatMap(({ row }) => JSON.parse(row.records) as RequestRecord[]);
    found.push(...read.filter((record) => matches(record, search)));
    found.sort((a, b) => b.time - a.time);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) break;
    seen += read.length;
    until = last.key;
    // Chunks of several processes overlap: what is not read yet may be as new as this.
    const next = found[least]?.time;
    if (next !== undefined && next >= Number(until[1]) + CHUNK_MS) break;
    const fitting = Math.floor((RECORDS_A_TURN * page.length) / Math.max(1, read.length));
    limit = Math.min(MOST_CHUNKS, Math.max(LEAST_CHUNKS, fitting));
    await pause(performance.now() - startedAt);
  }
  // The next page begins before the last one's moment, so all of that moment are on this page.
  const last = found[least - 1]?.time;
  const isNext = ({ time }: RequestRecord, place: number) => place >= least && time !== last;
  const next = found.findIndex(isNext);
  return { records: next === -1 ? found : found.slice(0, next), hasMore: next !== -1 };
}

function matches(record: RequestRecord, search: RequestSearch): boolean {
  const { requestId, keyId, statuses: [least, most] = [0, 999], code, slowerThanMs } = search;
  const { since = 0, before } = search;
  return (
    (requestId === undefined || record.requestId === requestId) &&
    (keyId === undefined || record.keyId === keyId) &&
    record.status >= least &&
    record.status <= most &&
    (code === undefined || record.codes.includes(code)) &&
    (slowerThanMs === undefined || record.durationMs > slowerThanMs) &&
    record.time >= since &&
    (before === undefined || record.time < before)
  );
}
