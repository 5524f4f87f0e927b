// Parts of the store by themselves: pages, cached programs, merged calls, what a sandbox subtracts.
import type { SubgraphContext } from '@partner-loyalty/runtime/subgraph/types.ts';
import { activity, newPlace } from '../../test/engine.ts';
import type { Program } from '../rules/program.ts';
import { createGainedLater } from '../sandbox.ts';
import { createPage } from './feed.ts';
import { mergeCalls } from './mergecalls.ts';
import { cachePrograms } from './programs.ts';

describe('a page of the feed, while old blocks are deleted one by one', () => {
  const block = (first: number) => {
    const event = {
      id: `e-${first}`,
      type: 'YEAR_ENDED',
      partnerId: 'inn',
      occurredAt: 1,
    } as const;
    return { first, events: [event] };
  };
  const pageAfter = (after: number | undefined) => {
    const page = createPage({ after, first: 10, types: undefined }, 3);
    for (const first of [1, 3]) if (!page.add(block(first))) break;
    return page.done();
  };

  test('a gap after a position is what the reader has missed', () => {
    expect(pageAfter(0)).toBe('expired');
  });

  test('without a position, a gap between old events is only what is deleted at this time', () => {
    const events = [1, 3].map((position) => ({ position, event: block(position).events[0] }));
    expect(pageAfter(undefined)).toEqual({ events, end: 3, hasNext: false });
  });
});

describe('cached programs', () => {
  const PROGRAM: Program = {
    membershipYear: { start: '01-01', timeZone: 'UTC' },
    tiers: [{ name: 'Only', points: 0 }],
  };

  test('are loaded once in five seconds, as is the lack of one, unless they are forgotten', async () => {
    let time = 0;
    const load = jest.fn(async (partnerId: string) => (partnerId === 'inn' ? PROGRAM : undefined));
    const programs = cachePrograms(load, { now: () => time });
    for (time of [1_000, 5_999]) {
      expect(await programs.get('inn')).toEqual(PROGRAM);
      expect(await programs.get('spa')).toBeUndefined();
    }
    expect(load).toHaveBeenCalledTimes(2);
    time = 6_001;
    await programs.get('inn');
    expect(load).toHaveBeenCalledTimes(3);
    programs.forget('inn');
    await programs.get('inn');
    expect(load).toHaveBeenCalledTimes(4);
    expect(programs.get('inn')).toEqual(PROGRAM);
  });

  test('a failure is not cached', async () => {
    const load = jest.fn(async () => PROGRAM).mockRejectedValueOnce(new Error('unavailable'));
    const programs = cachePrograms(load);
    await expect(programs.get('inn')).rejects.toThrow('unavailable');
    expect(await programs.get('inn')).toEqual(PROGRAM);
  });

  test('names that the version before stored are shown without what alters text', () => {
    const tiers = [{ name: 'G\u202eo\u200bld', points: 0 }];
    const programs = cachePrograms(() => ({ ...PROGRAM, tiers }));
    for (let n = 0; n < 2; n += 1)
      expect(programs.get('inn')).toMatchObject({ tiers: [{ name: 'Gold', points: 0 }] });
  });
});

describe('calls that share a key', () => {
  /** Items are `key:value`; a run ends when the test says so. */
  function start(maxItems = 10) {
    const runs: { items: readonly string[]; end(error?: Error): Promise<void> }[] = [];
    const call = mergeCalls<string, string>(
      (items) =>
        new Promise((resolve, reject) => {
          const end = async (error?: Error) => {
            if (error) reject(error);
            else resolve(items.map((item) => item.toUpperCase()));
            await new Promise(setImmediate);
          };
          runs.push({ items, end });
        }),
      (item) => item.split(':')[0] ?? '',
      maxItems,
    );
    return { call, runs, items: () => runs.map((run) => run.items) };
  }

  test('run together after the one that is running, up to a number of items; others at once', async () => {
    const { call, runs, items } = start(3);
    const calls = [['a:1'], ['a:2', 'b:2'], ['c:3'], ['b:4'], ['a:5', 'a:6', 'a:7', 'a:8']];
    const results = Promise.all(calls.map(call));
    expect(items()).toEqual([['a:1'], ['c:3']]);
    for (const run of runs) await run.end();
    expect(items().slice(2)).toEqual([
      ['a:2', 'b:2', 'b:4'],
      ['a:5', 'a:6', 'a:7', 'a:8'],
    ]);
    expect((await results).flat()).toEqual(calls.flat().map((item) => item.toUpperCase()));
  });

  test('a call with many keys is not overtaken for ever', async () => {
    const { call, runs, items } = start(1);
    for (const one of [['a:1'], ['b:2'], ['a:3', 'b:3'], ['b:4']]) void call(one);
    await runs[0]?.end();
    await runs[1]?.end();
    expect(items().slice(2)).toEqual([['a:3', 'b:3']]);
  });

  test('a failure fails those that ran together, and no others', async () => {
    const { call, runs } = start();
    const [first, merged] = [call(['a:1']), Promise.allSettled([call(['a:2']), call(['a:3'])])];
    await runs[0]?.end();
    const later = call(['a:4']);
    await runs[1]?.end(new Error('the store is away'));
    await runs[2]?.end();
    expect([await first, await later]).toEqual([['A:1'], ['A:4']]);
    expect((await merged).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

test('a sandbox subtracts what is after one time and before another, within a bound on an operation', async () => {
  const place = newPlace();
  const store = await place.open();
  const day = (number: number) => new Date(Date.UTC(2026, 0, number));
  const record = (count: number, at: number) =>
    store.record(
      Array.from({ length: count }, (_, index) =>
        activity(`${at}-${index}`, 1, { stays: 2, occurredAt: day(at) }),
      ),
    );
  for (const [count, at] of [
    [1_500, 5],
    [3, 10],
    [1, 20],
  ] as const)
    await record(count, at);
  let read = 0;
  const pages: number[] = [];
  let turns = 0;
  const gainedLater = createGainedLater({
    async latestActivities(...args) {
      const page = await store.latestActivities(...args);
      read += page.length;
      pages.push(page.length);
      return page;
    },
  });
  const operation: SubgraphContext = { caller: { kind: 'service' }, requestId: 'r' };
  const range = { partnerId: 'inn', memberId: 'ada', until: day(20) };
  const gained = (since: number, context = operation) =>
    gainedLater({ ...range, since: day(since) }, context);
  expect(await gained(5)).toEqual({ points: 3, stays: 6 });
  expect(await gained(19)).toEqual({ points: 0, stays: 0 });
  // Little is read of what is earlier.
  expect(read).toBeLessThanOrEqual(100);
  let isDone = false;
  const countTurns = () => {
    turns += 1;
    if (!isDone) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  pages.length = 0;
  expect(await gained(4)).toEqual({ points: 1_503, stays: 3_006 });
  isDone = true;
  expect(pages).toEqual([50, 100, 200, 400, 500, 253]);
  expect(turns).toBeGreaterThanOrEqual(5);
  await expect(gained(4)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  read = 0;
  await expect(gained(4)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(read).toBe(0);
  expect(await gained(4, { ...operation })).toMatchObject({ points: 1_503 });
  await place.release();
});
