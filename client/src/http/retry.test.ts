// When a call is tried again.
import type { ErrorCode } from '../errors.ts';
import { callError } from './response.ts';
import { pause, pauseAfter } from './retry.ts';

const TIMING = { timeoutMs: 1, maxWaitMs: 60_000, maxRetries: 3 };
const after = (
  code: ErrorCode,
  { repeatable = true, made = 1, waitedMs = 0, retryAfterSeconds = 0, maxWaitMs = 60_000 } = {},
) => {
  const error = callError(code, '', { retryAfterSeconds });
  return pauseAfter(error, { made, waitedMs, repeatable }, { ...TIMING, maxWaitMs });
};

test.each<[ErrorCode, boolean, boolean]>([
  ['RATE_LIMITED', true, true],
  ['SERVICE_UNAVAILABLE', true, false],
  ['NETWORK_ERROR', true, false],
  ['TIMEOUT', true, false],
  ['INTERNAL_SERVER_ERROR', false, false],
  ['UNEXPECTED_RESPONSE', false, false],
  ['UNAUTHENTICATED', false, false],
  ['OTHER', false, false],
])('after %s: what is repeatable, %s; what is not, %s', (code, repeatable, other) => {
  expect(after(code) !== undefined).toBe(repeatable);
  expect(after(code, { repeatable: false }) !== undefined).toBe(other);
});

test('a pause is at least what Retry-After says, and grows up to a bound', () => {
  for (let time = 0; time < 100; time += 1) {
    expect(after('RATE_LIMITED', { retryAfterSeconds: 7 })).toBeGreaterThanOrEqual(7_000);
    const pauses = [1, 2, 3].map((made) => after('TIMEOUT', { made }) ?? 0);
    for (const [index, ms] of pauses.entries()) {
      expect(ms).toBeGreaterThanOrEqual(125 * 2 ** index);
      expect(ms).toBeLessThanOrEqual(250 * 2 ** index);
    }
  }
});

test('no pause beyond maxRetries, or beyond maxWaitMs with what was waited', () => {
  expect(after('TIMEOUT', { made: 4 })).toBeUndefined();
  expect(after('RATE_LIMITED', { retryAfterSeconds: 30, waitedMs: 30_001 })).toBeUndefined();
  expect(after('RATE_LIMITED', { retryAfterSeconds: 60 })).toBe(60_000);
  expect(after('TIMEOUT', { maxWaitMs: 0 })).toBeUndefined();
  expect(after('RATE_LIMITED', { retryAfterSeconds: 999_999_999 })).toBeUndefined();
});

test('a pause ends when its signal aborts, also one that has already', async () => {
  const controller = new AbortController();
  const long = pause(1_000_000, controller.signal);
  controller.abort('now');
  await expect(long).rejects.toBe('now');
  await expect(pause(1_000_000, controller.signal)).rejects.toBe('now');
});
