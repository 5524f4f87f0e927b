// gather: look-ups of one event-loop turn share a query and nothing else.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { batchLoad } from './batchload.ts';

function newLookUp(load: (keys: string[]) => Promise<ReadonlyMap<string, string>>) {
  const queries: string[][] = [];
  const lookUp = batchLoad((keys) => {
    queries.push(keys);
    return load(keys);
  });
  return { queries, lookUp };
}
const echo = async (keys: string[]) =>
  new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, key.toUpperCase()]));

test('look-ups of one turn are one query, and each gets its own answer', async () => {
  const { queries, lookUp } = newLookUp(echo);
  const later = Promise.resolve().then(() => lookUp('c'));
  expect(
    await Promise.all([lookUp('a'), lookUp('b'), lookUp('a'), lookUp('unknown'), later]),
  ).toEqual(['A', 'B', 'A', undefined, 'C']);
  expect(queries).toEqual([['a', 'b', 'unknown', 'c']]);
});

test('a later turn asks again', async () => {
  const { queries, lookUp } = newLookUp(echo);
  await lookUp('a');
  await lookUp('a');
  expect(queries).toEqual([['a'], ['a']]);
});

test('a look-up while a query runs does not wait for it', async () => {
  let finish = () => {};
  const first = new Promise<ReadonlyMap<string, string>>((resolve) => {
    finish = () => resolve(new Map([['slow', 'SLOW']]));
  });
  const { lookUp } = newLookUp((keys) => (keys[0] === 'slow' ? first : echo(keys)));
  const slow = lookUp('slow');
  await nextTurn();
  expect(await lookUp('a')).toBe('A');
  finish();
  expect(await slow).toBe('SLOW');
});

test('more than 100 keys are several queries', async () => {
  const { queries, lookUp } = newLookUp(echo);
  const keys = Array.from({ length: 250 }, (_, i) => `k${i}`);
  expect(await Promise.all(keys.map(lookUp))).toEqual(keys.map((key) => key.toUpperCase()));
  expect(queries.map((query) => query.length)).toEqual([100, 100, 50]);
});

test('a query that fails, fails for each look-up of it and for no other', async () => {
  let down = true;
  const { lookUp } = newLookUp(async (keys) => {
    if (down) throw new Error('down');
    return echo(keys);
  });
  expect((await Promise.allSettled([lookUp('a'), lookUp('b')])).map((one) => one.status)).toEqual([
    'rejected',
    'rejected',
  ]);
  down = false;
  expect(await lookUp('a')).toBe('A');
});
