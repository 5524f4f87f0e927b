// A document is valid if graphql-js finds nothing wrong with it.
import {
  type ASTNode,
  type ASTVisitFn,
  buildSchema,
  parse,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql';
import { createIsValid } from './validity.ts';

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

test('each rule visits the same nodes with the same context as under graphql-js', () => {
  const document = parse(
    '{ a(n: 1) { inner { x } x } b { ... on A { x @once } } } fragment F on A { x }',
  );
  const heard = (check: (rules: ValidationRule[]) => unknown) => {
    const log: string[] = [];
    check(RULES(log));
    return log;
  };
  const ours = heard((rules) => createIsValid(rules)(schema, document));
  expect(ours).toEqual(heard((rules) => validate(schema, document, rules)));
  expect(ours.length).toBeGreaterThan(60);
});

/** One that skips the children of `inner`, one that visits all nodes, and one some kinds. */
const RULES = (log: string[]): ValidationRule[] => {
  const hear =
    (rule: string, context: ValidationContext): ASTVisitFn<ASTNode> =>
    (node, key, parent, path, ancestors) => {
      const kinds = [parent, ...ancestors].map((each) =>
        each && 'kind' in each ? each.kind : 'list',
      );
      const types = [context.getType(), context.getParentType(), context.getArgument()?.name];
      log.push(
        [rule, node.kind, key, path.join('.'), kinds.join(' '), types.join(' ')].join(' / '),
      );
      return rule === 'skips' && node.kind === 'Field' && node.name.value === 'inner'
        ? false
        : undefined;
    };
  return [
    (context) => ({ Field: { enter: hear('skips', context), leave: hear('skips left', context) } }),
    (context) => ({ enter: hear('all', context), leave: hear('all left', context) }),
    (context) => ({ Argument: hear('some', context), Directive: { leave: hear('some', context) } }),
  ];
};
