// Calls that share a key run one after the other, and those that wait run together.
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
