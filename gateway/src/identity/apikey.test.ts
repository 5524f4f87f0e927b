// The format of keys.
import fc from 'fast-check';
import { anyText } from '../../../test/support/text.ts';
import { hashKey, issueKey, newKey, parseKey } from './apikey.ts';

const environment = fc.constantFrom('sandbox' as const, 'production' as const);

test('a new key has the prefix of its environment and parses as that environment', () => {
  fc.assert(
    fc.property(environment, (env) => {
      const key = newKey(env);
      expect(key).toMatch(
        env === 'sandbox' ? /^pk_test_[0-9A-Za-z]{36}$/ : /^pk_live_[0-9A-Za-z]{36}$/,
      );
      expect(parseKey(key)).toEqual({ environment: env });
    }),
  );
});

test('a key for one endpoint is malformed at the other', () => {
  fc.assert(
    fc.property(environment, (env) => {
      const [forGraphql, forMcp] = [newKey(env), newKey(env, 'mcp')];
      expect(forMcp).toMatch(
        env === 'sandbox' ? /^mk_test_[0-9A-Za-z]{36}$/ : /^mk_live_[0-9A-Za-z]{36}$/,
      );
      expect(parseKey(forMcp, 'mcp')).toEqual({ environment: env });
      expect([parseKey(forMcp), parseKey(forGraphql, 'mcp')]).toEqual([undefined, undefined]);
    }),
  );
});

test('the checksum is the CRC32 of the 30 characters, in base62 with leading zeros', () => {
  // Computed apart from this code, with Python's zlib: 0xf0c344af and 0x000204fd.
  expect(parseKey('pk_test_0123456789ABCDEFGHIJKLMNOPQRST4PMbyp')).toEqual({
    environment: 'sandbox',
  });
  expect(parseKey('pk_test_000000000000000000000000037127000YQf')).toEqual({
    environment: 'sandbox',
  });
  expect(parseKey('pk_test_0123456789ABCDEFGHIJKLMNOPQRST4PMbyq')).toBeUndefined();
});

test('a key with one changed character is malformed', () => {
  const other = fc.constantFrom(
    ...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_- é',
  );
  fc.assert(
    fc.property(environment, fc.nat(43), other, (env, at, character) => {
      const key = newKey(env);
      const changed = key.slice(0, at) + character + key.slice(at + 1);
      fc.pre(changed !== key);
      expect(parseKey(changed)).toBeUndefined();
    }),
  );
});

test('malformed: other lengths, white space, two keys joined, any other string', () => {
  const key = newKey('sandbox');
  for (const text of [
    '',
    'pk_test_',
    key.slice(1),
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    `${key}, ${key}`,
    key.toUpperCase(),
  ]) {
    expect(parseKey(text)).toBeUndefined();
  }
  fc.assert(fc.property(anyText({ maxLength: 100 }), (text) => parseKey(text) === undefined));
});

test('the checksum does not cover the prefix, which alone names the environment', () => {
  const key = newKey('sandbox');
  expect(parseKey(key.replace('pk_test_', 'pk_live_'))).toEqual({ environment: 'production' });
});

test('the record of an issued key contains the hash and not the key', () => {
  const at = new Date('2026-01-02T03:04:05Z');
  const { key, record } = issueKey('production', 'hotel', at);
  expect(parseKey(key)).toEqual({ environment: 'production' });
  expect(record).toEqual({
    keyId: expect.stringMatching(/^key_[0-9A-Za-z]{16}$/),
    partnerId: 'hotel',
    hash: hashKey(key),
    createdAt: at,
  });
  expect(JSON.stringify(record)).not.toContain(key.slice(8));
  const limits = { expiresAt: at, scopes: ['read' as const], allow: ['10.0.0.0/8'] };
  expect(issueKey('production', 'hotel', at, limits).record).toMatchObject(limits);
});
