// Codes that members type: eight letters that are hard to misread (RFC 8628, section 6.1).
import { randomInt } from 'node:crypto';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

export function makeCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** The code as it is made, from what was typed: neither case, width nor separators matter. */
export function readCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[^a-z]/gi, '')
    .toUpperCase();
}
