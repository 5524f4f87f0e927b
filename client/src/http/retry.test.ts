// When a call is tried again: the rule of the guide to errors and retries.
import type { ErrorCode } from '../errors.ts';
import { callError } from './response.ts';
import { pause, waitAfter } from './retry.ts';

const after = (
  code: ErrorCode,
  {
    status = undefined as number | undefined,
    repeatable = true,
    ran = false,
    partial = 0,
    once = 0,
    made = 1,
    elapsedMs = 0,
    retryAfterSeconds = 0,
    deadlineMs = 75_000,
    maxRetries = Number.POSITIVE_INFINITY,
  } = {},
) => {
  const error = callError(code, '', { retryAfterSeconds, status });
  const timing = { timeoutMs: 1, deadlineMs, maxRetries };
  return waitAfter(error, { made, elapsedMs, repeatable, ran, partial, once }, timing);
};

/** The part of the longest random wait that is drawn. */
const draw = (part: number) => jest.spyOn(Math, 'random').mockReturnValue(part);
beforeEach(() => draw(0));
afterEach(() => jest.restoreAllMocks());

test.each<[ErrorCode, boolean, boolean]>([
  ['RATE_LIMITED', true, true],
  ['SERVICE_UNAVAILABLE', true, false],
  ['NETWORK_ERROR', true, false],
  ['TIMEOUT', true, false],
  ['INTERNAL_SERVER_ERROR', true, false],
  ['UNEXPECTED_RESPONSE', false, false],
  ['UNAUTHENTICATED', false, false],
  ['MEMBER_NOT_FOUND', false, false],
  ['OTHER', false, false],
])('after %s: what is repeatable, %s; what is not, %s', (code, repeatable, other) => {
  expect(after(code) !== undefined).toBe(repeatable);
  expect(after(code, { repeatable: false }) !== undefined).toBe(other);
});

test('a proxy that does not reach the service is the service away, whatever its body says', () => {
  for (const status of [502, 503, 504]) {
    expect(after('OTHER', { status })).toBe(0);
    expect(after('OTHER', { status, repeatable: false })).toBeUndefined();
  }
  expect(after('OTHER', { status: 500 })).toBeUndefined();
});

test('what ran in part is sent again only if it is safe to repeat, even after RATE_LIMITED', () => {
  expect(after('RATE_LIMITED', { ran: true })).toBe(0);
  expect(after('RATE_LIMITED', { ran: true, repeatable: false })).toBeUndefined();
});

test('a wait is what the service asks for, and a random part that doubles up to a minute', () => {
  const waits = () =>
    [1, 2, 3, 6, 7, 8, 2_000].map((made) =>
      after('TIMEOUT', { made, retryAfterSeconds: 7, deadlineMs: 900_000 }),
    );
  expect(waits()).toEqual(Array(7).fill(7_000));
  draw(0.5);
  expect(waits()).toEqual([7_500, 8_000, 9_000, 23_000, 37_000, 37_000, 37_000]);
});

test('a wait that ends at the deadline or later is not begun', () => {
  expect(after('RATE_LIMITED', { retryAfterSeconds: 60 })).toBe(60_000);
  expect(after('RATE_LIMITED', { retryAfterSeconds: 60, elapsedMs: 15_000 })).toBeUndefined();
  draw(0.5);
  expect(after('TIMEOUT', { made: 7, elapsedMs: 44_999 })).toBe(30_000);
  expect(after('TIMEOUT', { made: 7, elapsedMs: 45_000 })).toBeUndefined();
  for (const deadlineMs of [75_000, Number.POSITIVE_INFINITY])
    expect(after('RATE_LIMITED', { retryAfterSeconds: 999_999_999, deadlineMs })).toBeUndefined();
});

test('no more than maxRetries; one for an internal error; three for a part that is away', () => {
  expect(after('TIMEOUT', { made: 3, maxRetries: 3 })).toBe(0);
  expect(after('TIMEOUT', { made: 4, maxRetries: 3 })).toBeUndefined();
  expect(after('INTERNAL_SERVER_ERROR', { made: 9, once: 1 })).toBe(0);
  expect(after('INTERNAL_SERVER_ERROR', { made: 9, once: 2 })).toBeUndefined();
  expect(after('SERVICE_UNAVAILABLE', { partial: 3, made: 9 })).toBe(0);
  expect(after('SERVICE_UNAVAILABLE', { partial: 4, made: 9 })).toBeUndefined();
});

/** How long calls are still tried again with a deadline, if each attempt fails at once. */
function outageSurvived(deadlineMs: number): number {
  let elapsedMs = 0;
  for (let made = 1; ; made += 1) {
    const wait = after('SERVICE_UNAVAILABLE', {
      made,
      elapsedMs,
      deadlineMs,
      retryAfterSeconds: 1,
    });
    if (wait === undefined) return elapsedMs;
    elapsedMs += wait;
  }
}

test('a deadline of 15 minutes survives an outage of ten, whatever is drawn', () => {
  for (const part of [0, 0.1, 0.5, 0.9, 0.999]) {
    draw(part);
    expect(outageSurvived(900_000)).toBeGreaterThan(600_000);
  }
});

test('a pause ends when its signal aborts, also one that has already', async () => {
  const controller = new AbortController();
  const long = pause(1_000_000, controller.signal);
  controller.abort('now');
  await expect(long).rejects.toBe('now');
  await expect(pause(1_000_000, controller.signal)).rejects.toBe('now');
});
