// What a document is turned into.

import {
  buildSchema,
  type GraphQLInputType,
  getIntrospectionQuery,
  getVariableValues,
  Kind,
  parse,
  print,
} from 'graphql';
import type { DeprecationDates } from '../schema/dates.ts';
import { deprecatedUse } from './deprecateduse.ts';
import { parseDocument, selectOperation } from './document.ts';
import { costOfFields, defaultPagesOf } from './lists.ts';
import { LIMITS } from './measure.ts';
import { type GraphqlRequestError, validationErrorsOf } from './validation.ts';
import { coerceVariables, variableRulesOf } from './variables.ts';

// Parsing, measuring and selecting operations.

function operationOf(query: string, name?: string) {
  const operation = selectOperation(parseDocument(query), name);
  if (operation === undefined) throw new Error('no operation');
  return operation;
}

const PAGES = defaultPagesOf(
  buildSchema(`
    type Query { paged(first: Int = 100): ID other: ID }
    type Mutation { paged: ID other(first: Int = 900): ID }
  `),
);

function costOf(query: string, variables: Record<string, unknown> = {}) {
  return costOfFields(operationOf(query), variables, PAGES);
}

const many = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

test('root fields count each alias, each __typename and each duplicate', () => {
  expect(
    costOf('{ a: memberByEmail(email: "x") { email } __typename __typename b: __typename }').cost,
  ).toBe(4);
});

test('a document with descriptions has the plan of one without, and is not cached', () => {
  const plain = parseDocument('query Q($a: Int) { a(n: $a) ...F } fragment F on T { b }');
  const described = parseDocument(
    '"of Q" query Q("of a" $a: Int) { a(n: $a) ...F } """of F""" fragment F on T { b }',
  );
  expect(print(described.node)).toBe(print(plain.node));
  expect(described.operations[0]?.hash).toBe(plain.operations[0]?.hash);
  expect(described.containsLiterals).toBe(true);
});

test('root fields in fragments and under @skip count', () => {
  const query =
    'query { ...A ...A ... @skip(if: true) { c: __typename } } fragment A on Query { a: __typename ...B } fragment B on Query { b: __typename }';
  expect(costOf(query).cost).toBe(5);
});

const list = (length: number) => `[${'1 '.repeat(length)}]`;

test.each<[string, number, Record<string, unknown>]>([
  [`{ a(x: ${list(11)}) b(x: []) c(x: 1) }`, 4, {}],
  [`query ($v: [I] = ${list(12)}) { a(x: $v) }`, 2, {}],
  [`query ($v: [I] = ${list(12)}) { a(x: $v) }`, 1, { v: null }],
  [`query ($v: [I!]!) { a(x: $v) { b(x: ${list(50)}) } }`, 1, { v: { length: 70 } }],
  [`query ($v: [I]) { a(x: $v, y: ${list(40)}) }`, 4, { v: Array(20).fill(1) }],
  ['query ($v: [I]) { ...F ...F } fragment F on Q { a(x: $v) }', 4, { v: Array(20).fill(1) }],
  ['{ paged }', 10, {}],
  ['{ p: paged(first: 500) paged(first: 1) }', 51, {}],
  ['query ($n: Int) { paged(first: $n) }', 3, { n: 21 }],
  ['{ paged(first: -5) }', 1, {}],
  ['query ($n: Int) { paged(first: $n) }', 10, { n: '500' }],
  [`query ($v: [I]) { paged(first: 20, x: $v) }`, 5, { v: Array(50).fill(1) }],
  ['{ a(first: 500) { paged } }', 1, {}],
  ['query ($n: Int = 1) { paged(first: $n) }', 10, { n: null }],
  ['query ($n: Int = 1) { paged(first: $n) }', 1, {}],
  ['{ other }', 1, {}],
  ['mutation { paged other }', 91, {}],
])('%s costs %p', (query, cost, variables) => {
  expect(costOf(query, variables)).toMatchObject({ cost, tooLong: undefined });
});

test('an operation with a list of over 100 items costs 1, and says which it is', () => {
  const variables = { v: Array(101).fill(1) };
  expect(costOf('query ($v: [I]) { a(x: $v) b(y: $w) }', variables)).toMatchObject({
    cost: 1,
    tooLong: 'x',
  });
});

test('ten root fields are accepted, eleven are not', () => {
  expect(operationOf(`{ ${many(10, (index) => `a${index}: __typename`)} }`).excess).toBeUndefined();
  expect(operationOf(`{ ${many(11, (index) => `a${index}: __typename`)} }`).excess).toMatch(
    /root fields/,
  );
});

test('depth counts fields, not inline fragments: eight are accepted, nine are not', () => {
  const nested = (depth: number, open = '{ a ', close = '}') =>
    open.repeat(depth) + close.repeat(depth);
  expect(operationOf(nested(8)).excess).toBeUndefined();
  expect(operationOf(nested(9)).excess).toMatch(/deep/);
  expect(operationOf(nested(8, '{ ... { a ', '} }')).excess).toBeUndefined();
});

test('fragments that double at every level are measured in linear time', () => {
  const chain = many(
    40,
    (index) => `fragment F${index} on T { ...F${index + 1} ...F${index + 1} }`,
  );
  expect(operationOf(`{ a { ...F0 } } ${chain} fragment F40 on T { b }`).excess).toMatch(
    /selections/,
  );
});

test('directives and fragments beyond their limits are refused, which planning takes long for', () => {
  const conditions = (count: number) => `{ ${many(count, () => 'a @include(if: true)')} }`;
  const spread = (count: number) =>
    `{ b { ...F } c { ...F } } fragment F on T ${conditions(count)}`;
  expect(operationOf(`{ b ${conditions(100)} }`).excess).toBeUndefined();
  expect(operationOf(`{ b ${conditions(101)} }`).excess).toMatch(/100 directives/);
  expect(operationOf(spread(50)).excess).toBeUndefined();
  expect(operationOf(spread(51)).excess).toMatch(/100 directives/);
  const fragments = (count: number) =>
    `{ a } ${many(count, (index) => `fragment F${index} on T { b }`)}`;
  expect(operationOf(fragments(50)).excess).toBeUndefined();
  expect(() => operationOf(fragments(51))).toThrow(/50 fragments/);
});

test('cyclic fragments are left to validation', () => {
  expect(
    operationOf('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }').excess,
  ).toBeUndefined();
});

test('a thousand tokens are accepted, one more is not', () => {
  const query = (names: number) => `{${many(names, () => 'a')}}`;
  expect(parseDocument(query(LIMITS.tokens - 2)).operations).toHaveLength(1);
  expect(() => parseDocument(query(LIMITS.tokens - 1))).toThrow(
    expect.objectContaining({ code: 'OPERATION_TOO_COMPLEX' }),
  );
});

test('text that is not GraphQL is a syntax error', () => {
  for (const query of ['', '{', '{ a(', 'query', '{ a } }', '\u0000', '{ a(b: "\n") }'])
    expect(() => parseDocument(query)).toThrow(
      expect.objectContaining({ code: 'GRAPHQL_PARSE_FAILED' }),
    );
});

describe('introspection', () => {
  test("graphql-js's introspection query is accepted with every option", () => {
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
    });
  });

  test('is recognized under aliases, in fragments and where it is invalid', () => {
    for (const query of [
      '{ a: __schema { b } }',
      '{ ...F } fragment F on Query { __type(name: "A") { name } }',
      '{ a { __schema { b } } }',
    ]) {
      expect(operationOf(query).introspects).toBe(true);
    }
    expect(operationOf('{ __typename }').introspects).toBe(false);
  });

  test('has ten types, or the schema once', () => {
    const types = (count: number) => `{ ${many(count, (n) => `t${n}: __type(name: "A") { a }`)} }`;
    expect(operationOf(types(10)).excess).toBeUndefined();
    expect(operationOf(types(11)).excess).toMatch(/10 root fields/);
    const below = `{ a { ${many(11, (n) => `t${n}: __type(name: "A") { a }`)} } }`;
    expect(operationOf(below).excess).toMatch(/at most 10 times/);
    expect(operationOf('{ __schema { a } b: __schema { a } }').excess).toMatch(/once/);
    expect(
      operationOf('{ __schema { a } ...F } fragment F on Query { __type(name: "A") { name } }')
        .excess,
    ).toMatch(/once/);
  });

  test('must not nest multiplying lists, directly or through fragments', () => {
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

  test('may nest fifteen deep, not deeper', () => {
    const deep = (levels: number) =>
      `{ __type(name: "A") ${'{ ofType '.repeat(levels - 2)}{ name }${' }'.repeat(levels - 2)} }`;
    expect(operationOf(deep(15)).excess).toBeUndefined();
    expect(operationOf(deep(16)).excess).toMatch(/deep/);
  });
});

// coerceVariables: what it takes as it is, what graphql-js decides, and the numbers it refuses.

const SCHEMA = buildSchema('type Query { find(text: String, id: ID, list: [ID]): ID }');

function coerced(query: string, variables: Record<string, unknown>, schema = SCHEMA) {
  const document = parse(query);
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('a query');
  const { variableDefinitions: definitions = [] } = operation;
  const rules = variableRulesOf(document, definitions, schema);
  return {
    own: coerceVariables(schema, rules, variables),
    stock: getVariableValues(schema, definitions, variables).coerced,
  };
}

function thrownBy(run: () => unknown): { message: string } {
  try {
    run();
  } catch (error) {
    // Cast: what refuses variables.
    const [first] = (error as GraphqlRequestError).errors;
    if (first !== undefined) return first;
  }
  throw new Error('it was not refused');
}

const TEXTS = 'query ($text: String!, $id: ID!) { find(text: $text, id: $id) }';

test.each<[query: string, variables: Record<string, unknown>]>([
  ['{ find }', { unused: 1 }],
  [TEXTS, { text: '', id: '1', unused: 'x' }],
  [TEXTS, { text: 'a', id: 1 }],
  ['query ($__proto__: String!) { find(text: $__proto__) }', JSON.parse('{ "__proto__": "a" }')],
  ['query ($text: String! = "a") { find(text: $text) }', {}],
  ['query ($list: [ID!]!) { find(list: $list) }', { list: 'a' }],
])('%s with %j', (query, variables) => {
  const { own, stock } = coerced(query, variables);
  expect(own).toEqual(stock);
});

const IDS = buildSchema(`
  input Key { id: ID, ids: [ID], weight: Float, keys: [Key!] }
  type Query { find(id: ID, ids: [[ID]], key: Key, weight: Float): ID }
`);

test('default values that contain each other are not looked at again for each object', () => {
  const levels = Array.from(
    { length: 40 },
    (_, n) => `input L${n} { a: L${n + 1}={} b: L${n + 1}={} }`,
  );
  const schema = buildSchema(
    `type Query { find(list: [L0]): ID } ${levels.join(' ')} input L40 { c: Int = 1 }`,
  );
  const list = Array.from({ length: 100 }, () => ({}));
  const { own } = coerced('query ($list: [L0]) { find(list: $list) }', { list }, schema);
  expect(Object.keys(own)).toEqual(['list']);
});

test('OPERATION_TOO_COMPLEX for objects of an input type with many fields, sent or not', () => {
  const fields = Array.from({ length: 99 }, (_, n) => `f${n}: Int`);
  const schema = buildSchema(
    `type Query { find(in: In): ID } input In { list: [[Wide!]] } input Wide { ${fields.join(' ')} }`,
  );
  const find = (count: number) => {
    const list = [Array.from({ length: count }, () => ({}))];
    return coerced('query ($in: In) { find(in: $in) }', { in: { list } }, schema).own;
  };
  expect(find(99)).toMatchObject({ in: { list: [{ length: 99 }] } });
  expect(() => find(100)).toThrow('the variables have more than 10000 fields');
  const lists = buildSchema('type Query { find(in: [[ID]]): ID }');
  const inLists = (count: number) =>
    coerced('query ($in: [[ID]]) { find(in: $in) }', { in: Array(count).fill('a') }, lists).own;
  expect(inLists(9_999)).toHaveProperty('in');
  expect(() => inLists(10_000)).toThrow('the variables have more than 10000 fields');
  const errorsOf = (query: string) => validationErrorsOf(parse(query), schema);
  const written = (count: number) => `{ list: [[${'{} '.repeat(count)}]] }`;
  for (const query of [
    (count: number) => `{ find(in: ${written(count)}) }`,
    (count: number) => `query ($in: In = ${written(count)}) { find(in: $in) }`,
  ]) {
    expect(errorsOf(query(99))).toEqual([]);
    expect(() => errorsOf(query(100))).toThrow('the literals have more than 10000 fields');
  }
});

test.each(['{"a":', '{"l":', '{"any":'])(
  'OPERATION_TOO_COMPLEX for what is nested without end: %s',
  (start) => {
    const schema = buildSchema(
      'type Query { find(of: In): ID } input In { a: In l: [In] any: Any } scalar Any',
    );
    const find = (depth: number) => {
      const of = JSON.parse(`${start.repeat(depth)}null${'}'.repeat(depth)}`);
      return coerced('query ($of: In) { find(of: $of) }', { of }, schema).own;
    };
    expect(find(100)).toHaveProperty('of');
    for (const depth of [202, 9_000]) expect(() => find(depth)).toThrow('nested over 200 deep');
  },
);

test('exhaustion: what is deprecated is looked for once in the type of many variables', () => {
  const fields = Array.from({ length: 50 }, (_, place) => `f${place}: Int`).join(' ');
  const schema = buildSchema(`type Query { f(i: [I]): Int } input I { ${fields} }`);
  const variables = Array.from({ length: 100 }, (_, place) => `$v${place}`);
  const document = parse(`query(${variables.join(':I ')}:I){f(i:[${variables}])}`);
  const type = schema.getType('I') as GraphQLInputType; // Cast: it is one above.
  const inputs = variables.map((variable) => ({ name: variable.slice(1), type }));
  let looks = 0;
  class Counted extends Map<string, DeprecationDates & { reason: string }> {
    override has(name: string) {
      looks += 1;
      return super.has(name);
    }
  }
  const dates = { since: 0, until: 0, reason: 'late' };
  expect(
    deprecatedUse(document, inputs, schema, new Counted([['Other.f', dates]])),
  ).toBeUndefined();
  expect(looks).toBeLessThan(100);
});

test('exhaustion: the rules of variables deep in an argument take no more than their document', () => {
  const name = 'n'.repeat(128);
  const schema = buildSchema(`type Query { f(i: I): Int } input I { ${name}: I b: [Int] }`);
  const variables = Array.from({ length: 80 }, (_, place) => `$v${place}`);
  const text = `query(${variables.join(':Int ')}:Int){f(i:${`{${name}:`.repeat(100)}{b:[${variables}]}${'}'.repeat(100)})}`;
  const rulesOf = () => {
    const document = parse(text, { noLocation: true });
    const [operation] = document.definitions;
    const definitions =
      operation && 'variableDefinitions' in operation && operation.variableDefinitions;
    return variableRulesOf(document, definitions || [], schema);
  };
  const before = process.memoryUsage().heapUsed;
  const all = Array.from({ length: 100 }, rulesOf);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(80_000_000);
  const [rules] = all;
  const wrong = () => rules && coerceVariables(schema, rules, { v7: 'x' });
  expect(wrong).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
});

test('a wrong name is compared with others unless these are many and long', () => {
  const messageFor = (length: number) => {
    const names = Array.from({ length: 200 }, (_, n) => `V${'x'.repeat(length)}${n}`);
    const schema = buildSchema(`type Query { find(of: E): ID } enum E { ${names.join(' ')} }`);
    const run = () => coerced('query ($of: E) { find(of: $of) }', { of: `${names[0]}y` }, schema);
    const errors = validationErrorsOf(parse(`{ find(of: ${names[0]}y) }`), schema);
    return [thrownBy(run), ...errors].map((error) => String(error.message));
  };
  const args = Array.from({ length: 200 }, (_, n) => `a${'x'.repeat(100)}${n}: Int`).join(' ');
  const wide = buildSchema(`type Query { find(${args}): ID }`);
  const [unknown] = validationErrorsOf(parse(`{ find(a${'x'.repeat(100)}: 1) }`), wide);
  expect(unknown?.message).not.toContain('Did you mean');
  const suggest = expect.stringContaining('Did you mean');
  expect(messageFor(20)).toEqual([suggest, suggest]);
  for (const message of messageFor(100)) expect(message).not.toContain('Did you mean');
});

test.each<[type: string, value: unknown, problem: string]>([
  ['String', 1, '1; String cannot represent a non string value: 1'],
  ['Float', 'x'.repeat(81), `"${'x'.repeat(79)}…"; Float cannot represent`],
  ['Key', { keys: [{ a: 1 }] }, '{…} at "v.keys.0"; Field "a" is not defined by type "Key".'],
  ['Key', { keys: [[]] }, '[…] at "v.keys.0"; Expected type "Key" to be'],
  ['ID', nested(50_000), '[…]; ID cannot represent value'],
])('a message has the start of a value, and the reason: %s', (type, value, problem) => {
  const document = `query ($v: ${type}) { find(key: $v) }`;
  const { message } = thrownBy(() => coerced(document, { v: value }, IDS));
  expect(message).toContain(`Variable "$v" got invalid value ${problem}`);
});

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

// 2^53 is what JSON.parse makes of 2^53 + 1.
test.each<[definition: string, argument: string, value: unknown, path: string]>([
  ['ID!', 'id', 2 ** 53, 'id'],
  ['[[ID]]', 'ids', [['1', 2 ** 53]], 'ids.0.1'],
  ['Key', 'key', { weight: 1e300, keys: { ids: [1, 2 ** 53] } }, 'key.keys.ids.1'],
])('BAD_USER_INPUT for a number beyond 2^53 as an ID: %s, %s: %j', (type, name, value, path) => {
  expect(() => coerced(`query ($v: ${type}) { find(${name}: $v) }`, { v: value }, IDS)).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT', details: { argument: path } }),
  );
});

test.each<[definition: string, argument: string, value: unknown]>([
  ['ID!', 'id', '9007199254740993'],
  ['Float', 'weight', 1e300],
  ['Key', 'key', { id: 7, ids: '1', weight: 2 ** 53, keys: [{ weight: 2 ** 53 }] }],
])('other numbers are as in graphql-js: %s, %s: %j', (type, name, value) => {
  const { own, stock } = coerced(`query ($v: ${type}) { find(${name}: $v) }`, { v: value }, IDS);
  expect(own).toEqual(stock);
});

test.each<Record<string, unknown>>([
  {},
  { text: 'a', id: null },
  { text: 1, id: 'a' },
  { text: 'a', id: ['a'] },
  Object.create({ text: 'a', id: 'a' }),
])('BAD_USER_INPUT with %j', (variables) => {
  expect(() => coerced(TEXTS, variables)).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT' }),
  );
});
