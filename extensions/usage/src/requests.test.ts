// The contract of what the usage store keeps of requests.
import {
  addCount,
  bucketOf,
  KEPT_RECORDS,
  quantile,
  type RequestRecord,
  type RequestSearch,
} from '@partner-loyalty/gateway/usage/requests.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import type { PartnerHour, UsageStore } from './store.ts';
import { openUsageStore } from './stores.ts';

const NOW = new Date('2031-05-17T10:30:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const record = (ago: number, requestId: string, more: Partial<RequestRecord> = {}) => ({
  time: NOW.getTime() - ago,
  requestId,
  keyId: 'key_a',
  status: 200,
  codes: [],
  cost: 1,
  durationMs: 3.5,
  ...more,
});
const hourOf = (ago: number) => new Date(NOW.getTime() - ago).toISOString().slice(0, 13);
const sums = (ago: number, partnerId: string, counts = {}, budget = 0): PartnerHour => ({
  partnerId,
  hour: hourOf(ago),
  counts,
  budget,
});

describe('the requests in a usage store', () => {
  let place: { mongodbUrl?: string; dataDir: string };
  let stores: UsageStore[];
  let store: UsageStore;
  let release: () => unknown;
  let chunks: number;

  const open = async () => {
    const opened = await openUsageStore({ ...place, environment: 'sandbox' });
    stores.push(opened);
    return opened;
  };
  const chunk = (partnerId: string, records: RequestRecord[]) => {
    chunks += 1;
    return { partnerId, begun: records[0]?.time ?? 0, writer: `w${chunks}`, records };
  };
  const add = (partnerId: string, records: RequestRecord[], to = store) =>
    to.addRequests({ at: NOW, hours: [], chunks: [chunk(partnerId, records)] });
  const found = async (partnerId: string, search: RequestSearch = {}, least = 100) => {
    const { records, hasMore } = await store.requests(partnerId, search, least, NOW);
    return [...records.map(({ requestId }) => requestId), ...(hasMore ? ['…'] : [])];
  };

  beforeEach(async () => {
    ({ settings: place, release } = emptyPlace());
    stores = [];
    chunks = 0;
    store = await open();
  });

  afterEach(async () => {
    for (const each of stores) await each.close();
    await release();
  });

  test('records are found newest first, by request ID, status and code', async () => {
    const whole: RequestRecord = {
      ...record(3_000, 'a'),
      operation: 'Look',
      clientId: 'app',
      codes: ['MEMBER_NOT_FOUND', 'FORBIDDEN'],
    };
    await add('acme', [whole, record(2_500, 'b', { status: 429, codes: ['RATE_LIMITED'] })]);
    await add('acme', [record(1_000, 'c', { status: 503 }), record(500, 'a')]);
    expect(await found('acme')).toEqual(['a', 'c', 'b', 'a']);
    expect(await found('acme', { requestId: 'a' })).toEqual(['a', 'a']);
    expect(await found('acme', { statuses: [400, 499] })).toEqual(['b']);
    expect(await found('acme', { code: 'FORBIDDEN' })).toEqual(['a']);
    expect(await found('acme', { code: 'FORBIDDEN', statuses: [503, 503] })).toEqual([]);
    expect(await found('acme', { keyId: 'key_b' })).toEqual([]);
    expect(await found('acme', { keyId: 'key_a', since: NOW.getTime() - 2_500 })).toEqual([
      'a',
      'c',
      'b',
    ]);
    const { records } = await store.requests('acme', { before: NOW.getTime() - 2_500 }, 10, NOW);
    expect(records).toEqual([whole]);
  });

  test('a record is found by its time, however early its chunk began', async () => {
    const chunked = [record(3_900, 'a'), record(2_000, 'b')];
    await add('acme', chunked);
    expect(await found('acme', { since: NOW.getTime() - 2_000 })).toEqual(['b']);
  });

  test("a partner's records and sums are never another's, whatever its ID begins with", async () => {
    const partners = ['acme', 'acme-inns', 'acm', 'acme2', 'zeta'];
    for (const partnerId of partners) await add(partnerId, [record(1_000, partnerId)]);
    await store.addRequests({
      at: NOW,
      hours: partners.map((partnerId, n) => sums(0, partnerId, { requests: n + 1 })),
      chunks: [],
    });
    for (const [n, partnerId] of partners.entries()) {
      expect(await found(partnerId)).toEqual([partnerId]);
      expect(await found(partnerId, { requestId: 'zeta' })).toEqual(n === 4 ? ['zeta'] : []);
      expect(await store.requestHours(partnerId, NOW)).toMatchObject([
        { counts: { requests: n + 1 } },
      ]);
    }
    expect(await found('ac')).toEqual([]);
  });

  test('pages follow each other without a gap, also among chunks that overlap', async () => {
    // Two processes, whose chunks begin at almost the same time.
    const ids: string[] = [];
    for (let n = 60; n > 0; n -= 1) {
      const at = n * 2_000;
      await add('acme', [record(at, `${n}a`), record(at - 1_900, `${n}c`)]);
      await add('acme', [record(at - 10, `${n}b`), record(at - 1_900, `${n}d`)]);
      ids.unshift(`${n}c`, `${n}d`, `${n}b`, `${n}a`);
    }
    const seen: string[] = [];
    for (let before = Number.MAX_SAFE_INTEGER, more = true; more; ) {
      const search = before === Number.MAX_SAFE_INTEGER ? {} : { before };
      const { records, hasMore } = await store.requests('acme', search, 7, NOW);
      seen.push(...records.map(({ requestId }) => requestId));
      before = records.at(-1)?.time ?? 0;
      more = hasMore;
    }
    expect(seen).toHaveLength(ids.length);
    expect(seen.map((id) => id.replace('d', 'c'))).toEqual(ids.map((id) => id.replace('d', 'c')));
    expect(new Set(seen)).toEqual(new Set(ids));
  });

  test('a chunk that is written again is replaced, and several processes lose nothing', async () => {
    const other = await open();
    const first = chunk('acme', [record(5_000, 'a'), record(4_900, 'b')]);
    const add = (to: UsageStore, ago: number, records: RequestRecord[]) =>
      to.addRequests({
        at: NOW,
        hours: [
          sums(ago, 'acme', { requests: 2, recorded: 1, failed: 1, l1: 2 }, 0.25),
          sums(ago, 'acme', { requests: 1, refused: 1, l2: 1 }, 0.75),
          sums(ago, 'acme', {}, 0.5),
        ],
        chunks: [{ ...first, records: records }, chunk('acme', [record(ago, 'c')])],
      });
    await add(store, HOUR, [...first.records]);
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        add(n % 2 === 0 ? store : other, 0, [record(5_000, 'a')]),
      ),
    );
    expect((await found('acme')).sort()).toEqual(['a', ...Array(11).fill('c')]);
    const once = { requests: 3, recorded: 1, failed: 1, refused: 1, l1: 2, l2: 1 };
    const ten = Object.entries(once).map(([name, count]) => [name, 10 * count]);
    expect(await store.requestHours('acme', NOW)).toEqual([
      { hour: hourOf(HOUR), counts: once, budget: 0.75 },
      { hour: hourOf(0), counts: Object.fromEntries(ten), budget: 0.75 },
    ]);
  });

  test('7 days are kept, also of partners that send nothing any more', async () => {
    const other = await open();
    const hours = [8 * DAY, 7 * DAY + HOUR, 7 * DAY - HOUR, 0].map((ago) =>
      sums(ago, 'gone', { requests: 1, recorded: 1 }),
    );
    const old = [8 * DAY, 7 * DAY + MINUTE, 7 * DAY - MINUTE, 0];
    const write = (partnerId: string) =>
      old.map((ago) => chunk(partnerId, [record(ago, `${ago / MINUTE}`)]));
    const before = new Date(NOW.getTime() - 8 * DAY);
    await store.addRequests({ at: before, hours, chunks: [...write('gone'), ...write('other')] });
    const kept = [7 * DAY - MINUTE, 0].map((ago) => `${ago / MINUTE}`).reverse();
    // They are not shown, and after a write of any process, they are not there either.
    expect(await found('gone')).toEqual(kept);
    expect(await store.requestHours('gone', NOW)).toHaveLength(2);
    expect((await store.requests('gone', {}, 10, before)).records).toHaveLength(4);
    await other.addRequests({ at: NOW, hours: [], chunks: [] });
    expect((await store.requests('gone', {}, 10, before)).records).toHaveLength(2);
    expect((await store.requests('other', {}, 10, before)).records).toHaveLength(2);
    expect(await found('gone')).toEqual(kept);
    expect(await store.requestHours('gone', before)).toHaveLength(0);
  });

  test('the last 20,000 are kept, and what was before is removed by whole hours', async () => {
    const inHour = (ago: number, count: number) => ({
      hours: [sums(ago, 'acme', { requests: count, recorded: count })],
      chunks: Array.from({ length: count / 100 }, (_, n) =>
        chunk(
          'acme',
          Array.from({ length: 100 }, (_, m) => record(ago - n * 5_000 - m, `${ago}`)),
        ),
      ),
    });
    for (const ago of [4 * HOUR, 3 * HOUR, 2 * HOUR])
      await store.addRequests({ at: new Date(NOW.getTime() - ago), ...inHour(ago, 6_000) });
    const [oldest, second] = [`${4 * HOUR}`, `${3 * HOUR}`];
    expect(await found('acme', { requestId: oldest }, 10_000)).toHaveLength(6_000);
    for (const ago of [HOUR, 0])
      await store.addRequests({ at: new Date(NOW.getTime() - ago), ...inHour(ago, 6_000) });
    expect(await found('acme', { requestId: second }, 10_000)).toHaveLength(KEPT_RECORDS - 18_000);
    expect(await found('acme', { requestId: oldest })).toEqual([]);
    const before = new Date(NOW.getTime() - HOUR);
    expect((await store.requests('acme', { requestId: second }, 1, before)).records).toHaveLength(
      1,
    );
    await (await open()).addRequests({ at: NOW, ...inHour(0, 6_000) });
    const search = { requestId: oldest, before: NOW.getTime() - 3.5 * HOUR };
    expect((await store.requests('acme', search, 1, before)).records).toEqual([]);
    expect(await store.requestHours('acme', NOW)).toHaveLength(5);
  });
});

test('a quantile of durations is off by at most a tenth', () => {
  const all = { counts: {}, budget: 0 };
  for (let ms = 1; ms <= 1_000; ms += 1)
    for (const name of ['requests', bucketOf(ms)]) addCount(all.counts, name);
  for (const [part, exact] of [
    [0.5, 500],
    [0.99, 990],
  ] as const)
    expect(Math.abs(quantile(all, part) / exact - 1)).toBeLessThan(0.1);
  expect([bucketOf(0), bucketOf(Number.MAX_VALUE)]).toEqual(['l0', 'l71']);
});
