// A store whose engine is unavailable opens later; any other failure ends the start.
import { openNowOrLater } from './later.ts';

class MongoServerSelectionError extends Error {
  override name = 'MongoServerSelectionError';
}

function engine() {
  const state = { isUp: false, opened: 0, closed: 0 };
  const open = async () => {
    state.opened += 1;
    if (!state.isUp) throw new MongoServerSelectionError('away');
    return {
      read: (key: string) => `value of ${key}`,
      close: async () => {
        state.closed += 1;
      },
    };
  };
  return { state, open };
}

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => void jest.useRealTimers());

test('methods reject until the engine is there, with one attempt a second', async () => {
  const { state, open } = engine();
  const outages: unknown[] = [];
  const store = await openNowOrLater(open, (error) => outages.push(error));
  expect(outages).toHaveLength(1);
  for (let use = 0; use < 3; use += 1)
    await expect(async () => store.read('a')).rejects.toThrow('away');
  expect(state.opened).toBe(1);
  jest.advanceTimersByTime(1_000);
  await Promise.all([1, 2].map(() => expect(async () => store.read('a')).rejects.toThrow('away')));
  expect(state.opened).toBe(2);
  state.isUp = true;
  jest.advanceTimersByTime(1_000);
  expect(await store.read('a')).toBe('value of a');
  expect(await store.read('b')).toBe('value of b');
  expect(state.opened).toBe(3);
  await store.close();
  expect(state.closed).toBe(1);
});

test('a store that is closed before it ever opened closes nothing', async () => {
  const { state, open } = engine();
  const store = await openNowOrLater(open, () => {});
  await store.close();
  expect(state).toEqual({ isUp: false, opened: 1, closed: 0 });
});

test('a failure that is no outage rejects at once', async () => {
  const failing = () => Promise.reject(new Error('the store belongs to production'));
  await expect(openNowOrLater(failing, () => {})).rejects.toThrow('belongs to production');
});
