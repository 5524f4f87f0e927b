// Whether to try again after a failure, and when: the rule of the guide to errors and retries.
import type { CallError, ErrorCode } from '../errors.ts';
import { SERVICE_CODES } from '../generated/errors.generated.ts';
import type { Timing } from '../options.ts';
import { LONGEST_TIMER_MS } from './exchange.ts';
import { AWAY } from './response.ts';

const FIRST_RANDOM_MS = 1_000;
const LONGEST_RANDOM_MS = 60_000;
/** Retries for the part that a response lacks: a subgraph may be away for long. */
const MAX_PART_RETRIES = 3;

type Attempts = {
  /** How many there were. */
  made: number;
  /** How long ago the first one began. */
  elapsedMs: number;
  /** Whether it may run twice. */
  repeatable: boolean;
  /** Whether the last one ran, at least in part. */
  ran: boolean;
  /** How many had a response that lacks a part, which the caller takes. */
  partial: number;
  /** How many failed with an error that is worth one retry. */
  once: number;
};

/** Which of the requests that failed with a code are sent again. */
export function retryOf(code: ErrorCode): 'always' | 'repeatable' | 'once' | 'never' {
  if (code === 'NETWORK_ERROR' || code === 'TIMEOUT') return 'repeatable';
  return code === 'UNEXPECTED_RESPONSE' || code === 'OTHER' ? 'never' : SERVICE_CODES[code].retry;
}

/** The milliseconds to wait before the next attempt, or undefined if there is none. */
export function waitAfter(
  { code, status, retryAfterSeconds = 0 }: CallError,
  { made, elapsedMs, repeatable, ran, partial, once }: Attempts,
  { maxRetries, deadlineMs }: Timing,
): number | undefined {
  const retry = AWAY.includes(status) ? 'repeatable' : retryOf(code);
  const isRepeated = (retry === 'always' && !ran) || (retry !== 'never' && repeatable);
  if (!isRepeated || once > 1 || made > maxRetries || partial > MAX_PART_RETRIES) return undefined;
  // The random part keeps callers that failed together from coming back together.
  const random = Math.random() * Math.min(FIRST_RANDOM_MS * 2 ** (made - 1), LONGEST_RANDOM_MS);
  const wait = Math.ceil(retryAfterSeconds * 1_000 + random);
  return wait < Math.min(deadlineMs - elapsedMs, LONGEST_TIMER_MS) ? wait : undefined;
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
