// What everything shares.

import { domainToASCII } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import fc from 'fast-check';
import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import * as z from 'zod';
import { anyText } from '../../test/support/text.ts';
import { createCaches } from './cache/caches.ts';
import { expandedSelections } from './cache/document.ts';
import { canonicalEmail, mailboxOf } from './email.ts';
import { ApiError, ERRORS, type ErrorCode, extensionsOf } from './errors.ts';
import {
  characterFault,
  createParser,
  idText,
  integer,
  isolated,
  optional,
  quoted,
  text,
  visibleName,
  withoutAltering,
} from './input.ts';
import { html, sentence } from './pages/html.ts';
import { createIsValid } from './validity.ts';

// canonicalEmail: which spellings are the same address, and which texts are not an address.

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
  'ada',
  '@',
  'ada@',
  '@example.com',
  'a da@example.com',
  'ada@\u00a0example.com',
  '"ada"@example.com',
  'Ada <ada@example.com>',
  'ada@example.com,eve@example.com',
  'ada(note)@example.com',
  'a:da@example.com',
  '.ada@example.com',
  'a..da@example.com',
  'ada@.com',
  'ada@example.com.',
  'ada@-example.com',
  'ada@exa_mple.com',
  'ada@[127.0.0.1]',
  'ada@127.0.0.1',
  'ada@0x7f.1',
  'ada@\uff11.\uff12',
  'ada@example.com:25',
  'ada@ex%61mple.com',
  'ada@example.com?x',
  'ada@xn--a',
  'ada@\u00ad',
  `ada@${'a'.repeat(64)}.com`,
  'ada\u0000@example.com',
  'ada@example.com\n',
  '\tada@example.com',
  'ada@example.com\r\nbcc: eve@example.com',
  'ada\u0085@example.com',
  'ada\ud800@example.com',
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

test.each([
  ['Ada.O@Example.COM', 'Ada.O@Example.COM'],
  ['Ada@M\u00dcNCHEN.example', 'Ada@m\u00fcnchen.example'],
  ['ada@stra\u1e9ee.example', 'ada@stra\u00dfe.example'],
  ['ada@\u03bf\u03a3-shop.example', 'ada@\u03bf\u03c2-shop.example'],
  ['\u039f\u03a3@example.com', '\u039f\u03a3@example.com'],
  ['JOSE\u0301@example.com', 'JOS\u00c9@example.com'],
  // Letters that are not another case of the ones that they fold to.
  ['je\u017fsica@example.com', 'jessica@example.com'],
  ['\u212aim@example.com', 'Kim@example.com'],
  ['\u03bf\u03c3@example.com', '\u03bf\u03c2@example.com'],
  ['\u00b5@example.com', '\u03bc@example.com'],
  ['STRA\u1e9eE@example.com', 'stra\u00dfe@example.com'],
  ['\u03f4@example.com', '\u03b8@example.com'],
])('the mailbox of %j is %j', (typed, mailbox) => {
  expect(mailboxOf(typed)).toBe(mailbox);
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

// Which errors have a stack, and which say when to try again.

// Cast: the keys of an object that is typed with these keys.
const CODES = Object.keys(ERRORS) as ErrorCode[];

test.each(CODES)('%s has a stack only if it is the service’s own fault', (code) => {
  const limit = Error.stackTraceLimit;
  const { stack } = new ApiError(code, 'as told');
  expect(stack?.startsWith('Error: as told')).toBe(true);
  expect(stack?.includes('runtime.test')).toBe(ERRORS[code].status >= 500);
  expect(Error.stackTraceLimit).toBe(limit);
});

test('errors that pass say in how many seconds, and no others', () => {
  const passing = CODES.filter(
    (code) => 'retryAfter' in extensionsOf(code, 'r', { retryAfter: 7 }),
  );
  expect(passing).toEqual(['RATE_LIMITED', 'SERVICE_UNAVAILABLE']);
  for (const code of passing) {
    expect(extensionsOf(code, 'r')).toEqual({ code, requestId: 'r', retryAfter: 1 });
    expect(extensionsOf(code, 'r', { retryAfter: 60 }).retryAfter).toBe(60);
  }
});

// The faults of parsed input, and the limits of texts and integers.
describe('input', () => {
  const parse = createParser(
    z.strictObject({
      name: text(5),
      points: integer(-10, 2_000),
      note: optional(text(5)),
      tiers: optional(z.array(z.strictObject({ name: text(5) }))),
      status: optional(z.enum(['ACTIVE', 'ENDED'])),
    }),
  );
  const GOOD = { name: 'Gold', points: 1 };

  test('good input is parsed, and what may be left out may be null', () => {
    const value = { name: 'Gold', points: 1 };
    expect(parse({ name: ' Gold ', points: 1 })).toEqual({ value });
    expect(parse({ ...GOOD, note: null, tiers: null, status: null })).toEqual({ value });
    expect(parse({ ...GOOD, status: 'ENDED', tiers: [{ name: 'a' }] })).toEqual({
      value: { ...value, status: 'ENDED', tiers: [{ name: 'a' }] },
    });
  });

  test('every fault is named by its path, in one line, without a value', () => {
    const input = {
      name: null,
      points: '7777',
      note: 7777,
      tiers: [{ name: 'secret' }, 7777, { colour: 'secret' }],
      status: 'secret',
      'no\nte': 7777,
    };
    expect(parse(input)).toEqual({
      fault: [
        'name is missing',
        'points must be an integer from -10 to 2,000',
        'note must be a string',
        'tiers[0].name must have at most 5 characters',
        'tiers[1] must be an object',
        'tiers[2].name is missing',
        'unknown property "colour" in tiers[2]',
        'status must be ACTIVE or ENDED',
        'unknown property "no\\nte"',
      ].join('; '),
    });
  });

  test('of a thousand faults, the first twenty are named', () => {
    const faults = Array.from({ length: 20 }, (_, n) => `tiers[${n}] must be an object`);
    const names = Array.from({ length: 1_000 }, (_, n) => [`n${n}`, 1]);
    const unknown = Array.from({ length: 20 }, (_, n) => `unknown property "n${n}"`);
    for (const [given, shown] of [
      [{ tiers: Array(1_000).fill(7) }, faults],
      [Object.fromEntries(names), unknown],
    ] as const)
      expect(parse({ ...GOOD, ...given })).toEqual({ fault: `${shown.join('; ')} …` });
  });

  test.each([null, undefined, [], 'Gold', 5])('%p is no object', (input) => {
    expect(parse(input)).toEqual({
      fault: input === null || input === undefined ? 'it is missing' : 'it must be an object',
    });
  });

  test.each([
    ['', 'must not be empty'],
    [' \u2003 ', 'must not be empty'],
    ['123456', 'must have at most 5 characters'],
    ['\u{1f600}'.repeat(6), 'must have at most 5 characters'],
    ['a\u0000', 'must not contain control characters'],
    ['a\u0085', 'must not contain control characters'],
    ['Gold\n', 'must not contain control characters'],
    ['\ud83d', 'must not contain lone surrogates'],
    [5, 'must be a string'],
  ])('the text %j %s', (name, fault) => {
    expect(parse({ ...GOOD, name })).toEqual({ fault: `name ${fault}` });
  });

  test('a text is as long as its characters, once it is trimmed', () => {
    const name = '\u{1f600}'.repeat(5);
    expect(parse({ ...GOOD, name: `  ${name} ` })).toEqual({ value: { ...GOOD, name } });
  });

  test.each([-11, 2_001, 0.5, 1e300, Number.NaN, '1', true, [1], {}])(
    '%p is no integer within the limits',
    (points) => {
      expect(parse({ ...GOOD, points })).toEqual({
        fault: 'points must be an integer from -10 to 2,000',
      });
    },
  );

  test('both limits are integers within the limits, and -0 becomes 0', () => {
    for (const points of [-10, 2_000]) expect(parse({ ...GOOD, points })).toHaveProperty('value');
    expect(parse({ ...GOOD, points: -0 })).toEqual({ value: { ...GOOD, points: 0 } });
  });

  test('names of prototypes are unknown properties like any other', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const input = JSON.parse(`{"${name}":{"note":"secret"},${JSON.stringify(GOOD).slice(1)}`);
      expect(parse(input)).toEqual({ fault: `unknown property "${name}"` });
    }
  });

  test('a quoted name is short, in one line, and without control characters', () => {
    fc.assert(
      fc.property(anyText(), (name) => {
        expect(quoted(name)).toMatch(/^"\P{C}*"$/u);
      }),
    );
    expect(quoted('x'.repeat(41))).toBe(`"${'x'.repeat(40)}…"`);
    expect(quoted('\u009b31m')).toBe('"?31m"');
  });

  const LINES = 'format characters or line separators';
  const ALTERING = [0x202e, 0x200b, 0x200e, 0x2066, 0x2069, 0xfeff, 0x2028, 0x2029, 0xe0041, 0x61c];

  test('a name may have joiners and soft hyphens, and nothing that alters the text around it', () => {
    const fault = { fault: `it must not contain ${LINES}` };
    for (const code of ALTERING) {
      const name = `A${String.fromCodePoint(code)}da`;
      expect(createParser(text(9))(name)).toEqual(fault);
      expect(createParser(idText(9))(name)).toEqual({ value: name });
      expect(characterFault(name, true)).toBe(LINES);
      expect(withoutAltering(`${name}\0\ud800`)).toBe('Ada');
    }
    expect(createParser(text(9))('\u2028Ada')).toEqual(fault);
    for (const name of [
      'Na\u200cme',
      'Na\u200dme',
      'Na\u00adme',
      '\u{1f469}\u200d\u{1f680}',
      'שלום',
    ])
      expect([createParser(text(9))(name), withoutAltering(name)]).toEqual([{ value: name }, name]);
  });

  const UNSEEN = [
    0x34f, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180f, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xffa0,
  ];

  test('a name has no characters that nobody sees, which an ID and a description may have', () => {
    const fault = { fault: 'it must not contain invisible characters' };
    for (const code of [...UNSEEN, 0xe0100, 0xe0fff]) {
      const unseen = String.fromCodePoint(code);
      for (const name of [unseen, `Ada${unseen}`, `A${unseen}da`, `2${unseen}0`]) {
        expect(createParser(text(9))(name)).toEqual(fault);
        expect(createParser(idText(9))(name)).toEqual({ value: name });
        expect(characterFault(name, true)).toBeUndefined();
        expect(visibleName(name)).toBe(name.replace(unseen, ''));
      }
    }
    expect(createParser(text(9))('\u00ad \u200d')).toEqual({
      fault: 'it must not contain only invisible characters',
    });
  });

  test('a name of any script is as it was, decomposed or not, and so are emoji', () => {
    const names = [
      ...['Nguy\u1ec5n Th\u1ecb \u1ed4i', 'Zo\u00eb', 'Jose\u0301', '\u017d\u030c'],
      // Hebrew with points and accents, Arabic with vowels, Thai, Devanagari, Tibetan, Burmese.
      '\u05e9\u05bc\u05c1\u05b8\u05bd\u05dc\u05d5\u05b9\u05dd',
      '\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u0670\u062f',
      ...['\u0e17\u0e35\u0e48\u0e23\u0e31\u0e01', '\u0936\u094d\u0930\u0940\u092e\u0924\u0940'],
      ...['\u0f56\u0f66\u0f92\u0fb2\u0f74\u0f56', '\u1019\u103b\u103e\u1031\u102c\u103a'],
      // A variant of a Japanese name, and emoji of several characters.
      ...['\u8fbb\u{e0100}', '\u{1f44b}\u{1f3fd}', '\u2764\ufe0f\u200d\u{1f525}', '1\ufe0f\u20e3'],
    ];
    for (const name of names.flatMap((name) => [name, name.normalize('NFD')]))
      expect([createParser(text(30))(name), visibleName(name)]).toEqual([{ value: name }, name]);
  });

  test('a character has at most four marks, with joiners between them too', () => {
    const [stack, more] = ['\u0301\u0302\u0328\u20dd', '\u0489\u0300'];
    expect(createParser(text(10))(`Z${stack}a${stack}`)).toHaveProperty('value');
    for (const name of [`Z${stack}${more}a`, `Z${stack}\u200d${more}a`, `${stack}${more}`]) {
      const fault = 'it must not contain more than 4 marks on a character';
      expect(createParser(text(99))(name)).toEqual({ fault });
    }
    expect(visibleName(`Z${stack}${more}a`)).toBe(`Z${stack}a`);
    expect(createParser(text(9))('\u0301'.repeat(1_000_000))).toHaveProperty('fault');
  });

  test('a description may have line feeds and tabs too, and no other control character', () => {
    expect(characterFault('a\n\tb', true)).toBeUndefined();
    for (const [lines, allowed] of [
      ['a\nb', false],
      ['a\rb', true],
      ['a\0b', true],
    ] as const)
      expect(characterFault(lines, allowed)).toBe('control characters');
  });
});

// A document is valid if graphql-js finds nothing wrong with it.

const schema = buildSchema(`
  directive @once on FIELD
  type Query { a(n: Int!, list: [In!]): A b: U }
  type A { x: Int! inner: A }
  type B { y: E }
  union U = A | B
  enum E { ONE TWO }
  input In { n: Int! e: E = ONE }`);

test.each([
  'query($n: Int!) { a(n: $n) { x } }',
  '{ a(n: "text") { x { y } z } b }',
  'query($n: Int, $n: Int!, $unused: A) { a(n: $n, m: $missing) { ...F ...G } }',
  'fragment F on A { inner { ...F } } fragment F on E { x } { b { ...F ... on Query { __typename } } }',
  '{ a(n: 1, list: [{ n: 1, n: 2, m: 3 }, { e: THREE }, null]) { x @once @once @skip } }',
  '{ a(n: 1) { x } a(n: 2) { x } } { __typename } query Q { __typename } query Q { b { __typename } }',
  'type Query { a: Int } extend type A { z: Int } subscription { a b }',
  '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
])('valid if graphql-js finds no error: %s', (text) => {
  const document = parse(text);
  const errors = validate(schema, document, specifiedRules);
  expect(createIsValid(specifiedRules)(schema, document)).toBe(errors.length === 0);
});

// Caches.
describe('cache', () => {
  // The caches of a process share one bound on their bytes.

  const weigh = (text: string) => text.length;
  const text = (length: number) => 'x'.repeat(length);

  test('by default, all caches together keep at most a quarter of the heap', () => {
    const caches = createCaches();
    const opened = [caches.open(() => 1024 * 1024), caches.open(() => 2 * 1024 * 1024)];
    for (let index = 0; index < 3_000; index += 1)
      for (const cache of opened) cache.set(`key ${index}`, 'value');
    expect(caches.bytes()).toBeLessThanOrEqual(getHeapStatistics().heap_size_limit / 4);
    expect(opened.map((cache) => cache.get('key 2999'))).toEqual(['value', 'value']);
  });

  test('the heaviest cache gives way, and in it what was not used for the longest time', () => {
    const caches = createCaches(100_000);
    const [light, heavy] = [caches.open(weigh), caches.open(weigh)];
    light.set('small', 'value');
    for (let index = 0; index < 8; index += 1) heavy.set(`large ${index}`, text(10_000));
    expect(heavy.get('large 0')).toBeDefined();
    for (let index = 8; index < 12; index += 1) heavy.set(`large ${index}`, text(10_000));
    expect(light.peek('small')).toBe('value');
    expect(heavy.peek('large 0')).toBeDefined();
    expect(heavy.peek('large 1')).toBeUndefined();
    expect(caches.bytes()).toBeLessThanOrEqual(100_000);
  });

  test('a value that alone is too large is not kept', () => {
    const caches = createCaches(100_000);
    const cache = caches.open(weigh);
    cache.set('small', text(10));
    cache.set('large', text(50_000));
    expect([cache.get('small'), cache.get('large')]).toEqual([text(10), undefined]);
  });

  test('a value that has grown is weighed again', () => {
    const caches = createCaches(100_000);
    const cache = caches.open<{ bytes: number }>(({ bytes }) => bytes);
    const value = { bytes: 10 };
    cache.set('key', value);
    const before = caches.bytes();
    value.bytes = 5_010;
    cache.weighAgain('key');
    expect(caches.bytes() - before).toBe(5_000);
    expect(cache.get('key')).toBe(value);
  });

  test('what is reserved is not available to caches', () => {
    const caches = createCaches(100_000);
    const cache = caches.open(weigh);
    cache.set('first', text(10_000));
    cache.set('second', text(10_000));
    caches.reserve(85_000);
    expect([cache.get('first'), cache.get('second')]).toEqual([undefined, text(10_000)]);
  });

  test('a cache that is closed gives its bytes back and takes no more', () => {
    const caches = createCaches(100_000);
    const [closed, open] = [caches.open(weigh), caches.open(weigh)];
    for (const cache of [closed, open]) cache.set('first', text(1_000));
    const both = caches.bytes();
    closed.close();
    expect(caches.bytes()).toBe(both / 2);
    // What was under way when it was closed ends after that.
    closed.set('late', text(1_000));
    expect([closed.get('first'), closed.get('late')]).toEqual([undefined, undefined]);
    expect(caches.bytes()).toBe(both / 2);
    expect(open.get('first')).toBe(text(1_000));
  });

  // The size of operations, with fragments expanded.

  test.each([
    ['no fragment', '{ a { b c } d }', 4],
    [
      'a fragment that is spread three times',
      '{ a { ...F } b { ...F } c { ...F } } fragment F on T { x y }',
      12,
    ],
    ['an inline fragment', '{ a { ... on T { x } } }', 3],
    ['a fragment that is not spread', '{ a } fragment F on T { x y }', 1],
    ['two operations', 'query A { a } query B { ...F } fragment F on T { x y }', 4],
    ['a fragment that contains itself', '{ ...F } fragment F on T { x ...F }', 3],
    [
      'fragments that double at each step',
      `{ ...F0 } ${Array.from({ length: 30 }, (_, n) => `fragment F${n} on T { ...F${n + 1} ...F${n + 1} }`).join(' ')} fragment F30 on T { x }`,
      1 + 2 * (2 ** 30 - 1) + 2 ** 30,
    ],
  ])('%s', (_, query, size) => {
    expect(expandedSelections(parse(query))).toBe(size);
  });
});

// What a page makes of names that would alter the text around them.

test('a stored name is shown without what alters the text around it', () => {
  expect(html`<p>${'<A\u202eb\u200bc\nd\u2028e\u00adf>'}</p>`.html).toBe(
    '<p>&lt;Abc\nde\u00adf&gt;</p>',
  );
});

test('a name in a sentence is isolated, escaped, and ends where it ends', () => {
  const name = 'Inn\u2069 & \u2068Sons\u202e';
  expect(sentence(`${isolated(name)} belongs to ${isolated('B')}.`).html).toBe(
    '<bdi>Inn &amp; Sons</bdi> belongs to <bdi>B</bdi>.',
  );
});
