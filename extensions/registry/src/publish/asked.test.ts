// What a running subgraph lacks of the schema that it is to be published with.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import type { SubgraphResponse } from '@partner-loyalty/runtime/transport/types.ts';
import { askSubgraph, faultOfSubgraph } from './asked.ts';
import { missingFrom } from './missing.ts';

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

describe('a subgraph that is to be published with batching', () => {
  type Operation = { query: string; extensions?: { scope: { kind: string } } };
  type Reply = { status?: number; body: unknown };

  /** What `answer` of a batch keeps it from, and the operations that were asked. */
  async function faultWith(
    answer: (batch: Operation[]) => Reply,
    { batching = true, padding = 0, allowed = true } = {},
  ) {
    const asked: Operation[][] = [];
    const right = ({ query }: Operation) => {
      const [, alias = '__typename'] = /^\{(\w+):/.exec(query) ?? [];
      const schema = { _service: { sdl: SDL + ' '.repeat(padding) } };
      return { data: query.includes('_service') ? schema : { [alias]: 'Query' } };
    };
    const server = createServer(async (request, response) => {
      // Cast: nothing else is sent.
      const body = (await json(request)) as Operation | Operation[];
      asked.push([body].flat());
      const reply: Reply = Array.isArray(body) ? answer(body) : { body: right(body) };
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
    const fault = await askSubgraph({
      entry: { name: 'offers', batching, codes: [] },
      ...{ url, sdl: SDL, secrets: oneSecret('a secret of this test') },
      allows: () => allowed,
    });
    server.close();
    return { fault, asked };
  }
  const aliasOf = ({ query }: Operation) => query.slice(1, query.indexOf(':'));
  const each = (batch: Operation[]) => batch.map((one) => ({ data: { [aliasOf(one)]: 'Query' } }));

  test('is asked alone, and for 100 operations of partners and members that nobody is', async () => {
    const { fault, asked } = await faultWith((batch) => ({ body: each(batch) }));
    expect(fault).toBeUndefined();
    expect(asked.map(({ length }) => length)).toEqual([1, 1, 100]);
    const batch = asked[2] ?? [];
    expect(new Set(batch.map(aliasOf)).size).toBe(100);
    const kinds = batch.map(({ extensions }) => extensions?.scope.kind);
    expect(new Set(kinds)).toEqual(new Set(['partner', 'member']));
    expect((await faultWith(() => ({ body: [] }), { batching: false })).asked).toHaveLength(2);
  });

  test.each<[string, (batch: Operation[]) => Reply, RegExp]>([
    ['no batches', () => ({ status: 400, body: { errors: [{ message: 'm' }] } }), /\(400\)$/],
    ['10 operations at most', () => ({ status: 413, body: 'too many' }), /\(413\)$/],
    ['the first operation alone', (batch) => ({ body: each(batch).slice(0, 1) }), /\(200\)$/],
    ['another order', (batch) => ({ body: each(batch).toReversed() }), /batching$/],
    ['one error', (batch) => ({ body: [...each(batch).slice(1), {}] }), /no answer, 200\)$/],
    ['errors', (batch) => ({ body: batch.map(() => ({ errors: [{}] })) }), /batching/],
  ])('is refused if it answers %s, with what it is about', async (_, answer, reason) => {
    const { fault } = await faultWith(answer);
    expect(fault).toMatch(/^does not answer a batch of 100 operations .*--no-batching/);
    expect(fault).toMatch(reason);
  });

  test('may have a schema of 4 MiB, and none of 6', async () => {
    const ask = (padding: number) => faultWith(() => ({ body: [] }), { batching: false, padding });
    expect((await ask(4 * 1024 * 1024)).fault).toBeUndefined();
    expect((await ask(6 * 1024 * 1024)).fault).toBe(
      'does not answer {_service{sdl}} (too large, 200)',
    );
  });

  test('is not dialled at an address that is not allowed, and SUBGRAPH_HOSTS is named', async () => {
    const { fault, asked } = await faultWith(() => ({ body: [] }), { allowed: false });
    expect([asked, fault]).toEqual([
      [],
      'does not answer {__typename} (SUBGRAPH_HOSTS does not allow its address, ADDRESS)',
    ]);
  });
});
