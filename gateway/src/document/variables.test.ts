// coerceVariables: required texts are taken as they are, and graphql-js decides about the rest.
import { buildSchema, getVariableValues, Kind, parse } from 'graphql';
import { coerceVariables, variableRulesOf } from './variables.ts';

const SCHEMA = buildSchema('type Query { find(text: String, id: ID, list: [ID]): ID }');

function coerced(query: string, variables: Record<string, unknown>) {
  const document = parse(query);
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('a query');
  const { variableDefinitions: definitions = [] } = operation;
  const rules = variableRulesOf(document, definitions, SCHEMA);
  return {
    own: coerceVariables(SCHEMA, rules, variables),
    stock: getVariableValues(SCHEMA, definitions, variables).coerced,
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
