// The format of keys (docs/callers/keys.md): creating, parsing and hashing them.
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { DEFAULT_SCOPES, type KeyScope } from '../schema/scopes.ts';
import type { KeyEndpoint, KeyRecord } from './keystore.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const PREFIXES = { graphql: 'pk', mcp: 'mk' } as const satisfies Record<KeyEndpoint, string>;
const KINDS = { sandbox: 'test', production: 'live' } as const satisfies Record<
  Environment,
  string
>;
const FORMATS = {
  graphql: /^pk_(test|live)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/,
  mcp: /^mk_(test|live)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/,
} as const satisfies Record<KeyEndpoint, RegExp>;

/** The scopes of a key that is created without any: an assistant only reads. */
export function defaultScopes(endpoint: KeyEndpoint): readonly KeyScope[] {
  return endpoint === 'mcp' ? ['read'] : DEFAULT_SCOPES;
}

/** What the keys of an endpoint and environment begin with. */
export function keyPrefix(environment: Environment, endpoint: KeyEndpoint = 'graphql'): string {
  return `${PREFIXES[endpoint]}_${KINDS[environment]}_`;
}

/**
 * A new random key: the prefix of its endpoint and environment, 30 random base62 characters and
 * their checksum.
 */
export function newKey(environment: Environment, endpoint: KeyEndpoint = 'graphql'): string {
  const random = randomBase62(30);
  return `${keyPrefix(environment, endpoint)}${random}${checksum(random)}`;
}

/**
 * The environment of a well-formed key for the endpoint; undefined if the format or the checksum is
 * wrong. Whether the key exists is for the store to say.
 */
export function parseKey(
  text: string,
  endpoint: KeyEndpoint = 'graphql',
): { environment: Environment } | undefined {
  const [, kind, random, sum] = FORMATS[endpoint].exec(text) ?? [];
  if (random === undefined || checksum(random) !== sum) return undefined;
  return { environment: kind === 'test' ? 'sandbox' : 'production' };
}

/**
 * The SHA-256 of a key in hexadecimal. Beside it, only the last four characters are stored, which
 * are of the checksum: of 178 random bits they leave 154, so the hash needs no salt.
 */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex');
}

export type KeyLimits = Pick<KeyRecord, 'name' | 'expiresAt' | 'scopes' | 'allow' | 'endpoint'>;

/** Creates a key for a partner: the text, to be shown once, and the record to store. */
export function issueKey(
  environment: Environment,
  partnerId: string,
  createdAt: Date,
  limits: KeyLimits = {},
): { key: string; record: KeyRecord } {
  const key = newKey(environment, limits.endpoint);
  const keyId = `key_${randomBase62(16)}`;
  const stored = { hash: hashKey(key), lastFour: key.slice(-4) };
  return { key, record: { keyId, partnerId, ...stored, createdAt, ...limits } };
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
