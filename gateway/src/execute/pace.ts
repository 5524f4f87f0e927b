// What a run may take in all, and when others have their turn while it goes on.
import { LONGEST_HASHED } from '@partner-loyalty/runtime/input.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Reading } from '@partner-loyalty/runtime/transport/types.ts';
import { WIRE } from '@partner-loyalty/runtime/transport/wire.ts';
import type { Turn } from '../document/responsesize.ts';

/** Steps of a run: some 50 ms, and more than a response has room for. */
const MAX_WORK = 2_000_000;
/** After how many steps others have their turn. */
const PAUSE_WORK = 100_000;
/** Of all representations: what many places share is written for each of them. */
const MAX_CHARACTERS = WIRE.maxBodyBytes;
/** Of all responses of other teams to a run, which become one of 1 MiB at most. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Beyond so many, a run needs as much memory as few may have at a time. */
const LARGE_BYTES = 64 * 1024;
/** Of each character. */
const WORK_OF_LITERAL = 2;
/** How many fetches begin at once, whatever else there is to do. */
const MAX_AT_ONCE = 16;
/** One of a subgraph in this process is as many: it takes up to some 10 ms. */
const FETCHES_OF_LOCAL = 6;

/** Thrown if a run does too much for what it was asked. */
export const TOO_MUCH = new Error('the operation takes too much work');

export class Pace implements Reading {
  private steps = 0;
  private characters = 0;
  private bytes = 0;
  private fetches = 0;
  private pauseAt = PAUSE_WORK;
  private isLarge = false;
  /** What waits for a turn goes on one after another: a request waits for one at a time. */
  private last: Promise<void> | undefined = undefined;
  /** The part that is being run alone, if it waits. */
  private busy: Promise<unknown> | undefined = undefined;
  private readonly ofOwner: Turn;

  /** `turn` is the owner's. */
  constructor(turn: Turn) {
    this.ofOwner = turn;
  }

  /** Counts work before it is done. Throws TOO_MUCH. */
  work(steps: number): void {
    // What is refused is not done, and leaves the rest to others.
    if (this.steps + steps > MAX_WORK) throw TOO_MUCH;
    this.steps += steps;
  }

  /** Counts what is written of representations and literals. Throws TOO_MUCH. */
  write({ characters, steps }: Written): void {
    this.work(steps);
    this.characters += characters;
    if (this.characters > MAX_CHARACTERS) throw TOO_MUCH;
  }

  /** Counts a literal that is written into an operation, and read there again. */
  readonly writeLiteral = (characters: number): void =>
    this.write({ characters, steps: WORK_OF_LITERAL * characters });

  takes(bytes: number): boolean {
    this.bytes += bytes;
    this.isLarge ||= this.bytes > LARGE_BYTES;
    return this.bytes <= MAX_BYTES;
  }

  turn(): Promise<void> | undefined {
    const ofOwner = () => this.ofOwner(this.isLarge);
    // If the client is gone, nothing is left to wait for.
    const own = (this.last === undefined ? ofOwner() : this.last.then(ofOwner))?.catch(() => {});
    this.last = own;
    void own?.then(() => {
      if (this.last === own) this.last = undefined;
    });
    return own;
  }

  /** Waits for a turn if the run has done much since the last one. */
  pause(): Promise<void> | undefined {
    if (this.steps < this.pauseAt) return undefined;
    this.pauseAt = this.steps + PAUSE_WORK;
    this.isLarge = true;
    return this.turn();
  }

  /** Waits until the next fetch may begin; undefined if it may now. */
  fetch(isLocal = false): Promise<void> | undefined {
    this.fetches += isLocal ? FETCHES_OF_LOCAL : 1;
    const isDue = this.last !== undefined || this.fetches >= MAX_AT_ONCE;
    if (isDue) this.fetches = 0;
    return isDue ? this.turn() : this.pause();
  }

  /** Acts on each of a list, in pieces if that is much work. */
  each<T>(
    all: readonly T[],
    act: (item: T, index: number) => MaybePromise<void>,
    from = 0,
  ): MaybePromise<void> {
    for (let index = from; index < all.length; index += 1) {
      // Cast: the index is one of the list.
      const waiting = act(all[index] as T, index) ?? this.pause();
      if (waiting !== undefined) return waiting.then(() => this.each(all, act, index + 1));
    }
  }

  /** Runs a part that reads or changes the data while no other part does, even if it waits. */
  alone<T>(part: () => MaybePromise<T>): MaybePromise<T> {
    if (this.busy !== undefined)
      return this.busy.then(() => this.turn()).then(() => this.alone(part));
    const result = part();
    if (result instanceof Promise) {
      const end = () => {
        this.busy = undefined;
      };
      this.busy = result.then(end, end);
    }
    return result;
  }
}

/** What it takes to write a value: characters of JSON, and steps of work. */
export type Written = { characters: number; steps: number };

/** What becomes an escape of up to 6 characters, and what also takes V8 300 times as long. */
const ESCAPED = /["\\\p{Cc}\p{Surrogate}]/u;
const LONE = /\p{Surrogate}/u;
/** Texts of keys are mostly shorter. They count as if all of them were escapes. */
const SHORT_TEXT = 32;

/** At most what JSON.stringify writes; all that is in a value counts at each of its places. */
export function written(value: unknown, sum: Written = { characters: 0, steps: 0 }): Written {
  sum.characters += 8;
  sum.steps += 1;
  if (typeof value === 'string') addText(value, sum);
  else if (typeof value === 'number') sum.steps += Number.isSafeInteger(value) ? 1 : 25;
  else if (Array.isArray(value)) for (const each of value) written(each, sum);
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value)) {
      sum.characters += name.length;
      written(each, sum);
    }
  return sum;
}

function addText(text: string, sum: Written): void {
  const { length } = text;
  const isPlain = length > SHORT_TEXT && !ESCAPED.test(text);
  sum.characters += isPlain ? length : 6 * length;
  if (isPlain) sum.steps += length >> 6;
  else sum.steps += length > SHORT_TEXT && LONE.test(text) ? 12 * length : length >> 3;
}

/** What it takes to look a value up in a Map, where texts are compared. */
export function lookUpSteps(value: unknown): number {
  if (typeof value !== 'string') return 0;
  return value.length > LONGEST_HASHED ? value.length >> 2 : value.length >> 8;
}
