// coerceVariables: what it takes as it is, what graphql-js decides, and the numbers it refuses.
import { buildSchema, getVariableValues, Kind, parse } from 'graphql';
import { coerceVariables, variableRulesOf } from './variables.ts';

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

const TEXTS = 'query ($text: String!, $id: ID!) { find(text: $text, id: $id) }';

test.each<[query: string, variables: Record<string, unknown>]>([
  ['{ find }', { unused: 1 }],
  [TEXTS, { text: '', id: '1', unused: 'x' }],
  [TEXTS, { text: 'a', id: 1 }],
  ['query ($__proto__: String!) { find(text: $__proto__) }', JSON.parse('{ "__proto__": "a" }')],
  ['query ($text: String = "a") { find(text: $text) }', {}],
  ['query ($text: String! = "a") { find(text: $text) }', {}],
  ['query ($text: String) { find(text: $text) }', { text: null }],
  ['query ($list: [ID!]!) { find(list: $list) }', { list: 'a' }],
])('%s with %j', (query, variables) => {
  const { own, stock } = coerced(query, variables);
  expect(own).toEqual(stock);
});

const IDS = buildSchema(`
  input Key { id: ID, ids: [ID], weight: Float, keys: [Key!] }
  type Query { find(id: ID, ids: [[ID]], key: Key, weight: Float): ID }
`);

// 2^53 is what JSON.parse makes of 2^53 + 1.
test.each<[definition: string, argument: string, value: unknown, path: string]>([
  ['ID!', 'id', 2 ** 53, 'id'],
  ['ID', 'id', -(2 ** 53), 'id'],
  ['ID', 'id', 1e21, 'id'],
  ['[[ID]]', 'ids', 2 ** 53, 'ids'],
  ['[[ID]]', 'ids', [['1', 2 ** 53]], 'ids.0.1'],
  ['Key', 'key', { weight: 1e300, keys: { ids: [1, 2 ** 53] } }, 'key.keys.ids.1'],
])('BAD_USER_INPUT for a number beyond 2^53 as an ID: %s, %s: %j', (type, name, value, path) => {
  expect(() => coerced(`query ($v: ${type}) { find(${name}: $v) }`, { v: value }, IDS)).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT', details: { argument: path } }),
  );
});

test.each<[definition: string, argument: string, value: unknown]>([
  ['ID!', 'id', 2 ** 53 - 1],
  ['ID!', 'id', '9007199254740993'],
  ['Float', 'weight', 1e300],
  ['Key', 'key', { id: 7, ids: '1', weight: 2 ** 53, keys: [{ weight: 2 ** 53 }] }],
])('other numbers are as in graphql-js: %s, %s: %j', (type, name, value) => {
  const { own, stock } = coerced(`query ($v: ${type}) { find(${name}: $v) }`, { v: value }, IDS);
  expect(own).toEqual(stock);
});

test.each<Record<string, unknown>>([
  {},
  { text: 'a' },
  { text: 'a', id: null },
  { text: 1, id: 'a' },
  { text: 'a', id: ['a'] },
  Object.create({ text: 'a', id: 'a' }),
])('BAD_USER_INPUT with %j', (variables) => {
  expect(() => coerced(TEXTS, variables)).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT' }),
  );
});
