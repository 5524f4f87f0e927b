// The faults of parsed input, and the limits of texts and integers.
import fc from 'fast-check';
import * as z from 'zod';
import { anyText } from '../../test/support/text.ts';
import {
  characterFault,
  createParser,
  idText,
  integer,
  omitUndefined,
  optional,
  quoted,
  text,
  visibleName,
  withoutAltering,
} from './input.ts';

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

test('the whole input may have a name', () => {
  expect(createParser(text(5), '--name')('')).toEqual({ fault: '--name must not be empty' });
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

test('undefined properties are omitted, and no others', () => {
  expect(Object.entries(omitUndefined({ a: 0, b: undefined, c: null, d: '' }))).toEqual([
    ['a', 0],
    ['c', null],
    ['d', ''],
  ]);
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
  for (const name of ['Na\u200cme', 'Na\u200dme', 'Na\u00adme', '\u{1f469}\u200d\u{1f680}', 'שלום'])
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
