// What runs together in an event loop tick: batched reads, and steps after the poll.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { batchLoad } from './batchload.ts';

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
