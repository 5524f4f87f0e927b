// The schemas of subgraphs, compared with what the library of federation builds.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema as buildWithApollo } from '@apollo/subgraph';
import { graphqlSync, lexicographicSortSchema, parse, printType, validateSchema } from 'graphql';
import { DATE_TIME } from './resolvers.ts';
import { buildSubgraphSchema } from './schema.ts';

const sdlOf = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../subgraphs', name, 'schema.graphql'), 'utf8');

/** The types of a schema as text, without those that composition alone reads. */
function typesOf(schema: Parameters<typeof lexicographicSortSchema>[0]): string[] {
  return Object.values(lexicographicSortSchema(schema).getTypeMap())
    .filter(({ name }) => !/^(__|link__|federation__)/.test(name))
    .map((type) => printType(type));
}

test.each(['members', 'standings'])('%s has the schema that @apollo/subgraph builds', (name) => {
  const sdl = sdlOf(name);
  const schema = buildSubgraphSchema(sdl, { DateTime: DATE_TIME });
  expect(validateSchema(schema)).toEqual([]);
  expect(typesOf(schema)).toEqual(typesOf(buildWithApollo({ typeDefs: parse(sdl) })));
});

test('resolves fields, types of interfaces and scalars, and shows its SDL', () => {
  const sdl = `interface Node { id: ID! }
    type Item implements Node @key(fields: "id") { id: ID!, at: DateTime }
    scalar DateTime
    type Query { node: Node }`;
  const at = new Date(0);
  const schema = buildSubgraphSchema(sdl, {
    Query: { node: () => ({ id: 'a' }) },
    Node: { __resolveType: () => 'Item' },
    Item: { at: () => at },
    DateTime: DATE_TIME,
  });
  const source = '{ node { __typename id ... on Item { at } } _service { sdl } }';
  expect(graphqlSync({ schema, source }).data).toEqual({
    node: { __typename: 'Item', id: 'a', at: '1970-01-01T00:00:00.000Z' },
    _service: { sdl },
  });
});

test.each([
  [{ Query: { other: () => 1 } }, 'there is no field Query.other'],
  [{ Other: { id: () => 1 } }, 'there is no type Other'],
])('a resolver without its field is refused: %j', (resolvers, message) => {
  const sdl = 'type Query { one: Item }  type Item @key(fields: "id") { id: ID! }';
  expect(() => buildSubgraphSchema(sdl, resolvers)).toThrow(message);
});
