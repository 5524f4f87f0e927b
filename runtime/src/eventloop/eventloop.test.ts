// Turns, places and loops.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { startLoop } from './loop.ts';
import { createPlaces } from './places.ts';
import { createTurns } from './turns.ts';

// Steps after the poll.

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

// A loop repeats work in the background, one run at a time, until it is stopped.
describe('loop', () => {
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
});

// Places for requests: how many there are, who gets the next, and who gives up.
describe('places', () => {
  /** Asks for places, and notes who has got one. */
  function start(options: Parameters<typeof createPlaces>[0] = {}) {
    const place = createPlaces({ places: 2, ofOwner: 1, ...options });
    const got: string[] = [];
    const ask = (owner: string, signal = new AbortController().signal, part = '') => {
      const found = place({ owner, part, signal });
      found.then(() => got.push(owner + part)).catch(() => {});
      return found;
    };
    return { got, ask };
  }

  test('two at a time, one of an owner, in the order of arrival', async () => {
    const { got, ask } = start();
    const [first, second] = [ask('a'), ask('a')];
    const [third, fourth] = [ask('b'), ask('c')];
    const [leaveFirst, leaveThird] = [await first, await third];
    expect(got).toEqual(['a', 'b']);
    leaveThird();
    const leaveFourth = await fourth;
    expect(got).toEqual(['a', 'b', 'c']);
    leaveFirst();
    leaveFourth();
    (await second)();
    expect(got).toEqual(['a', 'b', 'c', 'a']);
  });

  test('those who wait begin one after another, each in a turn of the event loop of its own', async () => {
    const { got, ask } = start({ places: 1 });
    for (const owner of ['a', 'b', 'c', 'd']) void ask(owner).then((leave) => leave());
    const begun: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      begun.push(got.length);
    }
    expect(begun).toEqual([1, 2, 3, 4]);
  });

  test('whoever waits too long is refused, and takes no place later', async () => {
    const { got, ask } = start({ waitMs: 50 });
    const leave = [await ask('a'), await ask('b')];
    await expect(ask('c')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    for (const each of leave) each();
    (await ask('d'))();
    expect(got).toEqual(['a', 'b', 'd']);
  });

  test('the place of a client that has gone while it waited is for the next', async () => {
    const { got, ask } = start();
    const gone = new AbortController();
    const leave = await ask('a');
    await ask('b');
    const waiting = ask('c', gone.signal);
    const next = ask('d');
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    leave();
    await next;
    await expect(ask('e', gone.signal)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(got).toEqual(['a', 'b', 'd']);
  });

  test('an owner with hundreds that wait leaves every other place to others, and a part of it to other parts', async () => {
    const { got, ask } = start({ places: 4, ofOwner: 4 });
    const all = [
      ...Array.from({ length: 300 }, () => ask('a', undefined, '1')),
      ...Array.from({ length: 2 }, () => ask('a', undefined, '2')),
      ...Array.from({ length: 3 }, () => ask('b')),
    ];
    await Promise.all(all.map(async (each) => (await each)()));
    expect(got.slice(0, 11)).toEqual([
      ...['a1', 'a1', 'a1', 'a1', 'a1'],
      ...['b', 'a2', 'b', 'a1', 'b', 'a2'],
    ]);
    expect(got).toHaveLength(305);
  });

  test('beyond what may wait of an owner and part, the next is refused at once, and others are not', async () => {
    const { ask } = start({ waiting: 2 });
    const [first, ...waiting] = [ask('a'), ask('a'), ask('a')];
    await expect(ask('a')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const others = [ask('a', undefined, 'elsewhere'), ask('b')];
    (await first)?.();
    await Promise.all([...waiting, ...others].map(async (each) => (await each)()));
  });

  test('without a limit for all, an owner does one thing at a time and waits for no other owner', async () => {
    const { got, ask } = start({ places: Number.POSITIVE_INFINITY });
    const [first, second] = [ask('a'), ask('a')];
    await Promise.all(['b', 'c'].map((owner) => ask(owner)));
    expect(got).toEqual(['a', 'b', 'c']);
    (await first)();
    await second;
    expect(got).toEqual(['a', 'b', 'c', 'a']);
  });
});

// Turns of the event loop: who runs when, by a clock of the test and the real event loop.
describe('turns', () => {
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
});
