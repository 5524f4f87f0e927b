// The sample read of a schema fits that schema, whatever its shape.
import { buildSchema, parse, print, validate } from 'graphql';
import { parseDocument } from '../document/document.ts';
import { sampleRead } from './sample.ts';

test.each([
  [
    'type Query { member(id: ID!, deep: [Int!]): Member } type Member { id: ID friend(n: Int!): Member best: Member }',
  ],
  ['type Query { plain: String many: [Item!]! } type Item { kind: Kind } enum Kind { A }'],
  [
    'type Query { node(id: ID!): Node } interface Node { id: ID! } type A implements Node { id: ID! }',
  ],
])('%s', (sdl) => {
  const schema = buildSchema(sdl);
  const text = sampleRead(schema);
  expect(validate(schema, parse(text))).toEqual([]);
});

test('the sample of a large schema stays within the limits of an operation', () => {
  const fields = (type: string) =>
    Array.from({ length: 100 }, (_, n) => `f${n}: ${type}`).join(' ');
  const schema = buildSchema(
    `type Query { ${fields('A')} } type A { ${fields('B')} } type B { ${fields('Int')} }`,
  );
  expect(parseDocument(sampleRead(schema)).operations[0]?.excess).toBeUndefined();
});

test('every field without arguments is in it', () => {
  const schema = buildSchema('type Query { a(id: ID!): A } type A { x: Int y(n: Int): Int }');
  expect(print(parse(sampleRead(schema)))).toBe(
    'query ($a_id: ID!) {\n  __typename\n  a(id: $a_id) {\n    __typename\n    x\n  }\n}',
  );
});
