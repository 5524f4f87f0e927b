// Our execution of query plans gives the same responses as stock @apollo/gateway's.
import { composeServices } from '@apollo/composition';
import { ApolloGateway } from '@apollo/gateway';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { getVariableValues, Kind, parse, validate } from 'graphql';
import { generateOperation } from '../../../test/support/cases/operations.ts';
import { createTransport } from '../../../test/support/graphs/graph.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { surfaceSdl } from '../schema/surfaces.ts';
import { openExecutor } from './executor.ts';

const OPERATIONS = 300;
const HEAD =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag", "@external", "@requires", "@shareable"])';
const P = '@tag(name: "partner")';

// A graph that tests a planner: entities in lists of lists, interfaces, unions, colliding names,
// @requires, nulls that break the schema.
const SHELF = `${HEAD}
  type Query { node(id: ID!): Node ${P} nodes: [Node!] ${P} books: [[Book]] ${P} any: [Any] ${P} }
  interface Node { id: ID! ${P} title: String ${P} }
  union Any = Book | Film
  type Book implements Node @key(fields: "id") { id: ID! ${P} title: String ${P} size: Int ${P} weight: Int secret: String next: Book ${P} kind: Kind ${P} }
  type Film implements Node @key(fields: "id") { id: ID! ${P} title: String ${P} size: String ${P} cast: [Person!]! ${P} }
  type Person @key(fields: "name") { name: String! ${P} }
  enum Kind { SHORT LONG }`;
const STORE = `${HEAD}
  type Book @key(fields: "id") { id: ID! weight: Int @external price: Int ${P} postage: Int! ${P} @requires(fields: "weight") similar: [Book] ${P} }
  type Film @key(fields: "id") { id: ID! price: String! ${P} }
  type Person @key(fields: "name") { name: String! fans: Int! ${P} films: [Film] ${P} }`;

type Entity = Record<string, unknown> & { __typename: string };
const numbers = [0, 1, 2, 3, 4];
const book = (n: number): Entity => ({
  __typename: 'Book',
  id: `b${n}`,
  title: n === 3 ? null : `Book ${n}`,
  size: n,
  weight: n * 10,
  secret: 's',
  kind: n % 2 ? 'SHORT' : 'LONG',
  next: () => (n < 4 ? book(n + 1) : null),
});
const film = (n: number): Entity => ({
  __typename: 'Film',
  id: `f${n}`,
  title: `Film ${n}`,
  size: `${n} reels`,
  cast: [person(n), person(n + 1)],
});
const person = (n: number): Entity => ({ __typename: 'Person', name: `p${n}` });
const numberOf = (id: unknown) => Number(String(id).slice(1));

const resolveType = ({ __typename }: Entity) => __typename;
const shelf = buildSubgraphSchema({
  typeDefs: parse(SHELF),
  resolvers: {
    Query: {
      node: (_: unknown, { id }: { id: string }) =>
        id.startsWith('b') ? book(numberOf(id)) : id.startsWith('f') ? film(numberOf(id)) : null,
      nodes: () => [book(0), film(1), book(2)],
      books: () => [[book(0), null, book(1)], null, [], [book(4)]],
      any: () => [film(0), null, book(3)],
    },
    Node: { __resolveType: resolveType },
    Any: { __resolveType: resolveType },
    Book: { __resolveReference: ({ id }: { id: string }) => book(numberOf(id)) },
    Film: { __resolveReference: ({ id }: { id: string }) => film(numberOf(id)) },
    Person: { __resolveReference: ({ name }: { name: string }) => person(numberOf(name)) },
  },
});
const store = buildSubgraphSchema({
  typeDefs: parse(STORE),
  resolvers: {
    Book: {
      price: ({ id }: { id: string }) => numberOf(id) * 100,
      postage: ({ id, weight }: { id: string; weight: number }) => {
        if (numberOf(id) === 2) throw new Error('no postage');
        return weight + 1;
      },
      similar: () => [book(1), null],
      __resolveReference: (reference: Entity) => (reference.id === 'b4' ? null : reference),
    },
    Film: { price: ({ id }: { id: string }) => `${id} coins` },
    Person: {
      fans: ({ name }: { name: string }) => numberOf(name),
      films: () => numbers.slice(0, 2).map(film),
    },
  },
});

const { supergraphSdl = '' } = composeServices([
  { name: 'shelf', url: 'http://shelf', typeDefs: parse(SHELF) },
  { name: 'store', url: 'http://store', typeDefs: parse(STORE) },
]);

const transports: Record<string, Transport> = {
  shelf: createTransport(shelf),
  store: createTransport(store),
};
const caller = { kind: 'partner', partnerId: 'p' } as const;
const opening = openExecutor('partner', supergraphSdl, transports, createCaches());

async function ask(query: string, variables: Record<string, unknown> = {}) {
  const { schema, execute } = await opening;
  const { definitions } = parse(query);
  const operation = definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const defined = operation?.variableDefinitions ?? [];
  const { coerced = {} } = getVariableValues(schema, defined, variables);
  const size = new ResponseSize();
  return execute({ key: query, variables, coerced, caller, requestId: 'r', size });
}

test(`${OPERATIONS} generated operations get the responses of stock @apollo/gateway`, async () => {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  const silence = { debug() {}, info() {}, warn() {}, error() {} };
  const { schema } = await opening;
  const gateway = new ApolloGateway({
    supergraphSdl: surfaceSdl(supergraphSdl, 'partner'),
    logger: silence,
    buildService: ({ name }) => ({
      process: async ({ request }) =>
        (await transports[name]?.execute({
          query: request.query ?? '',
          variables: request.variables,
          operationName: request.operationName,
          caller,
          requestId: 'r',
        })) as never,
    }),
  });
  const { executor } = await gateway.load();
  const ids = ['b0', 'b1', 'b2', 'b3', 'b4', 'f0', 'f1', 'x'];
  let compared = 0;
  for (let seed = 0; seed < OPERATIONS; seed += 1) {
    const { query, variables } = generateOperation(
      schema,
      seed,
      (_name, random) => ids[Math.floor(random() * ids.length)],
    );
    const document = parse(query);
    if (validate(schema, document).length > 0) continue; // Two fields of one name do not merge.
    const stock = await executor({
      document,
      queryHash: query,
      request: { variables },
      context: {},
      metrics: {},
      logger: silence,
    } as never);
    const answer = await ask(query, variables);
    // Where conditions leave an object no field, stock returns null in its place.
    if (JSON.stringify(answer.data).includes('{}')) continue;
    // Compared by value: stock groups a fragment's fields, ours keep the order of the document
    // (GraphQL, section 7.2.2). Compared without list indices: stock counts only the entities it
    // fetched, so among objects of other types its indices are wrong.
    const told = (
      errors: readonly { message: string; path?: readonly unknown[] | undefined }[] = [],
    ) =>
      errors
        .map(
          ({ message, path = [] }) =>
            `${path.filter((step) => typeof step === 'string').join('.')} ${message}`,
        )
        .sort();
    expect({
      query,
      data: JSON.parse(JSON.stringify(answer.data)),
      errors: told(answer.errors),
    }).toEqual({
      query,
      data: JSON.parse(JSON.stringify(stock.data ?? null)),
      errors: told(stock.errors),
    });
    compared += 1;
  }
  await gateway.stop();
  expect(compared).toBeGreaterThan(OPERATIONS / 2);
});

test('an error of an entity has its path, even among objects of other types', async () => {
  const query = '{ nodes { id ... on Book { postage } } }';
  const answer = await ask(query);
  expect(answer.errors.map(({ path }) => path)).toEqual([['nodes', 2, 'postage']]);
  expect(answer.data).toEqual({ nodes: null });
});

test('response names from the prototype of objects are ordinary names', async () => {
  const query =
    '{ __proto__: node(id: "b1") { toString: id constructor: title } hasOwnProperty: node(id: "x") { id } }';
  const answer = await ask(query);
  expect(JSON.stringify(answer)).toBe(
    '{"data":{"__proto__":{"toString":"b1","constructor":"Book 1"},"hasOwnProperty":null},"errors":[],"nullViolations":[]}',
  );
});

test('an alias means the same even if a visible or hidden field has its name', async () => {
  const { schema } = await opening;
  const taken = [
    'id',
    'weight',
    'secret',
    'name',
    'title',
    'price',
    'as__id',
    '_entities',
    'toString',
  ];
  const rename = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [nameFor(name), rename(inner)]),
    );
  };
  const nameFor = (alias: string) =>
    /^a\d+$/.test(alias) ? (taken[Number(alias.slice(1)) % taken.length] ?? alias) : alias;
  let compared = 0;
  for (let seed = 0; seed < OPERATIONS; seed += 1) {
    const { query, variables } = generateOperation(schema, seed, () => 'b1');
    const renamed = query.replace(/\ba\d+(?=: )/g, nameFor);
    const aliases = [...new Set(query.match(/\ba\d+(?=: )/g))];
    // Two aliases of one name would have to select the same field.
    if (new Set(aliases.map(nameFor)).size < aliases.length) continue;
    if (
      renamed === query ||
      [query, renamed].some((each) => validate(schema, parse(each)).length > 0)
    )
      continue;
    const answers = [query, renamed].map((each) => ask(each, variables));
    const [plain, other] = (await Promise.all(answers)).map(({ data }) =>
      JSON.parse(JSON.stringify(data)),
    );
    expect({ renamed, data: other }).toEqual({ renamed, data: rename(plain) });
    compared += 1;
  }
  expect(compared).toBeGreaterThan(OPERATIONS / 10);
});
