// What a sandbox subtracts from a standing, within the bound of an operation.
import type { SubgraphContext } from '@partner-loyalty/runtime/subgraph/types.ts';
import { activity, newPlace, type Place } from '../test/engine.ts';
import { createGainedLater } from './sandbox.ts';
import type { StandingsStore } from './store/store.ts';

const DAY = (day: number) => new Date(Date.UTC(2026, 0, day));

describe('what a member gained later', () => {
  let place: Place;
  let store: StandingsStore;
  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
  });
  afterEach(() => place.release());

  const context: SubgraphContext = { caller: { kind: 'service' }, requestId: 'r' };
  const record = (count: number, day: number) =>
    store.record(
      Array.from({ length: count }, (_, index) =>
        activity(`${day}-${index}`, 1, { stays: 2, occurredAt: DAY(day) }),
      ),
    );
  const range = { partnerId: 'inn', memberId: 'ada', until: DAY(20) };

  test('is what is after one time and before another', async () => {
    await record(2, 5);
    await record(3, 10);
    await record(1, 20);
    const gainedLater = createGainedLater(store);
    const gained = (since: number) => gainedLater({ ...range, since: DAY(since) }, { ...context });
    expect(await gained(4)).toEqual({ points: 5, stays: 10 });
    expect(await gained(5)).toEqual({ points: 3, stays: 6 });
    expect(await gained(19)).toEqual({ points: 0, stays: 0 });
  });

  test('reads little of what is earlier, and nothing once an operation has needed too much', async () => {
    await record(2_000, 5);
    let read = 0;
    const gainedLater = createGainedLater({
      async latestActivities(...args) {
        const page = await store.latestActivities(...args);
        read += page.length;
        return page;
      },
    });
    const operation = { ...context };
    const gained = (since: number) => gainedLater({ ...range, since: DAY(since) }, operation);
    await gained(6);
    expect(read).toBeLessThanOrEqual(50);
    for (let count = 0; count < 5; count += 1) await gained(4);
    await expect(gained(4)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    read = 0;
    await expect(gained(4)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(read).toBe(0);
  });

  test('is BAD_USER_INPUT beyond 10,000 activities of an operation together', async () => {
    for (let from = 0; from < 5_001; from += 1_667)
      await store.record(
        Array.from({ length: 1_667 }, (_, index) =>
          activity(`m-${from + index}`, 1, { occurredAt: DAY(5) }),
        ),
      );
    const gainedLater = createGainedLater(store);
    const operation = { ...context };
    const gained = () => gainedLater({ ...range, since: DAY(4) }, operation);
    expect(await gained()).toMatchObject({ points: 5_001 });
    await expect(gained()).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(await gainedLater({ ...range, since: DAY(4) }, { ...context })).toMatchObject({
      points: 5_001,
    });
  });
});
