// What a running subgraph lacks of the schema that it is to be published with.
import type { SubgraphResponse } from '@partner-loyalty/runtime/transport/types.ts';
import { faultOfSubgraph, missingFrom } from './asked.ts';

const SDL = `
  type Query { offer(id: ID!): Offer }
  type Offer @key(fields: "id") { id: ID! title(language: String): String }
  input Wish { title: String }
`;

test.each<[string, string, string[]]>([
  ['the same schema', SDL, []],
  [
    'a larger one, with what stock subgraphs add',
    `${SDL} extend type Query { _service: _Service! _entities(representations: [_Any!]!): [_Entity]! }
     type _Service { sdl: String }`,
    [],
  ],
  ['extensions', SDL.replaceAll('type', 'extend type'), []],
  [
    'another name of the root type',
    `schema { query: Root } ${SDL.replace('type Query', 'type Root')}`,
    [],
  ],
  ['no field', SDL.replace('id: ID! title', 'title'), ['Offer.id']],
  ['no argument', SDL.replace('(language: String)', ''), ['Offer.title(language:)']],
  ['no input field', SDL.replace('title: String }', 'word: String }'), ['Wish.title']],
  [
    'other types',
    'type Query { a: Int }',
    [
      'Query.offer',
      'Query.offer(id:)',
      'Offer.id',
      'Offer.title',
      'Offer.title(language:)',
      'Wish.title',
    ],
  ],
])('of a running subgraph with %s', (_name, running, missing) => {
  expect(missingFrom(running, SDL)).toEqual(missing);
});

test('the federation fields of a published schema are not asked for', () => {
  expect(missingFrom(SDL, `${SDL} extend type Query { _service: _Service }`)).toEqual([]);
});

test.each<[string, SubgraphResponse, SubgraphResponse, string | undefined]>([
  ['all of it', { data: { __typename: 'Query' } }, { data: { _service: { sdl: SDL } } }, undefined],
  ['nothing', { data: null }, {}, 'does not answer {__typename}'],
  [
    'no schema',
    { data: { __typename: 'Query' } },
    { data: { _service: null } },
    'does not answer {_service{sdl}}',
  ],
  [
    'a schema that is none',
    { data: { __typename: 'Query' } },
    { data: { _service: { sdl: '<html>' } } },
    'answers {_service{sdl}} with a syntax error',
  ],
  [
    'another schema',
    { data: { __typename: 'Query' } },
    { data: { _service: { sdl: 'type Query { a: Int }' } } },
    'lacks Query.offer, Query.offer(id:), Offer.id, Offer.title, Offer.title(language:) and 1 more',
  ],
])('a subgraph that answers %s', async (_name, health, schema, fault) => {
  const transport = {
    execute: ({ query }: { query: string }) => (query === '{__typename}' ? health : schema),
  };
  expect(await faultOfSubgraph(transport, SDL, 'r1')).toBe(fault);
});
