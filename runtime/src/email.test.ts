// canonicalEmail: which spellings are the same address, and which texts are not an address.
import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { anyText } from '../../test/support/text.ts';
import { canonicalEmail, formerEmail } from './email.ts';

test.each([
  ['Ada@Example.COM', 'ada@example.com'],
  ['  ada@example.com  ', 'ada@example.com'],
  ['\u00a0ada@example.com\u3000', 'ada@example.com'],
  ['A.da+Tag@example.com', 'a.da+tag@example.com'],
  ['jose\u0301@example.com', 'jos\u00e9@example.com'],
  ['JOS\u00c9@example.com', 'jos\u00e9@example.com'],
  ['ada@M\u00dcNCHEN.de', 'ada@xn--mnchen-3ya.de'],
  ['ada@XN--MNCHEN-3YA.de', 'ada@xn--mnchen-3ya.de'],
  ['ada@fa\u00df.de', 'ada@xn--fa-hia.de'],
  ['ada@example\u3002com', 'ada@example.com'],
  ['\u5f20\u4e09@\u4f8b\u3048.jp', '\u5f20\u4e09@xn--r8jz45g.jp'],
  ["o'brien!#$%&*/=?^_`{|}~-@example.com", "o'brien!#$%&*/=?^_`{|}~-@example.com"],
  ['ada@localhost', 'ada@localhost'],
  ['ada@4chan.3com.com', 'ada@4chan.3com.com'],
])('the canonical form of %j is %j', (typed, canonical) => {
  expect(canonicalEmail(typed)).toBe(canonical);
});

test.each([
  '',
  '   ',
  'ada',
  '@',
  'ada@',
  '@example.com',
  'ada@@example.com',
  'ada@home@example.com',
  'a da@example.com',
  'ada@exam ple.com',
  'ada @example.com',
  'ada@\u00a0example.com',
  '"ada"@example.com',
  '"a@b"@example.com',
  'Ada <ada@example.com>',
  'ada@example.com,eve@example.com',
  'ada@example.com;eve@example.com',
  'ada(note)@example.com',
  'a:da@example.com',
  'a\\da@example.com',
  'mailto:ada@example.com',
  '.ada@example.com',
  'ada.@example.com',
  'a..da@example.com',
  'ada@.com',
  'ada@example..com',
  'ada@example.com.',
  'ada@-example.com',
  'ada@example-.com',
  'ada@exa_mple.com',
  'ada@[127.0.0.1]',
  'ada@127.0.0.1',
  'ada@1.2',
  'ada@0x7f.1',
  'ada@example.0x1',
  'ada@\uff11.\uff12',
  'ada@[::1]',
  'ada@example.com:25',
  'ada@example.com/x',
  'ada@ex%61mple.com',
  'ada@example.com?x',
  'ada@example.com#x',
  'ada@ex\uff05ample.com',
  'ada@xn--a',
  'ada@\u00ad',
  `ada@${'a'.repeat(64)}.com`,
  'ada\u0000@example.com',
  'ada@example.com\u0000',
  'ada@example.com\n',
  '\tada@example.com',
  'ada@example.com\r\nbcc: eve@example.com',
  'ada\u0085@example.com',
  'ada\u007f@example.com',
  'ada\ud800@example.com',
  'ada@\udc00example.com',
  'ada\u200b@example.com',
  '\u202eada@example.com',
  'ada\u2028@example.com',
])('%j is not an address', (typed) => {
  expect(canonicalEmail(typed)).toBeUndefined();
});

test('an address has at most 254 characters, as typed and in canonical form', () => {
  const long = `${'a'.repeat(242)}@example.com`;
  expect(long).toHaveLength(254);
  expect(canonicalEmail(`  ${long}  `)).toBe(long);
  expect(canonicalEmail(`a${long}`)).toBeUndefined();
  expect(canonicalEmail(`${'\u{1f600}'.repeat(242)}@example.com`)).toBe(
    `${'\u{1f600}'.repeat(242)}@example.com`,
  );
  expect(canonicalEmail('a'.repeat(10_000_000))).toBeUndefined();
});

test('an ASCII domain is what the URL standard makes of it', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^(?:xn--)?[abxn0-9.-]{1,20}$/), (domain) => {
      const canonical = canonicalEmail(`ada@${domain}`);
      if (canonical !== undefined) expect(canonical).toBe(`ada@${domainToASCII(domain)}`);
    }),
    { numRuns: 3_000 },
  );
});

const label = fc.stringMatching(/^[a-z0-9\u00e0-\u00f6\u4e00-\u4e20]{1,12}$/);
const address = fc
  .tuple(fc.stringMatching(/^[a-z0-9+_\u00e0-\u00f6-]{1,20}$/), label, label)
  .map(([local, host, top]) => `${local}@${host}.${top}x`);

const cased = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((one) => /^[\p{Changes_When_Casefolded}\p{Changes_When_Casemapped}]$/u.test(one));

// The engine's `iu` is simple case folding: ECMA-262, Canonicalize.
test('two letters are the same if and only if simple case folding says so', () => {
  const letters = [...new Set(cased.map((one) => one.normalize('NFC')))];
  const all = letters.join('\n');
  const classes = new Map<string | undefined, string[]>();
  for (const one of letters) {
    const canonical = canonicalEmail(`${one}@example.com`);
    classes.set(canonical, [...(classes.get(canonical) ?? []), one]);
  }
  for (const alike of classes.values())
    expect(all.match(new RegExp(`^${alike[0]}$`, 'gimu'))).toEqual(alike);
});

test.each([
  [
    '\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3',
    '\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2',
    true,
  ],
  ['\u039d\u038a\u039a\u039f\u03a3.\u03a0', '\u03bd\u03af\u03ba\u03bf\u03c2.\u03c0', true],
  ['\u03bf\u03c2', '\u03bf\u03c3', true],
  ['stra\u1e9ee', 'stra\u00dfe', true],
  ['stra\u00dfe', 'strasse', false],
  ['\u0131', 'i', false],
  ['\u0130', 'i\u0307', false],
])('%s and %s are the same person: %s', (one, other, isSame) => {
  const [first, second] = [one, other].map((local) => canonicalEmail(`${local}@example.com`));
  expect(first === second).toBe(isSame);
});

test('an address that is stored keeps its key where folding made another of it', () => {
  const lowered = (local: string) => `${local.toLowerCase().normalize('NFC')}@example.com`;
  const words = [
    '\u039f\u03a3',
    '\u03bf\u03c2',
    '\u0391\u0384',
    '\u13a0',
    'Jos\u00e9',
    'STRA\u00dfE',
    'ADA',
  ];
  for (const local of words) {
    expect(canonicalEmail(`${local}@example.com`)).toBe(lowered(local));
    expect(formerEmail(`${local}@example.com`)).toBeUndefined();
  }
  for (const local of ['\u039f\u03a3.\u0391', '\u03bf\u03c3', '\u00b5', '\u017fa'])
    expect(formerEmail(`${local}@example.com`)).toBe(lowered(local));
});

test('a canonical form is its own canonical form', () => {
  const anything = fc.oneof(
    anyText(),
    fc.tuple(anyText(), anyText()).map((parts) => parts.join('@')),
    fc
      .tuple(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
      )
      .map((parts) => parts.join('@')),
    address,
  );
  fc.assert(
    fc.property(anything, (typed) => {
      const canonical = canonicalEmail(typed);
      if (canonical === undefined) return;
      expect(canonicalEmail(canonical)).toBe(canonical);
      expect(canonical).toMatch(/^[^@\s]+@[a-z0-9.-]+$/);
    }),
    { numRuns: 3_000 },
  );
});

// The fast path for ASCII is only for text without spaces.
test('an ASCII address has the same canonical form with a space before it', () => {
  const characters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
  for (const one of characters)
    for (const typed of [`a${one}b@example.com`, `ada@a${one}b.com`, `${one}@${one}`])
      expect(canonicalEmail(` ${typed}`)).toBe(canonicalEmail(typed));
  for (const length of [253, 254, 255]) {
    const typed = `${'A'.repeat(length - '@example.com'.length)}@example.com`;
    expect(canonicalEmail(` ${typed}`)).toBe(canonicalEmail(typed));
    expect(canonicalEmail(typed)).toBe(length > 254 ? undefined : typed.toLowerCase());
  }
});

test('case, surrounding spaces and the normalization form do not change the address', () => {
  fc.assert(
    fc.property(
      address,
      fc.constantFrom('', ' ', '  ', '\u00a0'),
      fc.boolean(),
      fc.constantFrom('NFC', 'NFD'),
      (typed, space, upper, form) => {
        const spelt = `${space}${(upper ? typed.toUpperCase() : typed).normalize(form)}${space}`;
        expect(canonicalEmail(spelt)).toBe(canonicalEmail(typed));
      },
    ),
  );
});
