// The size of operations, with fragments expanded.
import { parse } from 'graphql';
import { expandedSelections } from './document.ts';

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
