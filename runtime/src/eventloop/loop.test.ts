// A loop repeats work in the background, one run at a time, until it is stopped.
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { startLoop } from './loop.ts';

const SECOND_MS = 1_000;

/** Runs end when the test says so. */
function start() {
  const events: string[] = [];
  const ends: ((outcome?: number | Error) => Promise<void>)[] = [];
  const loop = startLoop(
    () =>
      new Promise<number | undefined>((resolve, reject) => {
        events.push('begins');
        ends.push(async (outcome) => {
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
          await new Promise(setImmediate);
        });
      }),
    {
      everyMs: SECOND_MS,
      failed: (error) => events.push(String(error)),
      recovered: () => events.push('recovered'),
    },
  );
  const end = async (outcome?: number | Error) => ends.at(-1)?.(outcome);
  return { loop, events, end };
}

test('runs follow each other after a pause, which the work may choose', () =>
  withFakeTimeouts(async (pass) => {
    const { loop, events, end } = start();
    await pass(SECOND_MS);
    await pass(10 * SECOND_MS);
    expect(events).toEqual(['begins']);
    await end(5 * SECOND_MS);
    await pass(4 * SECOND_MS);
    expect(events).toHaveLength(1);
    await pass(SECOND_MS);
    expect(events).toHaveLength(2);
    await end();
    await loop.stop();
    await pass(10 * SECOND_MS);
    expect(events).toHaveLength(2);
  }));

test('whoever asks for a run joins the one in progress', async () => {
  const { loop, events, end } = start();
  const first = loop.run();
  expect(loop.run()).toBe(first);
  await end();
  await first;
  expect(events).toEqual(['begins']);
  await loop.stop();
});

test('a loop that is woken during a run runs again, once and without a pause', () =>
  withFakeTimeouts(async (pass) => {
    const { loop, events, end } = start();
    loop.wake();
    loop.wake();
    loop.wake();
    await end(60 * SECOND_MS);
    await pass(1);
    expect(events).toHaveLength(2);
    await end(60 * SECOND_MS);
    await pass(10 * SECOND_MS);
    expect(events).toHaveLength(2);
    await loop.stop();
  }));

test('each failure is reported, and the first success after them', async () => {
  const { loop, events, end } = start();
  for (const outcome of [undefined, new Error('away'), new Error('away'), undefined, undefined]) {
    const run = loop.run();
    await end(outcome);
    await run;
  }
  const away = ['begins', 'Error: away'];
  expect(events).toEqual(['begins', ...away, ...away, 'begins', 'recovered', 'begins']);
  await loop.stop();
});

test('a loop that is stopped waits for the run in progress, and begins no other', async () => {
  const { loop, events, end } = start();
  loop.wake();
  loop.wake();
  const stopped = loop.stop();
  loop.wake();
  await end();
  await stopped;
  await new Promise((resolve) => setTimeout(resolve));
  expect(events).toEqual(['begins']);
});
