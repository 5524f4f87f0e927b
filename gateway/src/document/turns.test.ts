// Turns are bounded, and given in the order in which they were asked for.
import { createTurns } from './turns.ts';

test('the next one waits until a turn ends, in order', async () => {
  const turns = createTurns(2);
  const begun: number[] = [];
  const take = async (number: number) => {
    const end = await turns.take();
    begun.push(number);
    return end;
  };
  const ends = [1, 2, 3, 4].map(take);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  await settled();
  expect(begun).toEqual([1, 2]);
  (await ends[1])?.();
  await settled();
  expect(begun).toEqual([1, 2, 3]);
  for (const end of [ends[0], ends[2], ends[3]]) (await end)?.();
  expect(await Promise.all([take(5), take(6)])).toHaveLength(2);
});
