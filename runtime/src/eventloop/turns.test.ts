// Turns of the event loop: who runs when, by a clock of the test and the real event loop.
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises';
import { afterPoll } from './afterpoll.ts';
import { createTurns } from './turns.ts';

let time = 0;
const order: string[] = [];
const turns = createTurns(() => time);

beforeEach(async () => {
  await drained();
  order.length = 0;
});

/** A step that takes so many milliseconds. */
const step = (name: string, ms = 1) => ({
  run() {
    order.push(name);
    time += ms;
  },
});

async function drained(): Promise<void> {
  for (let tick = 0; tick < 60; tick += 1) await nextTick();
}

test('work runs at once while the tick has time, and waits for the next tick when it has not', async () => {
  expect(turns.mayRun('a')).toBe(true);
  time += 4;
  expect(turns.mayRun('a')).toBe(true);
  time += 1;
  expect(turns.mayRun('a')).toBe(false);
  expect(turns.mayRun('b')).toBe(false);
  await nextTick();
  await nextTick();
  expect(turns.mayRun('a')).toBe(true);
});

test('asking once more after the poll does not keep the event loop from waiting', async () => {
  const iterations = () => performance.nodeTiming.uvMetricsInfo.loopCount;
  const before = iterations();
  for (let n = 0; n < 50; n += 1) {
    turns.mayRun('a');
    afterPoll(() => turns.mayRun('a'));
    await pause(2);
  }
  // One that runs the steps, and perhaps one that finds the timer.
  expect(iterations() - before).toBeLessThan(130);
});

test('owners run one step in turn, however many an owner has', async () => {
  for (let n = 1; n <= 5; n += 1) turns.add('many', '', step(`many ${n}`));
  turns.add('few', '', step('few 1'));
  turns.add('one', '', step('one'));
  turns.add('few', '', step('few 2'));
  await drained();
  expect(order).toEqual([
    'many 1',
    'few 1',
    'one',
    'many 2',
    'few 2',
    'many 3',
    'many 4',
    'many 5',
  ]);
});

test('parts of an owner take turns within it', async () => {
  for (const n of [1, 2, 3]) turns.add('nobody', 'flood', step(`flood ${n}`));
  turns.add('nobody', 'guest', step('guest'));
  turns.add('partner', '', step('partner'));
  await drained();
  expect(order).toEqual(['flood 1', 'partner', 'guest', 'flood 2', 'flood 3']);
});

test('an owner waits for one slice of each other one at most', async () => {
  for (let n = 1; n <= 20; n += 1) turns.add('heavy', '', step('heavy', 8));
  for (let n = 1; n <= 20; n += 1) turns.add('long', '', step('long', 8));
  await nextTick();
  const before = order.length;
  // What arrives between two ticks runs before what waits, if the tick has time.
  await nextTick();
  turns.add('light', '', step('light'));
  while (!order.includes('light')) await nextTick();
  expect(order.slice(before).filter((name) => name === 'heavy').length).toBeLessThanOrEqual(2);
  expect(order.slice(before).filter((name) => name === 'long').length).toBeLessThanOrEqual(2);
  expect(turns.mayRun('heavy')).toBe(false);
});

test('each tick begins at least one step, and no more than its time allows', async () => {
  while (turns.mayRun('x') === false) await nextTick();
  const perTick: number[] = [];
  for (let n = 0; n < 12; n += 1) turns.add('a', '', step('a', 2));
  while (order.length < 12) {
    const before = order.length;
    await nextTick();
    perTick.push(order.length - before);
  }
  expect(Math.max(...perTick)).toBeLessThanOrEqual(3);
});

test('while connections come in every tick, every other slice is for accepting them', async () => {
  for (let n = 0; n < 200; n += 1) turns.add('a', '', step('a', 1));
  const perTick: number[] = [];
  for (let tick = 0; tick < 40; tick += 1) {
    const before = order.length;
    turns.accepted();
    time += 0.5;
    await nextTick();
    perTick.push(order.length - before);
  }
  expect(perTick.filter((steps) => steps === 0).length).toBeGreaterThan(25);
  expect(order.length).toBeGreaterThan(10);
  await drained();
  expect(order.length).toBeGreaterThan(100);
});

test('promises of one step settle before the next one runs', async () => {
  const asyncStep = (name: string) => ({
    async run() {
      order.push(`${name} begins`);
      await undefined;
      await undefined;
      order.push(`${name} ends`);
    },
  });
  turns.add('a', '', asyncStep('a'));
  turns.add('b', '', asyncStep('b'));
  await drained();
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('a step that is taken back does not run', async () => {
  const gone = step('gone');
  turns.add('a', '', gone);
  turns.add('a', '', step('stays'));
  turns.remove('a', '', gone);
  turns.remove('a', '', gone);
  await drained();
  expect(order).toEqual(['stays']);
  expect(turns.mayRun('a')).toBe(true);
});
