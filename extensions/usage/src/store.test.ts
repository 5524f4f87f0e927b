// The contract of the usage store: counts, and what is kept of requests.
import {
  addCount,
  bucketOf,
  KEPT_RECORDS,
  quantile,
  type RequestRecord,
  type RequestSearch,
} from '@partner-loyalty/gateway/usage/requests.ts';
import type { FieldUsage, OperationUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import type { PartnerHour, UsageStore } from './records.ts';
import { KEPT_OPERATIONS, MAX_OPERATIONS } from './records.ts';
import { openUsageStore } from './tables.ts';

const DAY = '2031-05-17';
const field = (coordinate: string, count: number, more: Partial<FieldUsage> = {}): FieldUsage => ({
  day: DAY,
  surface: 'partner',
  partnerId: 'acme',
  coordinate,
  count,
  ...more,
});
const operation = (
  text: string,
  count: number,
  more: Partial<OperationUsage> = {},
): OperationUsage => ({
  day: DAY,
  surface: 'partner',
  partnerId: 'acme',
  operation: text,
  count,
  ...more,
});
/** Sorts the entries: the stores promise no order. */
const sorted = (usage: (FieldUsage | OperationUsage)[]) =>
  usage.map((each) => JSON.stringify(Object.entries(each).sort())).sort();

// What is recorded of requests.
const NOW = new Date('2031-05-17T10:30:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY_MS = 24 * HOUR;

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

describe('the usage store', () => {
  let place: { mongodbUrl?: string; dataDir: string };
  let stores: UsageStore[];
  let store: UsageStore;
  let release: () => unknown;

  const open = async (environment: 'sandbox' | 'production' = 'sandbox') => {
    const opened = await openUsageStore({ ...place, environment });
    stores.push(opened);
    return opened;
  };

  beforeEach(async () => {
    ({ settings: place, release } = emptyPlace());
    stores = [];
    store = await open();
  });

  afterEach(async () => {
    for (const each of stores) await each.close();
    await release();
  });

  test('counts add up by day, surface, partner and coordinate', async () => {
    await store.add({ fields: [], operations: [] });
    const member = { surface: 'member' as const, partnerId: undefined };
    await store.add({
      fields: [
        field('Query.memberByEmail', 2),
        field('Query.memberByEmail(email:)', 2),
        field('Query.memberByEmail', 1, { partnerId: 'blue' }),
        field('MemberProfile.email', 3, member),
        field('Query.memberByEmail', 5, { day: '2031-05-18' }),
      ],
      operations: [operation('{a}', 2), operation('{a}', 1, member)],
    });
    await store.add({
      fields: [field('Query.memberByEmail', 40), field('MemberProfile.email', 4, member)],
      operations: [operation('{a}', 3), operation('{b}', 3_000_000_000)],
    });
    const { partnerId: _, ...noPartner } = field('MemberProfile.email', 7, { surface: 'member' });
    expect(sorted(await store.fields(DAY))).toEqual(
      sorted([
        field('Query.memberByEmail', 42),
        field('Query.memberByEmail(email:)', 2),
        field('Query.memberByEmail', 1, { partnerId: 'blue' }),
        noPartner,
        field('Query.memberByEmail', 5, { day: '2031-05-18' }),
      ]),
    );
    expect(await store.fields('2031-05-18')).toEqual([
      field('Query.memberByEmail', 5, { day: '2031-05-18' }),
    ]);
    expect(await store.fields('2031-05-19')).toEqual([]);
    expect(await store.fieldsOf('blue', [DAY, '2031-05-18'])).toEqual([
      field('Query.memberByEmail', 1, { partnerId: 'blue' }),
    ]);
    expect(await store.fieldsOf('blue', ['2031-05-18'])).toEqual([]);
    const { partnerId: __, ...asMember } = operation('{a}', 1, { surface: 'member' });
    expect(sorted(await store.operations(DAY))).toEqual(
      sorted([operation('{a}', 5), operation('{b}', 3_000_000_000), asMember]),
    );
  });

  test('a caller has 10,000 coordinates in a day, however many writes there are', async () => {
    const write = (from: number, count: number) => {
      const fields = Array.from({ length: count }, (_, place) => field(`T.f${from + place}`, 1));
      return store.add({ fields, operations: [] });
    };
    for (const from of [0, 6_000, 12_000]) await write(from, 6_000);
    await write(9_999, 2);
    const found = await store.fields(DAY);
    expect(found).toHaveLength(10_000);
    expect(found.find(({ coordinate }) => coordinate === 'T.f9999')?.count).toBe(2);
  });

  test('concurrent processes lose no count', async () => {
    const both = [store, await open()];
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        both[i % 2]?.add({
          fields: [field('Query.a', 1), field(`Query.b${i}`, 1)],
          operations: [operation('{a}', 1)],
        }),
      ),
    );
    const counts = await store.fields(DAY);
    expect(counts).toHaveLength(21);
    expect(counts).toContainEqual(field('Query.a', 20));
    expect(await store.operations(DAY)).toEqual([operation('{a}', 20)]);
  });

  test('of a day, the most used operations are kept', async () => {
    const many = (from: number, count: (i: number) => number) => ({
      fields: [],
      operations: Array.from({ length: MAX_OPERATIONS }, (_, i) =>
        operation(`{ f${from + i} }`, count(from + i)),
      ),
    });
    await store.add(many(0, (i) => 10_000 - i));
    expect(await store.operations(DAY)).toHaveLength(KEPT_OPERATIONS);
    await store.add({ fields: [], operations: [operation('{ new }', 20_000)] });
    await store.add(many(1_000, (i) => 10_000 - i));
    const kept = await store.operations(DAY);
    expect(kept).toHaveLength(KEPT_OPERATIONS);
    expect(kept.slice(0, 2)).toEqual([operation('{ new }', 20_000), operation('{ f0 }', 10_000)]);
    expect(kept.at(-1)).toEqual(operation(`{ f${KEPT_OPERATIONS - 2} }`, 10_002 - KEPT_OPERATIONS));
    const next = operation('{ f0 }', 1, { day: '2031-05-18' });
    await store.add({ fields: [], operations: [next] });
    expect(await store.operations(DAY)).toHaveLength(KEPT_OPERATIONS + 1);
    expect(await store.operations('2031-05-18')).toEqual([next]);
  });

  test('a long operation is cut, and still told from another with the same beginning', async () => {
    const long = `{ ${'a '.repeat(20_000)}`;
    await store.add({ fields: [], operations: [operation(`${long}}`, 2), operation(long, 1)] });
    await store.add({ fields: [], operations: [operation(`${long}}`, 2)] });
    const stored = await store.operations(DAY);
    expect(stored.map(({ count }) => count)).toEqual([4, 1]);
    expect(stored.map(({ operation: text }) => text.length)).toEqual([4_000, 4_000]);
  });

  test('60 days are kept', async () => {
    const on = (day: string) => ({
      fields: [field('Query.a', 1, { day })],
      operations: [operation('{a}', 1, { day })],
    });
    for (const day of ['2031-03-17', '2031-03-18', '2031-03-19', DAY]) await store.add(on(day));
    const days = async () => ({
      fields: (await store.fields('2000-01-01')).map(({ day }) => day),
      operations: (await store.operations('2000-01-01')).map(({ day }) => day),
    });
    const kept = ['2031-03-19', DAY];
    expect(await days()).toEqual({ fields: kept, operations: kept });
    await (await open()).add(on('2031-05-18'));
    const then = [DAY, '2031-05-18'];
    expect(await days()).toEqual({ fields: then, operations: then });
  });

  test('the use of a key adds up over gateways, and shows 24 hours and the last use', async () => {
    const other = await open();
    const use = (keyId: string, at: string, requests: number, refusals: number) => ({
      keyId,
      hour: at.slice(0, 13),
      requests,
      refusals,
      errors: 1,
      lastUsedAt: new Date(at),
    });
    const [late, early] = ['2031-05-17T10:20:00.000Z', '2031-05-17T10:10:00.000Z'];
    const yesterday = '2031-05-16T11:00:00.000Z';
    await store.addKeyUses([use('key_a', yesterday, 5, 1), use('key_b', yesterday, 2, 2)]);
    await Promise.all([
      store.addKeyUses([use('key_a', late, 100, 1)]),
      ...Array.from({ length: 10 }, () => other.addKeyUses([use('key_a', early, 10, 1)])),
    ]);
    const shown = (now: string) => store.keyActivities(['key_b', 'key_a', 'key_c'], new Date(now));
    expect(await shown(late)).toEqual([
      { keyId: 'key_b', lastUsedAt: new Date(yesterday), requests: 2, refusals: 2 },
      { keyId: 'key_a', lastUsedAt: new Date(late), requests: 205, refusals: 12 },
    ]);
    expect(await shown('2031-05-17T11:00:00Z')).toMatchObject([
      { requests: 0, refusals: 0 },
      { requests: 200, refusals: 11 },
    ]);
    await store.addKeyUses([]);
    const since = async (hour: string) =>
      (await store.keyUsesSince(new Date(`2031-05-${hour}:30:00Z`))).sort((a, b) =>
        a.keyId < b.keyId ? -1 : 1,
      );
    expect(await since('16T11')).toEqual([
      { keyId: 'key_a', requests: 205, refusals: 12, errors: 12 },
      { keyId: 'key_b', requests: 2, refusals: 2, errors: 1 },
    ]);
    expect(await since('16T12')).toEqual([
      { keyId: 'key_a', requests: 200, refusals: 11, errors: 11 },
    ]);
    expect(await since('17T11')).toEqual([]);

    // What is older than two days goes, except the last use.
    await other.addKeyUses([use('key_a', '2031-05-19T11:00:00.000Z', 1, 0)]);
    expect(await shown(late)).toMatchObject([
      { keyId: 'key_b', lastUsedAt: new Date(yesterday), requests: 0 },
      { requests: 0 },
    ]);
  });

  describe('of requests', () => {
    let chunks: number;
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
    beforeEach(() => {
      chunks = 0;
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
      const hours = [8 * DAY_MS, 7 * DAY_MS + HOUR, 7 * DAY_MS - HOUR, 0].map((ago) =>
        sums(ago, 'gone', { requests: 1, recorded: 1 }),
      );
      const old = [8 * DAY_MS, 7 * DAY_MS + MINUTE, 7 * DAY_MS - MINUTE, 0];
      const write = (partnerId: string) =>
        old.map((ago) => chunk(partnerId, [record(ago, `${ago / MINUTE}`)]));
      const before = new Date(NOW.getTime() - 8 * DAY_MS);
      await store.addRequests({ at: before, hours, chunks: [...write('gone'), ...write('other')] });
      const kept = [7 * DAY_MS - MINUTE, 0].map((ago) => `${ago / MINUTE}`).reverse();
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
      expect(await found('acme', { requestId: second }, 10_000)).toHaveLength(
        KEPT_RECORDS - 18_000,
      );
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
