// A semaphore has a bounded number of slots, given in the order of the calls.
import { createSemaphore } from './semaphore.ts';

test('the next one waits until a slot is released, in order', async () => {
  const semaphore = createSemaphore(2);
  const begun: number[] = [];
  const acquire = async (number: number) => {
    const release = await semaphore.acquire();
    begun.push(number);
    return release;
  };
  const releases = [1, 2, 3, 4].map(acquire);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  await settled();
  expect(begun).toEqual([1, 2]);
  (await releases[1])?.();
  await settled();
  expect(begun).toEqual([1, 2, 3]);
  for (const end of [releases[0], releases[2], releases[3]]) (await end)?.();
  expect(await Promise.all([acquire(5), acquire(6)])).toHaveLength(2);
});
