// What every user of a table relies on, on each engine.
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { type OpenedTables, openTables } from '../../../test/support/store/tables.ts';
import { openMemory } from './engine/memory.ts';
import type { Store } from './engine/store.ts';
import type { Table, TableDefinition } from './table.ts';
import { storedTable, tablesIn, verifyRows } from './tables.ts';

type Job = { jobId: string; dueAt?: number; failedAt?: number; attempts: number };
const JOBS: TableDefinition<Job> = { name: 'jobs', id: 'jobId', orders: ['dueAt', 'failedAt'] };

describe.each(['memory', 'lmdb'])('a table on %s', (engine) => {
  let place: ReturnType<typeof emptyPlace>;
  let stores: OpenedTables[];
  /** The table as several processes have it open. */
  let tables: Table<Job>[];
  let jobs: Table<Job>;
  let memory: Store;

  const open = async () => {
    if (engine === 'memory') return tablesIn(memory)(JOBS);
    const store = await openTables(place.settings, [JOBS]);
    stores.push(store);
    return store.open(JOBS);
  };
  const closeAll = async () => {
    for (const { close } of stores.splice(0)) await close();
  };
  beforeEach(async () => {
    place = emptyPlace();
    memory = openMemory();
    stores = [];
    tables = [await open(), await open(), await open()];
    jobs = await open();
  });
  afterEach(async () => {
    await closeAll();
    await place.release();
  });

  /** Acts `times` times at once, in turn through each of the tables. */
  const together = <T>(times: number, act: (table: Table<Job>, index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: times }, (_, index) => act(tables[index % 3] ?? jobs, index)));
  const put = async (...rows: Job[]) => {
    for (const row of rows) await jobs.put(row);
  };
  const ids = (rows: readonly Job[]) => rows.map(({ jobId }) => jobId);
  const due = async () => ids(await jobs.range('dueAt', 0, 100));

  test('has a row once it was put, until it is removed, in every process', async () => {
    expect(await jobs.get('a')).toBeUndefined();
    await put({ jobId: 'a', dueAt: 5, attempts: 0 }, { jobId: 'a', failedAt: 7, attempts: 1 });
    for (const table of tables)
      expect(await table.get('a')).toEqual({ jobId: 'a', failedAt: 7, attempts: 1 });
    expect([await due(), await jobs.count('failedAt')]).toEqual([[], 1]);
    await jobs.remove('a');
    await jobs.remove('a');
    expect([await tables[0]?.get('a'), await jobs.count('failedAt')]).toEqual([undefined, 0]);
  });

  test('finds the rows whose IDs begin with a prefix, however many there are', async () => {
    for (let from = 0; from < 600; from += 50)
      await together(50, (table, at) => table.put({ jobId: `a/${from + at}`, attempts: at }));
    await put(
      { jobId: 'a', attempts: 1 },
      { jobId: 'a0', attempts: 1 },
      { jobId: 'b/1', attempts: 1 },
    );
    expect(ids(await jobs.startingWith('a/')).sort()).toEqual(
      Array.from({ length: 600 }, (_, index) => `a/${index}`).sort(),
    );
    expect(await jobs.startingWith('c')).toEqual([]);
    expect(ids(await jobs.startingWith('a/', 3))).toEqual(['a/0', 'a/1', 'a/10']);
  });

  test('gets many rows at the same time', async () => {
    await put({ jobId: 'a', attempts: 1 }, { jobId: 'b', attempts: 2 });
    const found = await Promise.all(['b', 'none', 'a', 'b'].map((id) => jobs.get(id)));
    expect(found.map((job) => job?.attempts)).toEqual([2, undefined, 1, 2]);
  });

  test('has one row if many put it at the same time', async () => {
    await together(12, (table, index) => table.put({ jobId: 'a', dueAt: index, attempts: index }));
    expect(await due()).toEqual(['a']);
  });

  test('loses no update of many at the same time, the one that adds the row included', async () => {
    const written = await together(30, (table) =>
      table.update('a', (before) => ({ jobId: 'a', attempts: (before?.attempts ?? 0) + 1 })),
    );
    expect(new Set(written.map((row) => row?.attempts)).size).toBe(30);
    expect(await jobs.get('a')).toEqual({ jobId: 'a', attempts: 30 });
  });

  test('updates, removes or leaves a row alone, and says what it has written', async () => {
    await put({ jobId: 'a', dueAt: 5, attempts: 0 });
    expect(await jobs.update('a', (before) => before)).toBeUndefined();
    expect(await jobs.update('none', (before) => before)).toBeUndefined();
    const moved = { jobId: 'a', dueAt: 9, attempts: 1 };
    expect(await jobs.update('a', () => moved)).toEqual(moved);
    expect([await jobs.get('a'), await jobs.range('dueAt', 6, 10)]).toEqual([moved, [moved]]);
    expect(await jobs.update('a', () => undefined)).toBeUndefined();
    expect([await jobs.get('a'), await due(), await jobs.get('none')]).toEqual([
      undefined,
      [],
      undefined,
    ]);
  });

  test('updates the first row that is due, each for one of many at the same time', async () => {
    await put(...['c', 'a', 'b'].map((jobId, dueAt) => ({ jobId, dueAt, attempts: 0 })));
    const claim = (table: Table<Job>, now: number) =>
      table.updateFirst('dueAt', now, (job) => ({ ...job, dueAt: 100, attempts: 1 }));
    expect(await claim(jobs, -1)).toBeUndefined();
    expect(await claim(jobs, 1)).toEqual({ jobId: 'c', dueAt: 100, attempts: 1 });
    const claimed = await together(9, (table) => claim(table, 99));
    expect(ids(claimed.flatMap((job) => job ?? [])).sort()).toEqual(['a', 'b']);
    expect((await due()).sort()).toEqual(['a', 'b', 'c']);
  });

  test('ranges over an order from a place on, without rows that lack the field', async () => {
    await put({ jobId: 'none', attempts: 0 }, { jobId: 'failed', failedAt: 2, attempts: 0 });
    await put(...[30, 10, 20].map((dueAt) => ({ jobId: `at${dueAt}`, dueAt, attempts: 0 })));
    expect(ids(await jobs.range('dueAt', 10, 2))).toEqual(['at10', 'at20']);
    expect(ids(await jobs.range('dueAt', 11, 9))).toEqual(['at20', 'at30']);
    expect([await jobs.count('dueAt'), await jobs.count('failedAt')]).toEqual([3, 1]);
  });

  test('removes rows up to a place in an order, that one included', async () => {
    await put(...[1, 2, 3].map((dueAt) => ({ jobId: `at${dueAt}`, dueAt, attempts: 0 })));
    await put({ jobId: 'failed', failedAt: 1, attempts: 0 });
    await jobs.removeUntil('dueAt', 2);
    expect([await due(), await jobs.get('at1'), await jobs.count('failedAt')]).toEqual([
      ['at3'],
      undefined,
      1,
    ]);
  });

  test('selects and removes the rows that a function names, of many, in slices of turns', async () => {
    for (let from = 0; from < 1_000; from += 50)
      await together(50, (table, at) =>
        table.put({ jobId: `a/${from + at}`, dueAt: at, attempts: at % 2 }),
      );
    await put({ jobId: 'b/1', attempts: 1 });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    expect(await jobs.removeWhere(({ attempts }) => attempts === 1, 'a/')).toBe(500);
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(await jobs.startingWith('a/')).toHaveLength(500);
    expect(ids(await jobs.select(({ attempts }) => attempts === 1))).toEqual(['b/1']);
    expect(await jobs.startingWith('a/', 300)).toHaveLength(300);
    expect(await jobs.count('dueAt')).toBe(500);
  });

  test('still has its rows after the store was closed', async () => {
    await put({ jobId: 'a', dueAt: 5, attempts: 0 });
    await closeAll();
    jobs = await open();
    expect(await jobs.range('dueAt', 0, 10)).toEqual([{ jobId: 'a', dueAt: 5, attempts: 0 }]);
  });
});

test('the verification of a table names rows with another ID, and orders that differ', async () => {
  const store = openMemory();
  const rows = storedTable<Job>(JOBS);
  const jobs = await tablesIn(store)(JOBS);
  for (const jobId of ['a', 'b', 'c']) await jobs.put({ jobId, dueAt: 5, attempts: 0 });
  const faults = async () => {
    const found: string[] = [];
    const report = (record: string, problem: string) => found.push(`${record}: ${problem}`);
    await verifyRows(store, JOBS, (id) => `job ${id}`, report);
    return found;
  };
  expect(await faults()).toEqual([]);
  const [byDueAt, byFailedAt] = rows.indexes ?? [];
  await store.transact((tx) => {
    if (byDueAt) tx.remove(byDueAt.table, [5, 'a']);
    if (byFailedAt) tx.put(byFailedAt.table, [7, 'b'], {});
    tx.put(rows, ['c'], { jobId: 'd', dueAt: 5, attempts: 0 });
  });
  expect(await faults()).toEqual([
    'job c: the record has another ID',
    'job a: the index jobs-by-dueAt does not have it as it is',
    'job b: the index jobs-by-failedAt has it at another place',
  ]);
});
