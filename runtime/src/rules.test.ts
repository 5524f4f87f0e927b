// A rule made of many reports what they report one by one.
import {
  type ASTVisitor,
  BREAK,
  buildSchema,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { inOneRule } from './rules.ts';

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
])('%s', (text) => {
  const document = parse(text);
  for (const maxErrors of [1, 2, 100]) {
    const options = { maxErrors };
    const together = validate(schema, document, [inOneRule(specifiedRules)], options);
    expect(together).toEqual(validate(schema, document, specifiedRules, options));
  }
});

test('each visitor skips and stops independently of the others', () => {
  const heard = (rules: (log: string[]) => ValidationRule[]) => {
    const log: string[] = [];
    const document = parse('{ a(n: 1) { inner { x } x } b { __typename } }');
    validate(schema, document, rules(log));
    return log;
  };
  const visitor = (log: string[], name: string, results: Record<string, unknown>): ASTVisitor => ({
    Field: {
      enter: (node) => {
        log.push(`${name} enters ${node.name.value}`);
        return results[node.name.value];
      },
      leave: (node) => {
        log.push(`${name} leaves ${node.name.value}`);
        return results[`/${node.name.value}`];
      },
    },
  });
  const rules = (log: string[]): ValidationRule[] => [
    () => visitor(log, 'one', { inner: false }),
    () => visitor(log, 'two', { x: BREAK }),
    () => visitor(log, 'three', { '/a': BREAK }),
    () => ({
      enter: ({ kind }) => (kind === 'Argument' ? false : undefined),
      leave: ({ kind }) => void log.push(kind),
    }),
  ];
  const together = heard((log) => [inOneRule(rules(log))]);
  expect(together).toEqual(heard(rules));
  expect(together.length).toBeGreaterThan(30);
});
