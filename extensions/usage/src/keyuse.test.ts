// The use of keys is counted in bounded memory, and a store that fails costs only that.
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createKeyUseCounter } from './keyuse.ts';
import type { KeyUseInHour } from './store.ts';

const log = createLog('silent');
const AT = Date.parse('2031-05-17T10:59:58.500Z');

function open() {
  const written: (readonly KeyUseInHour[])[] = [];
  let time = AT;
  const held: (() => void)[] = [];
  const source = { mode: 'respond' as 'respond' | 'fail' | 'hang' };
  const store = {
    async addKeyUses(uses: readonly KeyUseInHour[]): Promise<void> {
      written.push(uses);
      if (source.mode === 'hang') await new Promise<void>((resolve) => held.push(resolve));
      if (source.mode === 'fail') throw new Error('away');
    },
  };
  const counter = createKeyUseCounter(store, { log }, () => {
    time += 1_000;
    return time;
  });
  const release = () => {
    for (const resolve of held.splice(0)) resolve();
  };
  return { counter, written, source, release };
}

test('requests, refusals and errors are counted by key, and written once', async () => {
  const { counter, written } = open();
  counter.count('key_a', 503);
  counter.count('key_a', 200);
  counter.count('key_b', 429);
  counter.count('key_a', 429);
  await counter.write();
  await counter.close();
  const use = (keyId: string, requests: number, errors: number, lastUsedAt: string) => ({
    keyId,
    hour: lastUsedAt.slice(0, 13),
    requests,
    refusals: 1,
    errors,
    lastUsedAt: new Date(lastUsedAt),
  });
  expect(written).toEqual([
    [
      use('key_a', 3, 1, '2031-05-17T11:00:02.500Z'),
      use('key_b', 1, 0, '2031-05-17T11:00:01.500Z'),
    ],
  ]);
});

test('a store that hangs gets one write at a time, and what is counted meanwhile comes next', async () => {
  const { counter, written, source, release } = open();
  source.mode = 'hang';
  counter.count('key_a', 200);
  const first = counter.write();
  counter.count('key_a', 200);
  counter.count('key_a', 200);
  expect(counter.write()).toBe(first);
  expect(written).toHaveLength(1);
  source.mode = 'respond';
  release();
  await first;
  await counter.close();
  expect(written.map(([use]) => use?.requests)).toEqual([1, 2]);
});

test('what is counted during the last write is written before the counter is closed', async () => {
  const { counter, written, source, release } = open();
  source.mode = 'hang';
  counter.count('key_a', 200);
  void counter.write();
  counter.count('key_b', 429);
  source.mode = 'respond';
  const closed = counter.close();
  release();
  await closed;
  expect(written.map(([use]) => use?.keyId)).toEqual(['key_a', 'key_b']);
});

test('a store that fails loses what it was given, and the next write is made', async () => {
  const { counter, written, source } = open();
  source.mode = 'fail';
  counter.count('key_a', 200);
  await expect(counter.write()).resolves.toBeUndefined();
  source.mode = 'respond';
  counter.count('key_a', 429);
  await counter.close();
  expect(written[1]).toMatchObject([{ requests: 1, refusals: 1 }]);
});

test('beyond 10,000 keys, those that are counted already go on', async () => {
  const { counter, written } = open();
  for (let n = 0; n < 10_100; n += 1) counter.count(`key_${n}`, 200);
  counter.count('key_0', 200);
  await counter.close();
  expect(written[0]).toHaveLength(10_000);
  expect(written[0]?.[0]).toMatchObject({ keyId: 'key_0', requests: 2 });
});
