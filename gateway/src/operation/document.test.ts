// Parsing, measuring and selecting operations.
import { getIntrospectionQuery } from 'graphql';
import { parseDocument, selectOperation } from './document.ts';
import { LIMITS } from './measure.ts';

function operationOf(query: string, name?: string) {
  const operation = selectOperation(parseDocument(query), name);
  if (operation === undefined) throw new Error('no operation');
  return operation;
}

const many = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

test('root fields count each alias, each __typename and each duplicate', () => {
  expect(
    operationOf('{ a: memberByEmail(email: "x") { email } __typename __typename b: __typename }')
      .rootFields,
  ).toBe(4);
});

test('root fields count through fragments and in spite of @skip', () => {
  const query =
    'query { ...A ...A ... @skip(if: true) { c: __typename } } fragment A on Query { a: __typename ...B } fragment B on Query { b: __typename }';
  expect(operationOf(query).rootFields).toBe(5);
});

test('ten root fields pass and eleven do not', () => {
  expect(operationOf(`{ ${many(10, (index) => `a${index}: __typename`)} }`).excess).toBeUndefined();
  expect(operationOf(`{ ${many(11, (index) => `a${index}: __typename`)} }`).excess).toMatch(
    /root fields/,
  );
});

test('depth is counted in fields: eight pass, nine do not, inline fragments add none', () => {
  const nested = (depth: number, open = '{ a ', close = '}') =>
    open.repeat(depth) + close.repeat(depth);
  expect(operationOf(nested(8)).excess).toBeUndefined();
  expect(operationOf(nested(9)).excess).toMatch(/deep/);
  expect(operationOf(nested(8, '{ ... { a ', '} }')).excess).toBeUndefined();
});

test('fragments that double at every step are measured at once', () => {
  const chain = many(
    90,
    (index) => `fragment F${index} on T { ...F${index + 1} ...F${index + 1} }`,
  );
  expect(operationOf(`{ a { ...F0 } } ${chain} fragment F90 on T { b }`).excess).toMatch(
    /selections/,
  );
});

test('fragments in a circle are left to validation', () => {
  expect(
    operationOf('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }').excess,
  ).toBeUndefined();
});

test('a thousand tokens are read, one more is refused', () => {
  const query = (names: number) => `{${many(names, () => 'a')}}`;
  expect(parseDocument(query(LIMITS.tokens - 2)).operations).toHaveLength(1);
  expect(() => parseDocument(query(LIMITS.tokens - 1))).toThrow(
    expect.objectContaining({ code: 'OPERATION_TOO_COMPLEX' }),
  );
});

test('text that is no GraphQL is a syntax error', () => {
  for (const query of ['', '{', '{ a(', 'query', '{ a } }', '\u0000', '{ a(b: "\n") }'])
    expect(() => parseDocument(query)).toThrow(
      expect.objectContaining({ code: 'GRAPHQL_PARSE_FAILED' }),
    );
});

describe('introspection', () => {
  test("the field's usual query passes, with every option graphql-js has", () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    });
    expect(operationOf(query)).toMatchObject({
      introspects: true,
      excess: undefined,
      rootFields: 1,
    });
  });

  test('is seen through aliases and fragments, also where it cannot stand', () => {
    for (const query of [
      '{ a: __schema { b } }',
      '{ ...F } fragment F on Query { __type(name: "A") { name } }',
      '{ a { __schema { b } } }',
    ]) {
      expect(operationOf(query).introspects).toBe(true);
    }
    expect(operationOf('{ __typename }').introspects).toBe(false);
  });

  test('may stand once', () => {
    expect(operationOf('{ __schema { a } b: __schema { a } }').excess).toMatch(/once/);
    expect(
      operationOf('{ __schema { a } ...F } fragment F on Query { __type(name: "A") { name } }')
        .excess,
    ).toMatch(/once/);
  });

  test('nests no list that multiplies in another, directly or by fragments', () => {
    expect(
      operationOf('{ __schema { types { fields { type { fields { name } } } } } }').excess,
    ).toMatch(/lists/);
    expect(
      operationOf(
        '{ __schema { types { ...F } } } fragment F on __Type { interfaces { ...G } } fragment G on __Type { possibleTypes { name } }',
      ).excess,
    ).toMatch(/lists/);
    expect(
      operationOf('{ __schema { types { fields { name } inputFields { name } } } }').excess,
    ).toBeUndefined();
    expect(operationOf('{ a { fields { fields { b } } } }').excess).toBeUndefined();
  });

  test('goes fifteen deep and not deeper', () => {
    const deep = (levels: number) =>
      `{ __type(name: "A") ${'{ ofType '.repeat(levels - 2)}{ name }${' }'.repeat(levels - 2)} }`;
    expect(operationOf(deep(15)).excess).toBeUndefined();
    expect(operationOf(deep(16)).excess).toMatch(/deep/);
  });
});

test('an operation is selected by name, or because it is the only one', () => {
  const document = parseDocument('query A { a } query B { b }');
  expect(selectOperation(document, 'B')?.node.name?.value).toBe('B');
  expect(selectOperation(document, undefined)).toBeUndefined();
  expect(selectOperation(document, 'C')).toBeUndefined();
  expect(selectOperation(document, '')).toBeUndefined();
});
