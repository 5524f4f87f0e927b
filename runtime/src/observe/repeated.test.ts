// An outage in the log: one line a second, however many requests meet it.
import type { LogFields } from './fields.ts';
import { createRepeated } from './repeated.ts';

function setUp() {
  const lines: (LogFields & { message: string })[] = [];
  const repeated = createRepeated((fields, message) => void lines.push({ ...fields, message }));
  return { lines, ...repeated, written: () => lines.splice(0) };
}

const REFUSED = Object.assign(new Error('ann@example.com'), { code: 'ECONNREFUSED' });

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('the first line is written at once, the next with the count of a second', () => {
  const { write, written } = setUp();
  write({ requestId: 'a', store: 'keys' }, 'gone');
  expect(written()).toEqual([{ requestId: 'a', store: 'keys', count: 1, message: 'gone' }]);
  for (const requestId of ['b', 'c', 'd']) write({ requestId, store: 'keys' }, 'gone');
  write({ requestId: 'e', store: 'keys', count: 7 }, 'gone');
  expect(written()).toEqual([]);
  jest.advanceTimersByTime(2_000);
  expect(written()).toEqual([{ requestId: 'b', store: 'keys', count: 10, message: 'gone' }]);
});

test('an outage of ten seconds is about ten lines, then nothing', () => {
  const { write, written } = setUp();
  for (let ms = 0; ms < 10_000; ms += 5) {
    write({ store: 'keys' }, 'gone');
    jest.advanceTimersByTime(5);
  }
  const lines = written();
  expect(lines.length).toBeLessThanOrEqual(11);
  jest.advanceTimersByTime(10_000);
  lines.push(...written());
  expect(lines.reduce((sum, { count }) => sum + Number(count), 0)).toBe(2_000);
  expect(jest.getTimerCount()).toBe(0);
  write({ store: 'keys' }, 'gone');
  expect(written()).toHaveLength(1);
});

test('each message, subgraph, store and reason has lines of its own', () => {
  const { write, written } = setUp();
  for (const fields of [{ store: 'keys' }, { store: 'graph' }, { subgraph: 'a' }, { reason: 'r' }])
    for (const message of ['gone', 'late']) write(fields, message);
  expect(written()).toHaveLength(8);
});

test('an outage has its reason and no stack, and any other error its stack', () => {
  const { write, written } = setUp();
  write({ store: 'keys', err: new Error('not found', { cause: REFUSED }) }, 'gone');
  expect(written()).toEqual([{ store: 'keys', reason: 'ECONNREFUSED', count: 1, message: 'gone' }]);
  const bug = new TypeError('oops');
  write({ store: 'graph', err: bug }, 'gone');
  expect(written()).toEqual([{ store: 'graph', err: bug, count: 1, message: 'gone' }]);
});

test('a line names the fields of all that it stands for', () => {
  const { write, written } = setUp();
  for (const field of ['a', 'b', 'c', 'b']) write({ subgraph: 'things', field }, 'gone');
  expect(written()).toEqual([expect.objectContaining({ field: 'a', count: 1 })]);
  jest.advanceTimersByTime(2_000);
  expect(written()).toEqual([expect.objectContaining({ field: 'b, c', count: 3 })]);
});

test('a flush writes what is counted, once', () => {
  const { write, flush, written } = setUp();
  for (let i = 0; i < 3; i += 1) write({}, 'gone');
  written();
  flush();
  flush();
  expect(written()).toEqual([{ count: 2, message: 'gone' }]);
});

test('an address has one line a second, whatever it sends, and beyond 1,000 addresses they share one', () => {
  const { write, written } = setUp();
  for (const reason of ['missing', 'unknown', 'expired'])
    write({ clientAddress: 'a', reason }, 'page');
  expect(written()).toMatchObject([{ clientAddress: 'a', reason: 'missing', count: 1 }]);
  for (let n = 0; n < 100_000; n += 1) write({ clientAddress: `${n}` }, 'page');
  const lines = written();
  expect(lines).toHaveLength(1_000);
  expect(lines.at(-1)).toEqual({ clientAddress: undefined, count: 1, message: 'page' });
  jest.advanceTimersByTime(10_000);
  lines.push(...written());
  expect(lines).toHaveLength(1_002);
  expect(lines.reduce((sum, { count }) => sum + Number(count), 0)).toBe(100_002);
  expect(jest.getTimerCount()).toBe(0);
});
