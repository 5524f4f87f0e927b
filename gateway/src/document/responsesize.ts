// The limit of a response, which stops it while it is being built.
import { setImmediate as nextTick } from 'node:timers/promises';
import { fail } from '@partner-loyalty/runtime/errors.ts';

/** In bytes of JSON (docs/callers/errors.md). */
export const MAX_RESPONSE_BYTES = 1024 * 1024;

/** After how much of a response others have their turn: a few milliseconds of work. */
const PAUSE_BYTES = 128 * 1024;

/**
 * Waits until the owner of a request may go on, with `isLarge` as one of the few that take much
 * memory; undefined if it may now.
 */
export type Turn = (isLarge?: boolean) => Promise<void> | undefined;

/** Counts a response as it grows. Throws OPERATION_TOO_COMPLEX once it is over the limit. */
export class ResponseSize {
  /** What was added so far. */
  bytes = 0;
  private pauseAt = PAUSE_BYTES;
  private readonly maxBytes: number;
  readonly turn: Turn;

  constructor(maxBytes = MAX_RESPONSE_BYTES, turn: Turn = () => nextTick()) {
    this.maxBytes = maxBytes;
    this.turn = turn;
  }

  /** `bytes` of names and punctuation. */
  add(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.maxBytes) tooLarge();
  }

  /** Waits for a turn before more is added; undefined if it may be added now. */
  pause(): Promise<void> | undefined {
    if (this.bytes < this.pauseAt) return undefined;
    this.pauseAt = this.bytes + PAUSE_BYTES;
    return this.turn(true);
  }

  /** Before more is added, whatever it is: something else has taken time. */
  pauseSoon(): void {
    this.pauseAt = Math.min(this.pauseAt, this.bytes);
  }

  /**
   * A string. Most are ASCII without escapes; `serialize` checks the exact size. A lone surrogate
   * takes 6 bytes, and long to write.
   */
  addString(value: string): void {
    this.add((value.isWellFormed() ? value.length : 6 * value.length) + 2);
  }

  /** A number, a boolean or the value of a custom scalar. */
  addValue(value: unknown): void {
    this.add(typeof value === 'object' ? (JSON.stringify(value) ?? '').length : 8);
  }
}

/** The JSON of a response. Throws OPERATION_TOO_COMPLEX if it is over the limit. */
export function serialize(body: object): string {
  const text = JSON.stringify(body);
  // A UTF-16 unit takes up to 3 bytes.
  if (text.length * 3 > MAX_RESPONSE_BYTES && Buffer.byteLength(text) > MAX_RESPONSE_BYTES)
    tooLarge();
  return text;
}

function tooLarge(): never {
  fail('OPERATION_TOO_COMPLEX', `the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
}
