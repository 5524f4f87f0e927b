// The contract of the store of usage counts.
import type { FieldUsage, OperationUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { KEPT_OPERATIONS, MAX_OPERATIONS } from './records.ts';
import type { UsageStore } from './store.ts';
import { openUsageStore } from './stores.ts';

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

  test('the store belongs to the environment that created it', async () => {
    await expect(open('production')).rejects.toThrow(/belongs to the sandbox environment/);
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
});
