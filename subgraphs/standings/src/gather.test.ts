// Which reads share a query.
import { gather } from './gather.ts';

function recorded() {
  const asked: string[][] = [];
  const read = gather(async (keys: string[]) => {
    asked.push(keys);
    if (keys.includes('broken')) throw new Error('away');
    return new Map(keys.filter((key) => key !== 'nobody').map((key) => [key, `value of ${key}`]));
  });
  return { asked, read };
}

test('reads of one turn go as one query, each key once, and each gets its own answer', async () => {
  const { asked, read } = recorded();
  const later = Promise.resolve().then(() => read('c'));
  expect(await Promise.all([read('a'), read('nobody'), read('a'), later])).toEqual(['value of a', undefined, 'value of a', 'value of c']);
  expect(asked).toEqual([['a', 'nobody', 'c']]);
});

test('nothing is kept for the next turn', async () => {
  const { asked, read } = recorded();
  await read('a');
  await read('a');
  expect(asked).toEqual([['a'], ['a']]);
});

test('a query has at most 100 keys', async () => {
  const { asked, read } = recorded();
  const keys = Array.from({ length: 250 }, (_, index) => `${index}`);
  expect(await Promise.all(keys.map(read))).toEqual(keys.map((key) => `value of ${key}`));
  expect(asked.map((one) => one.length)).toEqual([100, 100, 50]);
});

test('a query that fails fails its own reads, and no later one', async () => {
  const { read } = recorded();
  expect(await Promise.allSettled([read('a'), read('broken')])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(await read('a')).toBe('value of a');
});
