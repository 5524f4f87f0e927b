// The format of partner keys (docs/contract.md, Keys): creating, parsing and hashing them.
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '@partner-loyalty/runtime';
import type { KeyRecord } from './keystore.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIXES = { sandbox: 'pk_test_', production: 'pk_live_' } as const satisfies Record<
  Environment,
  string
>;
const FORMAT = /^pk_(test|live)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

/** A new random key: the environment's prefix, 30 random base62 characters and their checksum. */
export function newKey(environment: Environment): string {
  const random = randomBase62(30);
  return PREFIXES[environment] + random + checksum(random);
}

/**
 * The environment of a well-formed key; undefined if the format or the checksum is wrong. Whether
 * the key exists is for the store to say.
 */
export function parseKey(text: string): { environment: Environment } | undefined {
  const [, kind, random, sum] = FORMAT.exec(text) ?? [];
  if (random === undefined || checksum(random) !== sum) return undefined;
  return { environment: kind === 'test' ? 'sandbox' : 'production' };
}

/**
 * The SHA-256 of a key in hexadecimal, which is all that is ever stored of it. A key has 178 random
 * bits, so it needs no salt.
 */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/** What limits the use of a key. */
export type KeyLimits = Pick<KeyRecord, 'expiresAt' | 'scopes' | 'allow'>;

/** Creates a key for a partner: the text, to be shown once, and the record to store. */
export function issueKey(
  environment: Environment,
  partnerId: string,
  createdAt: Date,
  limits: KeyLimits = {},
): { key: string; record: KeyRecord } {
  const key = newKey(environment);
  const keyId = `key_${randomBase62(16)}`;
  return { key, record: { keyId, partnerId, hash: hashKey(key), createdAt, ...limits } };
}

/** The CRC32 of the characters as 6 base62 digits, most significant first, padded with zeros. */
function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(62))).join('');
}
