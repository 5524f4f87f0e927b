// Finds responses that would hold the event loop for too long, before they are parsed.
import { randomInt } from 'node:crypto';

/** What takes up to 50 ms to parse and to shape. A megabyte of ordinary data has up to 120,000. */
const MAX_PARTS = 150_000;
/** An object whose members come in an order that is new costs V8 as much as so many more. */
const PARTS_OF_NEW_ORDER = 24;
/** Its shortest member is `"":0,`. */
const MIN_BYTES = (MAX_PARTS / (1 + PARTS_OF_NEW_ORDER)) * 5;

const [QUOTE, BACKSLASH, LIST, OBJECT, OBJECT_END, COLON] = Buffer.from('"\\[{}:');
/** Odd, and known to nobody who could find names with equal hashes. */
const MULTIPLIER = randomInt(2 ** 31) * 2 + 1;

/** Whether a JSON text has more lists, objects and members than are read. */
export function isDense(text: Buffer): boolean {
  if (text.length < MIN_BYTES) return false;
  let parts = 0;
  /** Where the last string begins. */
  let from = 0;
  let until = 0;
  /** A hash of the object's names so far, and those of the objects around it. */
  let order = 0;
  const around: number[] = [];
  const orders = new Uint8Array(1 << 16);
  for (let at = 0; at < text.length && parts <= MAX_PARTS; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      from = at;
      for (at += 1; at < text.length && text[at] !== QUOTE; at += 1)
        if (text[at] === BACKSLASH) at += 1;
      until = at;
    } else if (byte === LIST) {
      parts += 1;
    } else if (byte === OBJECT) {
      parts += 1;
      around.push(order);
      order = 0;
    } else if (byte === OBJECT_END) {
      order = around.pop() ?? 0;
    } else if (byte === COLON) {
      for (; from < until; from += 1) {
        order = Math.imul(order ^ (text[from] ?? 0), MULTIPLIER);
        order ^= order >>> 15;
      }
      const place = order & 0xffff;
      parts += orders[place] === 1 ? 1 : 1 + PARTS_OF_NEW_ORDER;
      orders[place] = 1;
    }
  }
  return parts > MAX_PARTS;
}
