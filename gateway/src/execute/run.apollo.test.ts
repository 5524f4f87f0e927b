// Plans that @apollo/gateway runs: abstract types, interface objects and fields behind them.
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { type GraphQLSchema, parse } from 'graphql';
import { createTransport, openGraph } from '../../../test/support/graphs/graph.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { type Execution, type ExecutionResult, openExecutor } from './executor.ts';

const HEAD =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires", "@interfaceObject"])';

const ACCOUNTS = `${HEAD}
  type Query { accounts: [Account!]! users: [User!]! }
  interface Account @key(fields: "id") { id: ID! kind: String! }
  type User implements Account @key(fields: "id") { id: ID! kind: String! name: String }
  type Robot implements Account @key(fields: "id") { id: ID! kind: String! model: String }`;
// Knows accounts, but not which types of them there are.
const LOGINS = `${HEAD}
  type Query { latest: [Account!]! }
  type Account @key(fields: "id") @interfaceObject { id: ID! logins(last: Int!): Int }`;
const SCORES = `${HEAD}
  type Account @key(fields: "id") @interfaceObject {
    id: ID! logins(last: Int!): Int @external score: Int @requires(fields: "logins(last: 30)") }`;

const known: Record<string, { __typename: string; id: string; kind: string }> = {
  u1: { __typename: 'User', id: 'u1', kind: 'person', ...{ name: 'one' } },
  r1: { __typename: 'Robot', id: 'r1', kind: 'machine', ...{ model: 'T' } },
};
const resolve = ({ id }: { id: string }) => known[id];

const schemas: Record<string, GraphQLSchema> = {
  accounts: buildSubgraphSchema({
    typeDefs: parse(ACCOUNTS),
    resolvers: {
      Query: { accounts: () => Object.values(known), users: () => [known.u1] },
      Account: {
        __resolveReference: resolve,
        __resolveType: ({ __typename }: { __typename: string }) => __typename,
      },
      User: { __resolveReference: resolve },
      Robot: { __resolveReference: resolve },
    },
  }),
  logins: buildSubgraphSchema({
    typeDefs: parse(LOGINS),
    resolvers: {
      Query: { latest: () => [{ id: 'r1' }, { id: 'u1' }] },
      Account: {
        logins({ id }: { id: string }, { last }: { last: number }) {
          if (id === 'r1' && last === 13) throw new Error('unlucky');
          return last;
        },
      },
    },
  }),
  scores: buildSubgraphSchema({
    typeDefs: parse(SCORES),
    resolvers: {
      Account: {
        __resolveReference: (reference: object) => reference,
        score: ({ logins }: { logins: number }) => logins * 2,
      },
    },
  }),
};

const { supergraphSdl = '', errors } = composeServices(
  Object.entries({ accounts: ACCOUNTS, logins: LOGINS, scores: SCORES }).map(([name, sdl]) => ({
    name,
    url: `http://${name}`,
    typeDefs: parse(sdl),
  })),
);
if (errors !== undefined) throw errors[0];

const opening = openExecutor(
  undefined,
  supergraphSdl,
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, createTransport(schema)]),
  ),
  createCaches(),
);

async function ask(query: string, more: Partial<Execution> = {}): Promise<ExecutionResult> {
  const executor = await opening;
  const result = await executor.execute({
    key: query,
    variables: {},
    coerced: {},
    caller: { kind: 'service' },
    requestId: 'r',
    size: new ResponseSize(),
    ...more,
  });
  return JSON.parse(JSON.stringify(result));
}

const CLEAN = { errors: [], nullViolations: [] };

test('the types of objects from a subgraph with an interface object come from another subgraph', async () => {
  expect(await ask('{ latest { __typename id kind ... on Robot { model } } }')).toEqual({
    data: {
      latest: [
        { __typename: 'Robot', id: 'r1', kind: 'machine', model: 'T' },
        { __typename: 'User', id: 'u1', kind: 'person' },
      ],
    },
    ...CLEAN,
  });
});

test('objects of a known type get fields from a subgraph that only knows their interface', async () => {
  expect(await ask('{ users { id logins(last: 5) } }')).toEqual({
    data: { users: [{ id: 'u1', logins: 5 }] },
    ...CLEAN,
  });
});

test('a field may be selected with other arguments than another subgraph requires it with', async () => {
  expect(await ask('{ users { score logins(last: 7) again: logins(last: 8) } }')).toEqual({
    data: { users: [{ score: 60, logins: 7, again: 8 }] },
    ...CLEAN,
  });
});

test('aliases of keys and type names are ordinary names', async () => {
  expect(
    await ask(
      '{ accounts { id: kind kind: id __typename t: __typename ... on User { as__id: name } } }',
    ),
  ).toEqual({
    data: {
      accounts: [
        { id: 'person', kind: 'u1', __typename: 'User', t: 'User', as__id: 'one' },
        { id: 'machine', kind: 'r1', __typename: 'Robot', t: 'Robot' },
      ],
    },
    ...CLEAN,
  });
});

test('an error has the path of its object, by the names of the caller', async () => {
  const { data, errors: failed } = await ask('{ all: accounts { id n: logins(last: 13) } }');
  expect(data).toEqual({
    all: [
      { id: 'u1', n: 13 },
      { id: 'r1', n: null },
    ],
  });
  expect(failed.map(({ path, message }) => [path, message])).toEqual([
    [['all', 1, 'n'], 'unlucky'],
  ]);
});

test('a response is counted and stopped as any other', async () => {
  const size = new ResponseSize();
  size.add(1024 * 1024 - 20);
  await expect(ask('{ accounts { id kind } }', { size })).rejects.toMatchObject({
    code: 'OPERATION_TOO_COMPLEX',
  });
});

test('a field that no subgraph can resolve is an error, and type names are none', async () => {
  const { supergraph, transports } = openGraph({
    subgraphs: {
      a: { sdl: 'interface Node @key(fields: "id") { id: ID! } type Query { a: Node }' },
      b: {
        sdl: `type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! field: Int }
              type Query { b: Node }`,
      },
    },
  });
  const { execute, close } = await openExecutor(undefined, supergraph, transports, createCaches());
  const run = async (key: string) =>
    execute({
      key,
      variables: {},
      coerced: {},
      caller: { kind: 'service' },
      requestId: 'r',
      size: new ResponseSize(),
    });
  await expect(run('{ a { field } }')).rejects.toThrow('in no subgraph');
  expect((await run('{ name: __typename a @skip(if: true) { field } }')).data).toEqual({
    name: 'Query',
  });
  close();
});
