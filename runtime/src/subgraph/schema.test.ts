// The schemas of both subgraphs, beside those that @apollo/subgraph builds.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema as buildApollos } from '@apollo/subgraph';
import {
  type GraphQLSchema,
  graphql,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  parse,
  printType,
} from 'graphql';
import { buildSubgraphSchema } from './schema.ts';

const SUBGRAPHS = join(import.meta.dirname, '../../../subgraphs');

/** Without the types that only directives use. */
function typesOf(schema: GraphQLSchema): string[] {
  return Object.values(lexicographicSortSchema(schema).getTypeMap())
    .filter((type) => !isSpecifiedScalarType(type) && !/^(__|federation__|link__)/.test(type.name))
    .map(printType);
}

test.each(['members', 'standings'])('%s has the types that Apollo gives it', async (name) => {
  const sdl = readFileSync(join(SUBGRAPHS, name, 'schema.graphql'), 'utf8');
  const schema = buildSubgraphSchema(sdl, {});
  expect(typesOf(schema)).toEqual(typesOf(buildApollos(parse(sdl))));
  const { data } = await graphql({ schema, source: '{ _service { sdl } }' });
  expect(data).toEqual({ _service: { sdl } });
});

test('a resolver without its field', () => {
  const resolvers = { Query: { other: () => 1 } };
  expect(() => buildSubgraphSchema('type Query { one: Int }', resolvers)).toThrow(
    'there is no field Query.other',
  );
});
