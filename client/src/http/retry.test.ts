// When a call is tried again.
import type { ErrorCode } from '../errors.ts';
import { callError } from './response.ts';
import { pause, pauseAfter } from './retry.ts';

const after = (
  code: ErrorCode,
  {
    repeatable = true,
    partial = 0,
    made = 1,
    failingMs = 0,
    retryAfterSeconds = 0,
    maxWaitMs = 60_000,
    maxRetries = Number.POSITIVE_INFINITY,
  } = {},
) => {
  const error = callError(code, '', { retryAfterSeconds });
  const timing = { timeoutMs: 1, maxWaitMs, maxRetries };
  return pauseAfter(error, { made, failingMs, repeatable, partial }, timing);
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

test('no pause beyond maxRetries, or beyond maxWaitMs after the first failure', () => {
  expect(after('TIMEOUT', { made: 4, maxRetries: 3 })).toBeUndefined();
  expect(after('RATE_LIMITED', { retryAfterSeconds: 30, failingMs: 30_001 })).toBeUndefined();
  expect(after('RATE_LIMITED', { retryAfterSeconds: 60 })).toBe(60_000);
  expect(after('TIMEOUT', { maxWaitMs: 0 })).toBeUndefined();
  expect(after('RATE_LIMITED', { retryAfterSeconds: 999_999_999 })).toBeUndefined();
});

test('a service that is away is asked again until a minute is over', () => {
  for (const code of ['NETWORK_ERROR', 'SERVICE_UNAVAILABLE', 'TIMEOUT'] as const) {
    expect(after(code, { made: 100, failingMs: 59_000 })).toBeLessThanOrEqual(1_000);
    expect(after(code, { made: 100, failingMs: 60_000 })).toBeUndefined();
  }
});

test('for a part that a response lacks, there are three retries', () => {
  expect(after('SERVICE_UNAVAILABLE', { partial: 3, made: 9 })).toBeDefined();
  expect(after('SERVICE_UNAVAILABLE', { partial: 4, made: 9 })).toBeUndefined();
});

test('a pause ends when its signal aborts, also one that has already', async () => {
  const controller = new AbortController();
  const long = pause(1_000_000, controller.signal);
  controller.abort('now');
  await expect(long).rejects.toBe('now');
  await expect(pause(1_000_000, controller.signal)).rejects.toBe('now');
});
