// createKeyLock: tasks that share a key run one after the other, others concurrently.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createKeyLock } from './keylock.ts';

/** Starts tasks that run until they are ended, and records which have begun. */
function newActs() {
  const inTurn = createKeyLock();
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const start = (name: string, keys: string[]) =>
    inTurn(keys, () => {
      begun.push(name);
      return new Promise<void>((resolve, reject) => ends.set(name, { resolve, reject }));
    });
  return { begun, start, end: (name: string) => ends.get(name) };
}

test('a task waits for the earlier tasks that share a key with it, and for no others', async () => {
  const { begun, start, end } = newActs();
  const acts = [
    start('one', ['a', 'b']),
    start('two', ['b', 'c']),
    start('three', ['c']),
    start('four', ['d']),
  ];
  await nextTurn();
  expect(begun).toEqual(['one', 'four']);
  end('one')?.resolve();
  await nextTurn();
  expect(begun).toEqual(['one', 'four', 'two']);
  end('two')?.resolve();
  await nextTurn();
  expect(begun).toEqual(['one', 'four', 'two', 'three']);
  for (const name of ['three', 'four']) end(name)?.resolve();
  await Promise.all(acts);
});

test('a task that fails rejects for its caller and does not block the next one', async () => {
  const { start, end } = newActs();
  const first = start('one', ['a']);
  const second = start('two', ['a', 'a']);
  await nextTurn();
  end('one')?.reject(new Error('failed'));
  await expect(first).rejects.toThrow('failed');
  await nextTurn();
  end('two')?.resolve();
  await second;
});
