// Whether to try again after a failure, and when.
import type { CallError } from '../errors.ts';
import type { Timing } from '../options.ts';
import { LONGEST_TIMER_MS } from './exchange.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** After these, it is unknown whether the request ran. */
const UNCLEAR: readonly string[] = ['SERVICE_UNAVAILABLE', 'NETWORK_ERROR', 'TIMEOUT'];
/** Retries for the part that a response lacks: a subgraph may be away for long. */
const MAX_PART_RETRIES = 3;

export type Attempts = {
  /** How many there were. */
  made: number;
  /** How long ago the first one failed. */
  failingMs: number;
  /** Whether it may run twice. */
  repeatable: boolean;
  /** How many had a response that lacks a part, which the caller takes. */
  partial: number;
};

/** The milliseconds to wait before the next attempt, or undefined if there is none. */
export function pauseAfter(
  error: CallError,
  { made, failingMs, repeatable, partial }: Attempts,
  { maxRetries, maxWaitMs }: Timing,
): number | undefined {
  // A request that is over the budget has not run.
  const mayRepeat = error.code === 'RATE_LIMITED' || (repeatable && UNCLEAR.includes(error.code));
  if (!mayRepeat || made > maxRetries || partial > MAX_PART_RETRIES) return undefined;
  const asked = (error.retryAfterSeconds ?? 0) * 1_000;
  // The random part keeps callers that failed together from coming back together.
  const backoff = Math.min(FIRST_PAUSE_MS * 2 ** (made - 1), LONGEST_PAUSE_MS);
  const pause = Math.ceil(asked + backoff * (0.5 + Math.random() / 2));
  const left = Math.min(maxWaitMs - failingMs, LONGEST_TIMER_MS);
  // A wait that Retry-After asks for is begun if it just fits, such as a whole budget window.
  return left <= 0 || asked > left ? undefined : Math.min(pause, left);
}

/** Resolves after `ms`, or rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
