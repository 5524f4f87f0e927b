// A caller arrives unchanged, in a header of ASCII and in JSON.
import fc from 'fast-check';
import { parseDictionary } from 'structured-headers';
import { anyText } from '../../../test/support/text.ts';
import { decodeCaller, decodeJsonCaller, encodeCaller, jsonCallerOf } from './caller.ts';
import type { Caller } from './types.ts';

const id = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), anyText());
const caller: fc.Arbitrary<Caller> = fc.oneof(
  fc.record({ kind: fc.constant('partner' as const), partnerId: id }),
  fc.record(
    { kind: fc.constant('member' as const), memberId: id, partnerId: id, scopes: id },
    { requiredKeys: ['kind', 'memberId'] },
  ),
  fc.constant<Caller>({ kind: 'service' }),
);

test.each<[Caller, string]>([
  [{ kind: 'partner', partnerId: 'acme' }, 'kind=partner, partner="acme"'],
  [{ kind: 'member', memberId: 'm1' }, 'kind=member, member="m1"'],
  [
    { kind: 'member', memberId: 'm1', partnerId: 'acme' },
    'kind=member, member="m1", partner="acme"',
  ],
  [
    { kind: 'member', memberId: 'm1', partnerId: 'acme', scopes: 'openid email' },
    'kind=member, member="m1", partner="acme", scopes="openid email"',
  ],
  [{ kind: 'service' }, 'kind=service'],
  [{ kind: 'partner', partnerId: 'a"b\\c' }, 'kind=partner, partner="a\\"b\\\\c"'],
  [{ kind: 'member', memberId: 'mü%"' }, 'kind=member, member=%"m%c3%bc%25%22"'],
])('%j is %s', (given, text) => {
  expect(encodeCaller(given)).toBe(text);
  expect(decodeCaller(text)).toEqual(given);
});

test('every caller arrives unchanged, and a library reads the same from the header', () => {
  fc.assert(
    fc.property(caller, (given) => {
      const text = encodeCaller(given);
      expect(text).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeCaller(text)).toEqual(given);
      expect(textsIn(text)).toEqual(Object.values(given));
      expect(decodeJsonCaller(JSON.parse(JSON.stringify(jsonCallerOf(given))))).toEqual(given);
    }),
  );
});

test('an ID with a lone surrogate has no header', () => {
  expect(() => encodeCaller({ kind: 'partner', partnerId: 'a\ud800' })).toThrow('lone surrogate');
});

/** What a library reads in a header. */
function textsIn(text: string): string[] {
  return [...parseDictionary(text).values()].map(([value]) => String(value));
}

test.each([
  '',
  'kind',
  'kind=batch',
  'kind=admin',
  'kind="partner", partner="acme"',
  'kind=partner',
  'kind=partner, partner',
  'kind=partner, partner=acme',
  'kind=partner, partner=1',
  'kind=partner, partner=("acme")',
  'kind=partner, partner="acme";a',
  'kind=partner, partner="acme", member="m1"',
  'kind=partner, partner="acme", role="admin"',
  'kind=partner, partner="acme',
  'kind=partner, partner="ü"',
  'kind=partner, partner=%"%ff"',
  'kind=member, partner="acme"',
  'kind=member, member=m1',
  'kind=service, partner="acme"',
  'kind=service, member="m1"',
])('no caller is %s', (text) => {
  expect(decodeCaller(text)).toBeUndefined();
});

test.each([
  undefined,
  'partner',
  [],
  {},
  { kind: 'admin' },
  { kind: 'batch' },
  { kind: 'partner' },
  { kind: 'partner', partner: 1 },
  { kind: 'partner', partner: 'acme', member: 'm1' },
  { kind: 'partner', partner: 'acme', partnerId: 'acme' },
  { kind: 'member', partner: 'acme' },
  { kind: 'member', member: 'm1', partner: null },
  { kind: 'service', partner: 'acme' },
])('no caller is the extension %j', (value) => {
  expect(decodeJsonCaller(value)).toBeUndefined();
});
