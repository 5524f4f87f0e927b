// Clocks that a test sets, so that it neither waits nor depends on the machine's speed.

const TIMEOUTS = ['setTimeout', 'clearTimeout'] as const;
const OTHERS = [
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
] as const;

/** Stops `Date` during `act`, which may advance it. Timers and everything else stay real. */
export async function withFakeDate<T>(
  act: (advance: (ms: number) => void) => Promise<T>,
): Promise<T> {
  jest.useFakeTimers({ doNotFake: [...TIMEOUTS, ...OTHERS] });
  try {
    return await act((ms) => jest.setSystemTime(Date.now() + ms));
  } finally {
    jest.useRealTimers();
  }
}

/** Stops `setTimeout` during `act`, which may advance it. `Date` and everything else stay real. */
export async function withFakeTimeouts<T>(
  act: (pass: (ms: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  jest.useFakeTimers({ doNotFake: ['Date', ...OTHERS] });
  try {
    return await act((ms) => jest.advanceTimersByTimeAsync(ms));
  } finally {
    jest.useRealTimers();
  }
}
