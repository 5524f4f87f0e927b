// What runs together in an event loop tick: merged calls, batched reads, and steps after the poll.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { batchLoad } from './batchload.ts';
import { mergeCalls } from './mergecalls.ts';

/** Items are `key:value`; a run ends when the test says so. */
function start(maxItems = 10) {
  const runs: { items: readonly string[]; end(error?: Error): Promise<void> }[] = [];
  const call = mergeCalls<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const end = async (error?: Error) => {
          if (error) reject(error);
          else resolve(items.map((item) => item.toUpperCase()));
          await new Promise(setImmediate);
        };
        runs.push({ items, end });
      }),
    (item) => item.split(':')[0] ?? '',
    maxItems,
  );
  return { call, runs, items: () => runs.map((run) => run.items) };
}

test('calls without a common key run at the same time', async () => {
  const { call, runs, items } = start();
  const results = Promise.all([call(['a:1', 'b:1']), call(['c:1'])]);
  expect(items()).toEqual([['a:1', 'b:1'], ['c:1']]);
  for (const run of runs) await run.end();
  expect(await results).toEqual([['A:1', 'B:1'], ['C:1']]);
});

test('calls that share a key with a running one run together after it', async () => {
  const { call, runs, items } = start();
  const results = Promise.all([call(['a:1']), call(['a:2', 'b:2']), call(['c:3']), call(['b:4'])]);
  expect(items()).toEqual([['a:1'], ['c:3']]);
  await runs[0]?.end();
  expect(items().slice(2)).toEqual([['a:2', 'b:2', 'b:4']]);
  for (const run of runs) await run.end();
  expect(await results).toEqual([['A:1'], ['A:2', 'B:2'], ['C:3'], ['B:4']]);
});

test('no more items run together than allowed, unless one call has more', async () => {
  const { call, runs, items } = start(3);
  const calls = [['a:1'], ['a:2', 'a:3'], ['a:4', 'a:5'], ['a:6'], ['a:7', 'a:8', 'a:9', 'a:10']];
  const results = Promise.all(calls.map(call));
  for (const run of runs) await run.end();
  expect(items()).toEqual([
    ['a:1'],
    ['a:2', 'a:3'],
    ['a:4', 'a:5', 'a:6'],
    ['a:7', 'a:8', 'a:9', 'a:10'],
  ]);
  expect((await results).flat()).toEqual(calls.flat().map((item) => item.toUpperCase()));
});

test('a call with many keys is not overtaken for ever', async () => {
  const { call, runs, items } = start(1);
  void call(['a:1']);
  void call(['b:2']);
  void call(['a:3', 'b:3']);
  void call(['b:4']);
  await runs[0]?.end();
  await runs[1]?.end();
  expect(items().slice(2)).toEqual([['a:3', 'b:3']]);
  await runs[2]?.end();
  expect(items().slice(3)).toEqual([['b:4']]);
});

test('a failure fails the calls that ran together, and no others', async () => {
  const { call, runs, items } = start();
  const first = call(['a:1']);
  const merged = Promise.allSettled([call(['a:2']), call(['a:3'])]);
  await runs[0]?.end();
  const later = call(['a:4']);
  await runs[1]?.end(new Error('the store is away'));
  expect(await first).toEqual(['A:1']);
  expect(await merged).toEqual(
    [1, 2].map(() => expect.objectContaining({ reason: new Error('the store is away') })),
  );
  expect(items().at(-1)).toEqual(['a:4']);
  await runs.at(-1)?.end();
  expect(await later).toEqual(['A:4']);
});

test('a call without items is run', async () => {
  const { call, runs } = start();
  const result = call([]);
  await runs[0]?.end();
  expect(await result).toEqual([]);
});

function createReader(load: (keys: string[]) => Promise<ReadonlyMap<string, string>>) {
  const queries: string[][] = [];
  const read = batchLoad((keys) => {
    queries.push(keys);
    return load(keys);
  });
  return { queries, read };
}
const echo = async (keys: string[]) =>
  new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, key.toUpperCase()]));

test('the reads of one tick are one query, and each gets its own value', async () => {
  const { queries, read } = createReader(echo);
  const later = Promise.resolve().then(() => read('c'));
  expect(await Promise.all([read('a'), read('b'), read('a'), read('unknown'), later])).toEqual([
    'A',
    'B',
    'A',
    undefined,
    'C',
  ]);
  expect(queries).toEqual([['a', 'b', 'unknown', 'c']]);
});

test('a read in a later tick is a new query', async () => {
  const { queries, read } = createReader(echo);
  await read('a');
  await read('a');
  expect(queries).toEqual([['a'], ['a']]);
});

test('a read does not wait for a query that is already running', async () => {
  let finish = () => {};
  const first = new Promise<ReadonlyMap<string, string>>((resolve) => {
    finish = () => resolve(new Map([['slow', 'SLOW']]));
  });
  const { read } = createReader((keys) => (keys[0] === 'slow' ? first : echo(keys)));
  const slow = read('slow');
  await nextTick();
  expect(await read('a')).toBe('A');
  finish();
  expect(await slow).toBe('SLOW');
});

test('more than 100 keys are several queries', async () => {
  const { queries, read } = createReader(echo);
  const keys = Array.from({ length: 250 }, (_, i) => `k${i}`);
  expect(await Promise.all(keys.map(read))).toEqual(keys.map((key) => key.toUpperCase()));
  expect(queries.map((query) => query.length)).toEqual([100, 100, 50]);
});

test('a query that fails rejects each of its reads and no other', async () => {
  let down = true;
  const { read } = createReader(async (keys) => {
    if (down) throw new Error('down');
    return echo(keys);
  });
  expect((await Promise.allSettled([read('a'), read('b')])).map((one) => one.status)).toEqual([
    'rejected',
    'rejected',
  ]);
  down = false;
  expect(await read('a')).toBe('A');
});

const PROGRAM = `
import { afterPoll } from ${JSON.stringify(join(import.meta.dirname, 'afterpoll.ts'))};
process.on('uncaughtException', (error) => console.log('uncaught', error.message));
afterPoll(() => console.log('first'));
afterPoll(() => { throw new Error('second'); });
afterPoll(() => afterPoll(() => console.log('of the second turn')));
afterPoll(() => console.log('last'));
console.log('now');
`;

test('a step that throws does not stop the others', () => {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM];
  const lines = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n');
  expect(lines.slice(0, 2)).toEqual(['now', 'first']);
  expect(lines.slice(2).sort()).toEqual(['last', 'of the second turn', 'uncaught second']);
});
