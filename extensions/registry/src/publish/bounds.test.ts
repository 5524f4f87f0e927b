// What a schema may have of names and texts.
import { proseFaults } from './bounds.ts';

const PROSE = 's.graphql: descriptions and deprecation reasons have';

test.each<[string, string, string[]]>([
  [
    '64 KiB and a byte of descriptions',
    `"${'é'.repeat(32_768)}" scalar A type Query { "x" a: Int }`,
    [`${PROSE} 65537 bytes, and may have 65536`],
  ],
  [
    '70,000 bytes of deprecation reasons',
    `enum E { A @deprecated(reason: """${'x'.repeat(70_000)}""") }`,
    [`${PROSE} 70000 bytes, and may have 65536`],
  ],
  [
    'a megabyte of comments',
    `scalar A\n${`#${'x'.repeat(99)}\n`.repeat(10_000)}`,
    ['s.graphql: comments and blanks have 1009988 bytes, and may have 65536'],
  ],
  [
    'a megabyte of blanks and commas',
    `scalar A${' ,\n\t'.repeat(250_000)}`,
    ['s.graphql: comments and blanks have 999987 bytes, and may have 65536'],
  ],
  [
    'a megabyte of blanks in a description',
    `"""\n${' '.repeat(1_000_000)}\n""" scalar A`,
    ['s.graphql: comments and blanks have 999996 bytes, and may have 65536'],
  ],
  [
    'ten thousand fields with deep indentation',
    `type Query {\n${Array.from({ length: 10_000 }, (_, n) => `        f${n}: Int\n\n`).join('')}}`,
    [],
  ],
  [
    'a name of 129 characters',
    `type Query { a(${'x'.repeat(129)}: Int): Int }`,
    ['s.graphql:1:16: a name has 129 characters, and may have 128'],
  ],
  [
    'a description that turns its sentence around',
    '"a \\u202E b" scalar A',
    ['s.graphql:1:1: a text must not contain format characters or line separators'],
  ],
  [
    'a default value with a zero-width space',
    'type Query { a(b: String = "\u200b"): Int }',
    ['s.graphql:1:28: a text must not contain format characters or line separators'],
  ],
  [
    'a reason with a carriage return',
    'enum E { A @deprecated(reason: "a\\rb") }',
    ['s.graphql:1:32: a text must not contain control characters'],
  ],
  [
    'a comment that turns its line around, or sends commands to a terminal',
    'scalar A # a\u202eb\n# \u001b[2J\r\n#\tc\nscalar B #',
    [
      's.graphql:1:10: a comment must not contain format characters or line separators',
      's.graphql:2:1: a comment must not contain control characters',
    ],
  ],
  [
    '64 KiB in lines, joiners, and a name of 128 characters',
    `"${'x'.repeat(65_526)}\\n\\t\u200c\u200d\u00ad" scalar ${'S'.repeat(128)}`,
    [],
  ],
  ['a byte order mark', '\ufeffscalar A', []],
])('%s', (_what, sdl, faults) => {
  expect(proseFaults(sdl, 's.graphql')).toEqual(faults);
});
