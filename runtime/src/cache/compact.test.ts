// Documents are printed as graphql-js prints them, without ignored characters.
import { getIntrospectionQuery, parse, print, stripIgnoredCharacters } from 'graphql';
import { compactText } from './compact.ts';

test.each([
  '{ a }',
  'query { a }',
  'query Q { a ...F ... { b } ... on T @include(if: true) { c } }',
  'query @d { a } mutation M($a: [In!]! = [{ n: 1, m: -1.5e3 }, {}, []] @d, $b: Int) { b: c }',
  'subscription S($a: T = "x") { a(n: $a, m: $a) @skip(if: $a) @include(if: false) }',
  'fragment F on T @d(a: null, b: ENUM, c: [1 2.5 "x" true]) { ...F a ...F @d ... @d { a } }',
  '{ a(s: "a \\"quoted\\" text\\n\\u0001 é", t: """\n  a block\n    of text \\""" \n""", u: "", v: """""") }',
  '{ a(n: 1, o: { p: { q: [[]] } }) b: b __typename a: a { a { a } } }',
  'query ($x: Int = 1 @d) { a(n: 1) ...F b(n: -0) { ...F } c(l: [$x $y 1 A]) }',
  `${'#'.repeat(9)}\n,,{,a(${'argument: 12345, '.repeat(20)}),}`,
  getIntrospectionQuery({ oneOf: true, directiveIsRepeatable: true }),
])('without ignored characters: %s', (text) => {
  const document = parse(text);
  expect(compactText(document)).toBe(stripIgnoredCharacters(print(document)));
  expect(print(parse(compactText(document)))).toBe(print(document));
});

test('definitions of types are refused', () => {
  expect(() => compactText(parse('type Query { a: Int }'))).toThrow('is not executable');
});
