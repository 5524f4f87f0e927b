// Counts what a JSON text costs to parse and to shape, before that holds the event loop.
import { randomInt } from 'node:crypto';
import { LONGEST_HASHED } from '../input.ts';

/** What takes up to 50 ms to parse and to shape. A megabyte of ordinary data has up to 145,000. */
const MAX_PARTS = 150_000;
/** What all larger responses of another team may have in a second, which is 0.1 s of work. */
const PARTS_PER_SECOND = 300_000;
/** A response with fewer is read without counting: it takes no longer than many a request. */
const SMALL_PARTS = 15_000;
/** No text that is shorter has so many: a member in a new order takes 6 bytes, such as `"a":1,`. */
const SMALL_BYTES = SMALL_PARTS / 5;
/** Strings take time, too, most of all those with escapes. */
const BYTES_PER_PART = 50;
/** An object whose members come in an order that is new costs V8 as much as so many more. */
const PARTS_OF_NEW_ORDER = 24;

const PARTS_OF_EXPONENT = 2.5;
const SURROGATES = ['\\ud', '\\uD'].map((beginning) => Buffer.from(beginning));
/** V8 looks up strings of up to 10 characters, and keeps those that are new in a table. */
const PARTS_OF_NEW_STRING = 2;
const [LONGEST_KEPT, LONGEST_KEPT_IN_BYTES] = [10, 30];
/** A name that is a number, or may be one: up to 35 places in memory. */
const PARTS_OF_NUMBER_NAME = 10;

const [QUOTE = 0, BACKSLASH, LIST, OBJECT, OBJECT_END, COLON, COMMA] = Buffer.from('"\\[{}:,');
const [EXPONENT, SMALL_EXPONENT, ZERO = 0, NINE = 0] = Buffer.from('Ee09');
const isDigit = (byte = 0) => byte >= ZERO && byte <= NINE;
/** Odd, and known to nobody who could find names with equal hashes. */
const MULTIPLIER = randomInt(2 ** 31) * 2 + 1;
/** Which orders and short strings a text has had; kept, since they were half of the garbage. */
const orders = new Uint8Array(1 << 16);
const strings = new Uint8Array(1 << 17);

/**
 * Counts 1.5 for each list and object of a JSON text, and 0.5 for each comma and colon: about 1 for
 * a member, and 0.5 for a number in a list, but 3 for one with an exponent, which V8 is slow to
 * write again, and 2.5 for a short string that is new. A surrogate with an escape counts 1: V8 is
 * slow to write a lone one. Infinite with a name that V8 does not hash, and compares with all that
 * it knows of this length. Stops above `most`.
 */
export function countParts(text: Buffer, most: number): number {
  let parts = 0;
  for (const beginning of SURROGATES)
    for (let at = text.indexOf(beginning); at >= 0 && parts <= most; parts += 1)
      at = text.indexOf(beginning, at + beginning.length);
  /** Where the last string begins. */
  let from = 0;
  let until = 0;
  /** A hash of the object's names so far, and those of the objects around it. */
  let order = 0;
  const around: number[] = [];
  orders.fill(0);
  strings.fill(0);
  for (let at = 0; at < text.length && parts <= most; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      from = at;
      at = endOfString(text, at + 1);
      until = at;
      if (text[at + 1] !== COLON && isNewString(text, from + 1, at)) parts += PARTS_OF_NEW_STRING;
    } else if (byte === COMMA) {
      parts += 0.5;
    } else if (byte === LIST) {
      parts += 1.5;
    } else if (byte === OBJECT) {
      parts += 1.5;
      around.push(order);
      order = 0;
    } else if ((byte === EXPONENT || byte === SMALL_EXPONENT) && isDigit(text[at - 1])) {
      parts += PARTS_OF_EXPONENT;
    } else if (byte === OBJECT_END) {
      order = around.pop() ?? 0;
    } else if (byte === COLON) {
      if (until - from > LONGEST_HASHED + 1) return Number.POSITIVE_INFINITY;
      if (isDigit(text[from + 1]) || text[from + 1] === BACKSLASH) parts += PARTS_OF_NUMBER_NAME;
      for (; from < until; from += 1) order = hashed(order, text[from]);
      const place = order & 0xffff;
      parts += orders[place] === 1 ? 0.5 : 0.5 + PARTS_OF_NEW_ORDER;
      orders[place] = 1;
    }
  }
  return parts;
}

function hashed(before: number, byte = 0): number {
  const mixed = Math.imul(before ^ byte, MULTIPLIER);
  return mixed ^ (mixed >>> 15);
}

/** Whether a string is short, as far as its bytes show, and the text has had no such before. */
function isNewString(text: Buffer, from: number, end: number): boolean {
  if (end - from > LONGEST_KEPT_IN_BYTES) return false;
  let hash = 0;
  let isShort = end - from <= LONGEST_KEPT;
  for (let at = from; at < end; at += 1) {
    const byte = text[at] ?? 0;
    if (byte === BACKSLASH || byte > 0x7f) isShort = true;
    hash = hashed(hash, byte);
  }
  const place = hash & 0x1ffff;
  if (!isShort || strings[place] === 1) return false;
  strings[place] = 1;
  return true;
}

/** Whether a JSON text has a name that takes V8 too long. */
export function hasLongName(text: Buffer): boolean {
  const most = Number.MAX_VALUE;
  return text.length > LONGEST_HASHED && countParts(text, most) > most;
}

/** Names are short, and escapes can follow each other; beyond, indexOf is faster than a loop. */
const SHORT_STRING = 24;

function endOfString(text: Buffer, from: number): number {
  for (let at = from; ; ) {
    for (const until = at + SHORT_STRING; at < until; at += 1) {
      if (text[at] === QUOTE) return at;
      if (text[at] === BACKSLASH) at += 1;
    }
    const end = text.indexOf(QUOTE, at);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text[end - 1 - slashes] === BACKSLASH && end - 1 - slashes >= at) slashes += 1;
    if (slashes % 2 === 0) return end;
    at = end + 1;
  }
}

/**
 * Returns a function that says why a subgraph's response is not read, or undefined. The responses
 * of one that is built in count alone, not together: what callers may ask of it has a price. Time
 * that was not used is kept for two seconds. `now` counts milliseconds.
 */
export function createReadBudget(isBuiltIn: boolean, now: () => number = () => performance.now()) {
  const most = 2 * PARTS_PER_SECOND;
  let left = most;
  let since = now();
  return (text: Buffer): string | undefined => {
    if (text.length < SMALL_BYTES) return undefined;
    const parts = countParts(text, MAX_PARTS);
    if (parts > MAX_PARTS) return 'too many values';
    const cost = parts + text.length / BYTES_PER_PART;
    if (isBuiltIn || cost < SMALL_PARTS) return undefined;
    const time = now();
    left = Math.min(left + ((time - since) / 1_000) * PARTS_PER_SECOND, most);
    since = time;
    if (left < cost) return 'too many values in a second';
    left -= cost;
    return undefined;
  };
}
