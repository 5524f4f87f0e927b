// Small tables of a store, and stores that are away.

import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { openMemory } from '../../test/memory.ts';
import type { Store } from './engine/store.ts';
import { openNowOrLater } from './later.ts';
import { isOutage, outageReason } from './outage.ts';
import type { Table, TableDefinition } from './table.ts';
import { storedTable, tablesIn, verifyRows } from './tables.ts';

// What every user of a table relies on.

type Job = { jobId: string; dueAt?: number; failedAt?: number; attempts: number };
const JOBS: TableDefinition<Job> = { name: 'jobs', id: 'jobId', orders: ['dueAt', 'failedAt'] };

describe('a table', () => {
  let store: Store;
  let jobs: Table<Job>;

  beforeEach(async () => {
    store = openMemory();
    jobs = await tablesIn(store)(JOBS);
  });

  /** Acts `times` times at once. */
  const together = <T>(times: number, act: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: times }, (_, index) => act(index)));
  const put = async (...rows: Job[]) => {
    for (const row of rows) await jobs.put(row);
  };
  const ids = (rows: readonly Job[]) => rows.map(({ jobId }) => jobId);
  const due = async () => ids(await jobs.range('dueAt', 0, 100));

  test('has a row once it was put, until it is removed', async () => {
    expect(await jobs.get('a')).toBeUndefined();
    await put({ jobId: 'a', dueAt: 5, attempts: 0 }, { jobId: 'a', failedAt: 7, attempts: 1 });
    expect(await jobs.get('a')).toEqual({ jobId: 'a', failedAt: 7, attempts: 1 });
    expect([await due(), await jobs.count('failedAt')]).toEqual([[], 1]);
    await jobs.remove('a');
    await jobs.remove('a');
    expect([await jobs.get('a'), await jobs.count('failedAt')]).toEqual([undefined, 0]);
  });

  test('finds the rows whose IDs begin with a prefix, however many there are', async () => {
    await together(600, (at) => jobs.put({ jobId: `a/${at}`, attempts: at }));
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

  test('loses no update of many at the same time, the one that adds the row included', async () => {
    const written = await together(30, () =>
      jobs.update('a', (before) => ({ jobId: 'a', attempts: (before?.attempts ?? 0) + 1 })),
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

  test('updates many rows, those that it adds or removes included', async () => {
    await put({ jobId: '7', attempts: 1 }, { jobId: 'other', attempts: 1 });
    const many = Array.from({ length: 450 }, (_, index) => `${index}`);
    await jobs.updateAll(many, (before, jobId) => ({ jobId, attempts: before?.attempts ?? 0 }));
    expect(await jobs.select(({ attempts }) => attempts === 1)).toHaveLength(2);
    expect(ids(await jobs.select(() => true)).sort()).toEqual([...many, 'other'].sort());
    await jobs.updateAll(many, () => undefined);
    expect(ids(await jobs.select(() => true))).toEqual(['other']);
  });

  test.each([0.5, -1, 2 ** 53, Number.NaN])('%p is no place in an order', async (dueAt) => {
    await put({ jobId: 'a', dueAt: 5, attempts: 0 });
    await expect(put({ jobId: 'a', dueAt, attempts: 1 })).rejects.toThrow('dueAt cannot be');
    expect(await jobs.get('a')).toEqual({ jobId: 'a', dueAt: 5, attempts: 0 });
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
    await together(1_000, (at) => jobs.put({ jobId: `a/${at}`, dueAt: at, attempts: at % 2 }));
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
});

test('the verification of a table names rows with another ID, and orders that differ', async () => {
  const store = openMemory();
  const rows = storedTable<Job>(JOBS);
  const jobs = await tablesIn(store)(JOBS);
  for (const jobId of ['a', 'b', 'c']) await jobs.put({ jobId, dueAt: 5, attempts: 0 });
  const faults = async () => {
    const found: string[] = [];
    const report = (record: string, problem: string) => found.push(`${record}: ${problem}`);
    await verifyRows(store, [[JOBS, (id) => `job ${id}`]], report);
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

// A store whose engine is unavailable opens later; any other failure ends the start.
describe('later', () => {
  class MongoServerSelectionError extends Error {
    override name = 'MongoServerSelectionError';
  }

  function engine() {
    const state = { isUp: false, opened: 0, closed: 0 };
    const open = async () => {
      state.opened += 1;
      if (!state.isUp) throw new MongoServerSelectionError('away');
      return {
        read: (key: string) => `value of ${key}`,
        close: async () => {
          state.closed += 1;
        },
      };
    };
    return { state, open };
  }

  beforeEach(() => void jest.useFakeTimers({ now: 0 }));
  afterEach(() => void jest.useRealTimers());

  test('methods reject until the engine is there, with one attempt a second', async () => {
    const { state, open } = engine();
    const outages: unknown[] = [];
    const store = await openNowOrLater(open, (error) => outages.push(error));
    expect(outages).toHaveLength(1);
    for (let use = 0; use < 3; use += 1)
      await expect(async () => store.read('a')).rejects.toThrow('away');
    expect(state.opened).toBe(1);
    jest.advanceTimersByTime(1_000);
    await Promise.all(
      [1, 2].map(() => expect(async () => store.read('a')).rejects.toThrow('away')),
    );
    expect(state.opened).toBe(2);
    state.isUp = true;
    jest.advanceTimersByTime(1_000);
    expect(await store.read('a')).toBe('value of a');
    expect(await store.read('b')).toBe('value of b');
    expect(state.opened).toBe(3);
    await store.close();
    expect(state.closed).toBe(1);
  });

  test('a store that is closed before it ever opened closes nothing', async () => {
    const { state, open } = engine();
    const store = await openNowOrLater(open, () => {});
    await store.close();
    expect(state).toEqual({ isUp: false, opened: 1, closed: 0 });
  });

  test('a failure that is no outage rejects at once', async () => {
    const failing = () => Promise.reject(new Error('the store belongs to production'));
    await expect(openNowOrLater(failing, () => {})).rejects.toThrow('belongs to production');
  });
});

// Which errors are an outage of a store.

const failed = (code: string | number) => Object.assign(new Error('no'), { code });
const lost = new MongoNetworkError('lost');

test.each([
  ['a lost connection to MongoDB', lost, 'MongoNetworkError'],
  [
    'no MongoDB server to select',
    new MongoServerSelectionError('none', {} as never),
    'MongoServerSelectionError',
  ],
  [
    'a MongoDB server that shuts down',
    new MongoServerError({ message: 'bye', code: 91, codeName: 'ShutdownInProgress' }),
    'ShutdownInProgress',
  ],
  ['a bulk write that lost it', new MongoBulkWriteError(lost, {} as never), 'MongoNetworkError'],
  [
    'a bulk write whose connection was refused',
    new MongoBulkWriteError(
      new MongoNetworkError('lost', { cause: failed('ECONNREFUSED') }),
      {} as never,
    ),
    'ECONNREFUSED',
  ],
  ['a refused connection', failed('ECONNREFUSED'), 'ECONNREFUSED'],
  ['a full disk', failed('ENOSPC'), 'ENOSPC'],
  ['an LMDB map that is full', failed(-30792), '-30792'],
  ['a failed write to a disk', failed('EIO'), 'EIO'],
  ['a timeout', new DOMException('late', 'TimeoutError'), 'TimeoutError'],
  ['an error caused by one of these', new Error('outer', { cause: lost }), 'MongoNetworkError'],
])('%s is an outage, with its reason', (_, error, reason) => {
  expect([isOutage(error), outageReason(error)]).toEqual([true, reason]);
});

test.each([
  ['a duplicate key', new MongoServerError({ message: 'dup', code: 11000 })],
  [
    'a duplicate key in a bulk write',
    new MongoBulkWriteError({ message: 'dup', code: 11000 }, {} as never),
  ],
  ['a bug', new TypeError('undefined is not a function')],
  ['a missing file', failed('ENOENT')],
  ['a value that is not an error', 'ECONNREFUSED'],
  ['nothing', undefined],
])('%s is not an outage', (_, error) => {
  expect(isOutage(error)).toBe(false);
});

test('an error that is its own cause does not loop forever', () => {
  const error = new Error('loop');
  error.cause = error;
  expect(isOutage(error)).toBe(false);
});
