// How an operation is planned and run, and what each surface shows.

import { readFileSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { composeServices } from '@apollo/composition';
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { ApolloGateway } from '@apollo/gateway';
import { type PlanNode, QueryPlanner } from '@apollo/query-planner';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { TOO_DEEP } from '@partner-loyalty/runtime/transport/asked.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import {
  buildSchema,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  parse,
  parseValue,
  print,
  printSchema,
  validate,
  visit,
} from 'graphql';
import {
  type GeneratedOperation,
  generateOperation,
} from '../../../test/support/cases/operations.ts';
import { openGraph, type TestGraph } from '../../../test/support/graphs/graph.ts';
import { GRAPHS } from '../../../test/support/graphs/table.ts';
import { parseDocument } from '../document/document.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { buildResponse } from '../edge/response.ts';
import { SUPERGRAPH_FILE } from '../graph/committed.ts';
import { SURFACES, type SurfaceName, surfaceSdl } from '../schema/surfaces.ts';
import { committedFacts } from './committed.ts';
import { type Execution, type Executor, openExecutor } from './executor.ts';
import { Accesses, type MemberAccess, withMemberIds } from './members.ts';
import { ownershipOf } from './ownership.ts';
import { openThreadPlanner } from './plan.apollo.ts';
import { planDirectly } from './plan.direct.ts';
import { openPlanner } from './planner.ts';
import { fieldsOf, renameFields } from './rename.ts';
import { compileShape, Violations } from './shape.ts';
import { openSurface } from './surface.ts';

const COMMITTED = readFileSync(SUPERGRAPH_FILE, 'utf8');
const CALLER = { kind: 'partner', partnerId: 'inn' } as const;

/** Executes an operation without variables, unless it has `more`. */
const execute = async (executor: Executor, key: string, more: Partial<Execution> = {}) =>
  executor.execute({
    ...{ key, variables: {}, coerced: {}, caller: CALLER, requestId: 'r' },
    size: new ResponseSize(),
    ...more,
  });

/** A subgraph that notes what it is asked. */
function recording(
  answer: (request: SubgraphRequest) => SubgraphResponse,
): Transport & { asked: SubgraphRequest[] } {
  const asked: SubgraphRequest[] = [];
  return {
    asked,
    execute(request) {
      asked.push(request);
      return answer(request);
    },
    ready: async () => {},
    close: async () => {},
  };
}

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

/** A surface of the committed graph, for whose subgraphs these answer. */
async function openCommitted(
  surface: SurfaceName,
  members: (request: SubgraphRequest) => SubgraphResponse = () => ({}),
  standings: (request: SubgraphRequest) => SubgraphResponse = () => ({}),
  audits = false,
) {
  const asked = { members: recording(members), standings: recording(standings) };
  const transports = { ...asked, gateway: asked.members };
  const executor = await openExecutor(surface, COMMITTED, transports, createCaches(), audits);
  opened.push(executor);
  return { executor, members: asked.members.asked, standings: asked.standings.asked };
}

// Operations on graphs with every feature of federation get the responses of stock @apollo/gateway.
describe('graphs', () => {
  /** Fewer where chance would find what stock gets wrong. */
  const seedsOf = ({ stockIsWrong, writtenOnly }: TestGraph) =>
    writtenOnly ? 0 : stockIsWrong ? 12 : 40;
  const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

  type Answer = { data: unknown; errors: string[] };
  type Ask = (operation: GeneratedOperation) => Promise<Answer>;

  beforeAll(() => {
    process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  });

  describe.each(Object.entries(GRAPHS))('%s', (_, graph) => {
    let executor: Executor;
    let stock: Ask & { stop(): Promise<void> };

    beforeAll(async () => {
      const { supergraph, transports } = openGraph(graph);
      executor = await openExecutor(undefined, supergraph, transports, createCaches());
      stock = await openStock(supergraph, transports);
    });
    afterAll(async () => {
      executor.close();
      await stock.stop();
    });

    test('the same responses as from stock @apollo/gateway', async () => {
      const operations = operationsOf(graph, executor.schema);
      expect(operations.length).toBeGreaterThan(seedsOf(graph) / 4);
      // Some operations on interface objects are too much for Apollo's planner.
      let planned = 0;
      for (const operation of operations) {
        const answer = await askOurs(executor, operation).catch(() => 'not planned');
        const right = await stock(operation).catch(() => 'not planned');
        // Stock forgets some conditions that are literals, and then finds no way to a field.
        const isForgotten = /\(if: (?:true|false)\)/.test(operation.query);
        if (isForgotten && typeof right === 'object' && right.data === null) continue;
        expect({ operation, answer }).toEqual({ operation, answer: right });
        if (right !== 'not planned') planned += 1;
      }
      expect(planned).toBeGreaterThan(operations.length / 2);
    });

    test("the plans made without Apollo's planner are those that it makes", () => {
      const { schema, plan } = openPlanners(openGraph(graph).supergraph);
      for (const { query } of operationsOf(graph, schema)) {
        const { direct, apollo } = plan(withoutConditions(parse(query)));
        // The others are left to Apollo's planner.
        if (direct !== 'none') expect({ query, plan: direct }).toEqual({ query, plan: apollo() });
      }
    });

    for (const { query, data } of graph.stockIsWrong ?? [])
      test(`${query} is answered right, which stock @apollo/gateway does not`, async () => {
        const operation = { query, variables: {} };
        expect((await askOurs(executor, operation)).data).toEqual(data);
        expect((await stock(operation)).data).not.toEqual(data);
      });
  });

  function operationsOf(graph: TestGraph, schema: GraphQLSchema): GeneratedOperation[] {
    const written = (graph.operations ?? []).map((query) => ({ query, variables: {} }));
    const generated = Array.from({ length: seedsOf(graph) }, (_, seed) =>
      generateOperation(schema, seed, (name, random) => {
        const values = graph.values?.[name] ?? [];
        return values[Math.floor(random() * values.length)];
      }),
    );
    for (const { query } of written) expect(validate(schema, parse(query))).toEqual([]);
    // Some generated ones have fields of one name that do not merge, or null for a non-null type.
    const valid = generated.filter(
      (operation) =>
        validate(schema, parse(operation.query)).length === 0 && coercedOf(schema, operation),
    );
    return [...written, ...valid];
  }

  function coercedOf(schema: GraphQLSchema, { query, variables }: GeneratedOperation) {
    const { definitions } = parse(query);
    const operation = definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    return getVariableValues(schema, operation?.variableDefinitions ?? [], variables).coerced;
  }

  async function askOurs(executor: Executor, operation: GeneratedOperation): Promise<Answer> {
    const { query, variables } = operation;
    const coerced = coercedOf(executor.schema, operation) ?? {};
    const { data, errors } = await execute(executor, query, { variables, coerced });
    return comparable(data, errors);
  }

  async function openStock(
    supergraphSdl: string,
    transports: Record<string, Transport>,
  ): Promise<Ask & { stop(): Promise<void> }> {
    const gateway = new ApolloGateway({
      supergraphSdl,
      logger: SILENT,
      buildService: ({ name }) => ({
        process: async ({ request: { query = '', variables, operationName } }) =>
          // Cast: Apollo's type of a response has no data of unknown shape.
          (await transports[name]?.execute({
            query,
            variables,
            operationName,
            caller: { kind: 'service' },
            requestId: 'r',
          })) as never,
      }),
    });
    const { executor } = await gateway.load();
    const ask: Ask = async ({ query, variables }) => {
      const { data, errors } = await executor({
        document: parse(query),
        queryHash: query,
        request: { variables },
        context: {},
        metrics: {},
        logger: SILENT,
        // Cast: this is all that execution reads of a request.
      } as never);
      return comparable(data ?? null, errors);
    };
    return Object.assign(ask, { stop: () => gateway.stop() });
  }

  /**
   * By value, as stock groups a fragment's fields. Errors by their root field: below it, stock
   * counts only the objects it asked about, and names fields that the caller has not selected.
   */
  function comparable(
    data: unknown,
    errors: readonly { message: string; path?: readonly unknown[] | undefined }[] = [],
  ): Answer {
    const told = new Set(errors.map(({ message, path = [] }) => `${path[0]}: ${message}`));
    return { data: JSON.parse(JSON.stringify(data)), errors: [...told].sort() };
  }
});

// The plans made without Apollo's planner, for all that callers of the committed graph can ask.

function openPlanners(sdl: string) {
  const federated = Supergraph.build(sdl);
  const api = federated.apiSchema();
  const planner = new QueryPlanner(federated, { reuseQueryFragments: false });
  const schema = buildSchema(printSchema(api.toGraphQLJSSchema()));
  const fields = fieldsOf(parse(sdl));
  const ownership = ownershipOf(parse(sdl));
  const plan = (query: DocumentNode) => {
    const { document } = renameFields(query, schema, fields);
    const direct = planDirectly(document, schema, ownership);
    return {
      direct: direct === undefined ? 'none' : callsOf(direct.node),
      apollo() {
        const { node } = planner.buildQueryPlan(operationFromDocument(api, document));
        if (node?.kind === 'Subscription') throw new Error('no graph has subscriptions');
        return callsOf(node);
      },
    };
  };
  return { schema, plan };
}

test('exhaustion: the key from one subgraph to another is looked for once in a plan', () => {
  let looks = 0;
  class Fields extends Map<string, ReadonlyMap<string, readonly string[]>> {
    override get(name: string) {
      if (name === 'missing') looks += 1;
      return super.get(name);
    }
  }
  const schema = buildSchema('type Query { k: K } type K { n: Int k(i: Int): K v: Int }');
  const own = (subgraph: string) => new Map([[subgraph, []]]);
  const ownership = new Map([
    ['Query', { fields: new Fields([['k', own('keys')]]), keys: new Map() }],
    [
      'K',
      {
        fields: new Fields([
          ['n', own('keys')],
          ['k', own('keys')],
          ['v', own('values')],
        ]),
        keys: new Map([['values', [['missing'], ['n']]]]),
      },
    ],
  ]);
  const ks = Array.from({ length: 20 }, (_, place) => `k${place}:k(i:${place}){v}`);
  const planned = planDirectly(parse(`{k{${ks.join(' ')}}}`), schema, ownership);
  expect(JSON.stringify(planned).match(/Flatten/g)).toHaveLength(20);
  expect(looks).toBe(1);
});

const ARGUMENTS: Readonly<Record<string, unknown>> = {
  first: 5,
  keys: [{ email: 'a@example.com' }],
};

// Cast: Object.keys knows no key types.
test.each(Object.keys(SURFACES) as SurfaceName[])(
  "generated operations of the %s surface have the plans of Apollo's planner",
  (surface) => {
    const { schema, plan } = openPlanners(surfaceSdl(COMMITTED, surface));
    for (let seed = 0; seed < 60; seed += 1) {
      const { query } = generateOperation(schema, seed, (name) => ARGUMENTS[name] ?? 'a');
      const { direct, apollo } = plan(withoutConditions(parse(query)));
      // Interfaces are left to Apollo's planner.
      if (direct === 'none' && query.includes('node(id:')) continue;
      expect({ query, plan: direct }).toEqual({ query, plan: apollo() });
    }
  },
);

/** Under several conditions, the same field may be selected in more than one way. */
function withoutConditions(document: DocumentNode): DocumentNode {
  return visit(document, { Directive: () => null });
}

/** The calls of a plan in one form. Apollo's selects type names that nobody reads. */
function callsOf(node: PlanNode | undefined, path: readonly unknown[] = []): unknown {
  if (node === undefined) return undefined;
  switch (node.kind) {
    case 'Fetch': {
      const { serviceName, requires, operation, variableUsages = [] } = node;
      return {
        serviceName,
        path,
        requires,
        operation: sorted(operation),
        variables: [...variableUsages].sort(),
      };
    }
    case 'Flatten':
      return callsOf(node.node, node.path);
    case 'Sequence':
      return node.nodes.flatMap((each) => callsOf(each, path));
    case 'Condition': {
      const { kind: _, ifClause, elseClause, ...rest } = node;
      const [then, otherwise] = [ifClause, elseClause].map((each) => callsOf(each, path));
      return { ...rest, then, otherwise };
    }
    case 'Parallel':
      return { parallel: node.nodes.map((each) => JSON.stringify(callsOf(each, path))).sort() };
    case 'Defer':
      throw new Error('no graph has @defer');
  }
}

function sorted(operation: string): string {
  const byText = <Node extends Parameters<typeof print>[0]>(nodes: readonly Node[] = []): Node[] =>
    nodes.toSorted((a, b) => (print(a) < print(b) ? -1 : 1));
  const document = visit(parse(operation), {
    Field: ({ name }) => (name.value === '__typename' ? null : undefined),
    SelectionSet: { leave: (set) => ({ ...set, selections: byText(set.selections) }) },
    OperationDefinition: {
      leave: (node) => ({ ...node, variableDefinitions: byText(node.variableDefinitions) }),
    },
  });
  return print(document);
}

test.each([
  // The first is run by our own code, the second by Apollo's.
  ['lists of lists', '{ all: cubes { c: color } }', ['all', 1, 0, 0, 'c'], 'no color'],
  ['interface objects', '{ all: accounts { n: logins(last: 13) } }', ['all', 2, 'n'], 'unlucky'],
])(
  'an error on %s has the path of its object, by the names of the caller',
  async (name, ...rest) => {
    const [query, path, message] = rest;
    const { supergraph, transports } = openGraph(graphNamed(name));
    const executor = await openExecutor(undefined, supergraph, transports, createCaches());
    opened.push(executor);
    const { errors } = await execute(executor, query);
    expect(errors).toEqual([expect.objectContaining({ path, message })]);
  },
);

function graphNamed(name: string): TestGraph {
  const graph = GRAPHS[name];
  if (graph === undefined) throw new Error('the table has this graph');
  return graph;
}

test("a plan that Apollo's code runs has its response counted and stopped as any other", async () => {
  const { supergraph, transports } = openGraph(graphNamed('interface objects'));
  const executor = await openExecutor(undefined, supergraph, transports, createCaches());
  opened.push(executor);
  const size = new ResponseSize();
  size.add(1024 * 1024 - 20);
  const asked = execute(executor, '{ accounts { id kind } }', { size });
  await expect(asked).rejects.toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
});

test('lone surrogates count as the escapes that they are written as', () => {
  const size = new ResponseSize(1_000);
  size.addString('\ud83c\udf88'.repeat(100));
  expect(size.bytes).toBe(202);
  expect(() => size.addString('\ud83c'.repeat(160))).toThrow('larger than');
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
  const executor = await openExecutor(undefined, supergraph, transports, createCaches());
  opened.push(executor);
  await expect(execute(executor, '{ a { field } }')).rejects.toThrow('in no subgraph');
  const named = await execute(executor, '{ name: __typename a @skip(if: true) { field } }');
  expect(named.data).toEqual({ name: 'Query' });
});

// What subgraphs cannot do to the callers of others, whatever they answer.

const LIST = '{ members(first: 100) { edges { node { memberId tier points } } } }';

/** Executes LIST with so many members, about which standings answers. */
async function list(members: number, standings: (request: SubgraphRequest) => SubgraphResponse) {
  const edges = Array.from({ length: members }, (_, n) => ({
    node: { __typename: 'PartnerMemberRead', memberId: `m${n}` },
  }));
  const found = () => ({ data: { members: { edges } } });
  const { executor } = await openCommitted('partner', found, standings);
  const result = await execute(executor, LIST);
  return { result, response: buildResponse(result, new Set(['members']), 'r', () => {}) };
}

test("errors of one subgraph push out no other one's, and do not name it", () => {
  const errorOf = (subgraph: string | undefined, n: number) => ({
    ...{ message: `${subgraph} ${n}`, path: ['members', n], subgraph },
    extensions: { code: 'NOT_FOUND' },
  });
  const errors = Array.from({ length: 10 }, (_, n) => errorOf('evil', n));
  const others = [errorOf('offers', 10), errorOf(undefined, 11), errorOf('offers', 12)];
  const result = { data: { members: null }, errors: [...errors, ...others], nullViolations: [] };
  const { body } = buildResponse(result, new Set(['members']), 'r', () => {});
  const shown = [0, 1, 2, 3, 4, 5].map((n) => `evil ${n}`);
  expect(body.errors?.map(({ message }) => message)).toEqual([
    ...shown,
    'offers 10',
    'undefined 11',
  ]);
  expect(JSON.stringify(body)).not.toContain('"subgraph"');
});

describe("a team's field of a union, in a plan that Apollo's code runs", () => {
  const GRAPH: TestGraph = {
    subgraphs: {
      core: {
        sdl: `type Query { member: Member  nobody: Member }
          type Member @key(fields: "id") { id: ID!  name: String }`,
        roots: { member: { id: '1', name: 'Ada' }, nobody: null },
      },
      evil: {
        sdl: `type Query { evil: Int }
          type Member @key(fields: "id") { id: ID!  evt: [Thing] }  union Thing = Sh | Bee
          type Sh @key(fields: "id") { id: ID! }  type Bee @key(fields: "id") { id: ID! }`,
      },
      friend: {
        sdl: `type Sh @key(fields: "id") { id: ID!  fr: Fr }  type Fr { n: Int }
          type Bee @key(fields: "id") { id: ID!  n: Int }`,
        entities: { Sh: [{ id: '1', fr: { n: 5 } }] },
      },
    },
  };
  const ASKED = 'member { name evt { ... on Sh { fr { n } } ... on Bee { n } } }';

  async function askWith(query: string, response: SubgraphResponse) {
    const { supergraph, transports } = openGraph(GRAPH);
    const evil = { ...transports.core, execute: () => response } as Transport;
    const all = { ...transports, evil };
    const executor = await openExecutor(undefined, supergraph, all, createCaches());
    opened.push(executor);
    const result = await execute(executor, query);
    const keys = new Set(['member', 'nobody', 'evt', 'fr', 'n', 'evil']);
    return buildResponse(result, keys, 'r', () => {});
  }
  const shown = ({ body }: Awaited<ReturnType<typeof askWith>>) => ({
    data: body.data,
    errors: body.errors?.map(({ path, extensions }) => [path, extensions.code]),
  });
  const entity = (evt: unknown) => ({ data: { _entities: [{ evt }] } });

  test.each([['x'], [5], [{}], [{ __typename: 'Sh', id: '1' }], [[['x']]]])(
    '%j for a list is null, with an error',
    async (evt) => {
      const isList = Array.isArray(evt);
      expect(shown(await askWith(`{ ${ASKED} }`, entity(evt)))).toEqual({
        data: { member: { name: 'Ada', evt: isList ? [null] : null } },
        errors: [[isList ? ['member', 'evt', 0] : ['member', 'evt'], 'INTERNAL_SERVER_ERROR']],
      });
    },
  );

  test("a text in place of another one's object loses nothing else", async () => {
    const evt = [{ __typename: 'Sh', id: '1', fr: 'text' }];
    const { data, errors } = shown(await askWith(`{ ${ASKED} }`, entity(evt)));
    expect(data).toEqual({ member: { name: 'Ada', evt: [{ fr: null }] } });
    expect(errors?.map(([, code]) => code)).toContain('INTERNAL_SERVER_ERROR');
  });

  test('a list that takes too long is refused, and nothing else is', async () => {
    const evt = Array.from({ length: 33_000 }, () => ({ __typename: 'Sh', id: '1' }));
    const { data, errors } = shown(await askWith(`{ ${ASKED} }`, entity(evt)));
    expect(data).toMatchObject({ member: { name: 'Ada' } });
    expect(errors?.map(([, code]) => code)).toEqual(['OPERATION_TOO_COMPLEX']);
  });

  test.each([
    ['{ evil nobody { name } }', 'evil'],
    ['{ mine: evil nobody { name } }', 'mine'],
  ])('an error without a path is about what was asked for: %s', async (query, root) => {
    const error = { message: 'E', extensions: { code: 'EVIL' } };
    const response = await askWith(query, { data: { evil: null }, errors: [error] });
    expect(response.status).toBe(200);
    expect(shown(response)).toEqual({
      data: { [root]: null, nobody: null },
      errors: [[[root], 'EVIL']],
    });
  });
});

test('thousands of errors about no entity become a thousand at most, and six for the caller', async () => {
  const errors = Array.from({ length: 1_000 }, (_, n) => ({
    message: 'x',
    path: [`r${n % 10}`, 'y'],
    extensions: { code: 'NOT_FOUND' },
  }));
  const { result, response } = await list(100, ({ entityTypes = [] }) => ({
    data: { _entities: entityTypes.map(() => null) },
    errors,
  }));
  expect(result.errors).toHaveLength(1_000);
  expect(response.body.errors).toHaveLength(6);
});

test.each([-1, 2])(
  'an error of an entity %d that there is not is about those that were asked for',
  async (index) => {
    const path = ['_entities', index, 'memberByEmail'];
    const errors = [{ message: 'x', path, extensions: { code: 'NOT_FOUND' } }];
    const { result } = await list(2, ({ entityTypes = [] }) => ({
      data: { _entities: entityTypes.map(() => ({ tier: 'GOLD', points: 7 })) },
      errors,
    }));
    const paths = result.errors.map((error) => error.path ?? []);
    expect(paths.map((one) => one.filter((step) => typeof step === 'number'))).toEqual([[0], [1]]);
    expect(paths.flat()).not.toContain('memberByEmail');
  },
);

test('a subgraph is asked for 2,000 entities of a list, and not for 2,001', async () => {
  const asked: number[] = [];
  const standings = ({ entityTypes = [] }: SubgraphRequest) => {
    asked.push(entityTypes.length);
    return { data: { _entities: entityTypes.map(() => ({ tier: 'GOLD', points: 7 })) } };
  };
  await list(2_000, standings);
  const { response } = await list(2_001, standings);
  expect(asked).toEqual([2_000]);
  expect(response.codes).toContain('OPERATION_TOO_COMPLEX');
});

test('a value that is nested too deeply is null, and the fields beside it stay', async () => {
  const schema = buildSchema('scalar Any type Query { any: Any other: Int }');
  const shape = compileShape(schema, parse('{ any other }'), {}, ({ name }) => name.value);
  const violations = new Violations();
  const shaping = { size: new ResponseSize(), violations };
  const data = await shape.complete({ any: TOO_DEEP, other: 1 }, shaping);
  expect([data?.any, data?.other, violations.paths]).toEqual([null, 1, [['any']]]);
});

test('no subgraph answers for another one', async () => {
  const standings = ({ entityTypes = [] }: SubgraphRequest) => ({
    data: { _entities: entityTypes.map(() => ({ memberId: 'forged', tier: 'GOLD', points: 7 })) },
  });
  const { result } = await list(2, standings);
  const nodes = ['m0', 'm1'].map((memberId) => ({ node: { memberId, tier: 'GOLD', points: 7 } }));
  expect(result.data).toEqual({ members: { edges: nodes } });
});

describe('a union of many types', () => {
  const names = Array.from({ length: 300 }, (_, n) => `T${n}`);
  const types = names.map(
    (name, n) => `type ${name} implements I { id: ID memberId: ID f${n}: [U] }`,
  );
  const schema = buildSchema(
    `type Query { u: [U] } interface I { id: ID } union U = ${names.join(' | ')} ${types.join(' ')}`,
  );

  test('finds the place of an error without looking at each of the types', () => {
    let looked = 0;
    const nameOf = ({ name }: FieldNode) => {
      looked += 1;
      return name.value;
    };
    const query = `query ($no: Boolean!) {
      u { ... on I { a: id b: id c: id } ... on T7 @skip(if: $no) { f: memberId } ... on U { ... on T299 { own: f299 { ...F } } } } }
      fragment F on U { ... on T5 { last: memberId } }`;
    const shape = compileShape(schema, parse(query), { no: true }, nameOf);
    const places = (...path: (string | number)[]) => shape.responsePaths(['u', 1, ...path], false);
    expect(places('f299', 3, 'memberId')).toEqual([['u', 1, 'own', 3, 'last']]);
    expect(places('memberId')).toEqual([['u', 1]]);
    for (let n = 0; n < 100; n += 1) expect(places(`f${n}`)).toEqual([['u', 1]]);
    expect(looked).toBeLessThan(50);
  });

  test('has its fields counted for each type that the data has', async () => {
    let compiled = 0;
    const count = (fields: number) => {
      compiled += fields;
    };
    const query = parse('{ u { ... on I { a: id b: id } } }');
    const name = (field: FieldNode) => field.name.value;
    const shape = compileShape(schema, query, {}, name, new Set(), count);
    const u = [0, 1, 2, 0].map((n) => ({ __typename: `T${n}`, id: 'x' }));
    const shaping = { size: new ResponseSize(), violations: new Violations() };
    expect(await shape.complete({ u }, shaping)).toMatchObject({ u: u.map(() => ({ b: 'x' })) });
    expect(compiled).toBe(1 + 3 * 2);
  });

  test('is not compiled for more types than a process has room for in a flood', async () => {
    const fields = Array.from({ length: 40 }, (_, n) => `a${n}: id`);
    const query = parse(`{ u { ... on I { ${fields.join(' ')} } } }`);
    const shape = compileShape(schema, query, {}, ({ name }) => name.value);
    const complete = (types: number) => {
      const u = names.slice(0, types).map((__typename) => ({ __typename, id: 'x' }));
      return shape.complete({ u }, { size: new ResponseSize(), violations: new Violations() });
    };
    expect(await complete(240)).toHaveProperty('u');
    await expect((async () => complete(260))()).rejects.toMatchObject({
      code: 'OPERATION_TOO_COMPLEX',
    });
  });

  test('is not asked for the IDs of members more often than a gateway can plan', () => {
    const withSets = (count: number) => {
      const sets = Array.from({ length: count }, (_, n) => `a${n}: f1 { __typename }`);
      return withMemberIds(parse(`{ u { ... on T1 { ${sets.join(' ')} } } }`), schema, new Set());
    };
    expect(print(withSets(5)).match(/memberId/g)).toHaveLength(6 * 300 + 1);
    expect(() => withSets(6)).toThrow('too many types');
  });
});

/** How many ticks of the event loop pass until the promise settles. */
async function ticksDuring(promise: unknown): Promise<number> {
  let [ticks, isSettled] = [0, false];
  void Promise.resolve(promise).finally(() => {
    isSettled = true;
  });
  for (; !isSettled && ticks < 1_000; ticks += 1) await nextTick();
  return ticks;
}

test('a large response is shaped in many ticks, an ordinary one at once, and both are whole', async () => {
  const sdl =
    'type Query { rows: [Row], last: Int } type Row { cells: [Cell!], id: ID! } type Cell { n: Int! }';
  const document = parse('{ rows { cells { n } id } last }');
  const shape = compileShape(buildSchema(sdl), document, {}, ({ name }) => name.value);
  const dataOf = (rows: number, bad?: object) => {
    const cells = (row: number) => Array.from({ length: 50 }, (_, n) => ({ n: row + n }));
    const all = Array.from({ length: rows }, (_, row) => ({ cells: cells(row), id: `r${row}` }));
    return { rows: bad === undefined ? all : [...all, bad], last: 1 };
  };
  const complete = (data: object, bytes?: number) => {
    const violations = new Violations();
    const shaping = { size: new ResponseSize(bytes), violations };
    return { completed: shape.complete({ ...data }, shaping), violations };
  };
  expect(complete(dataOf(100)).completed).toEqual(dataOf(100));
  const bad = { cells: [{ n: 1 }, { n: null }], id: 'bad' };
  const { completed, violations } = complete(dataOf(400, bad));
  expect(completed).toBeInstanceOf(Promise);
  const [passed] = await Promise.all([ticksDuring(completed), completed]);
  expect(passed).toBeGreaterThan(1);
  expect(await completed).toEqual(dataOf(400, { cells: null, id: 'bad' }));
  expect(violations.paths).toEqual([['rows', 400, 'cells', 1, 'n']]);
  expect(await complete(dataOf(400, { cells: [], id: null })).completed).toMatchObject({
    rows: [...dataOf(400).rows, null],
    last: 1,
  });
  await expect(complete(dataOf(400), 200_000).completed).rejects.toMatchObject({
    code: 'OPERATION_TOO_COMPLEX',
  });
});

test('hundreds of errors about fields with many aliases are about the first one, in each root field', async () => {
  const aliases = Array.from({ length: 20 }, (_, n) => `e${n}: email`).join(' ');
  const roots = Array.from({ length: 8 }, (_, n) => {
    return `a${n}: members(first: 100) { edges { node { ${aliases} } } }`;
  });
  const { executor } = await openCommitted('partner', () => ({
    data: {},
    errors: Array.from({ length: 800 }, (_, n) => ({
      message: 'x',
      path: [`as__${n % 8}`, 'edges', n >> 3, 'node', 'email'],
      extensions: { code: 'NOT_FOUND' },
    })),
  }));
  const result = await execute(executor, `{ ${roots.join(' ')} }`);
  expect(result.errors.length).toBeLessThan(2_000);
  const names = roots.map((root) => root.slice(0, 2));
  const { body } = buildResponse(result, new Set(names), 'r', () => {});
  expect(new Set(body.errors?.map(({ path }) => path?.[0]))).toEqual(new Set(names));
});

// The planner thread: an operation that it cannot plan ends neither the process nor other plans.

/** Apollo's planner goes round in circles for it. */
const ENDLESS = '{ last { __typename ... on User { label } } }';

test('OPERATION_TOO_COMPLEX for an operation whose planning never ends, and plans and planners for the others', async () => {
  const graph = graphNamed('interface objects with @requires');
  const planner = await openThreadPlanner(openGraph(graph).supergraph, undefined);
  const endless = planner.plan(ENDLESS, { isAbstract: true });
  const behind = planner.plan('{ users { kind } }', { isAbstract: false });
  await nextTick(); // Now both wait in the thread.
  const opening = openThreadPlanner(openGraph(graph).supergraph, undefined);
  await expect(endless).rejects.toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  expect((await behind).plan).toContain('users');
  expect((await planner.plan('{ users { id } }', { isAbstract: false })).plan).toContain('users');
  const opened = await opening;
  expect((await opened.plan('{ users { id } }', { isAbstract: false })).plan).toContain('users');
  opened.close();
  planner.close();
});

test('the plans of an owner wait for each other, and those of others for one of them', async () => {
  const { supergraph } = openGraph(graphNamed('interface objects'));
  const planner = await openThreadPlanner(supergraph, undefined);
  const order: string[] = [];
  const plan = async (owner: string, alias: string) => {
    await planner.plan(`{ accounts { ${alias}: id } }`, { isAbstract: true, owner });
    order.push(alias);
  };
  await Promise.all([plan('one', 'a'), plan('one', 'b'), plan('one', 'c'), plan('two', 'd')]);
  expect(order).toEqual(['a', 'd', 'b', 'c']);
  planner.close();
});

test('an operation that was not planned is planned anew the next time it is asked for', async () => {
  const graph = graphNamed('interface objects with @requires');
  const { supergraph } = openGraph(graph);
  const planner = await openPlanner(supergraph, undefined, createCaches());
  const refused = { code: 'OPERATION_TOO_COMPLEX' };
  await expect(planner.plan(ENDLESS)).rejects.toMatchObject(refused);
  let isPlanning = true;
  const again = Promise.resolve(planner.plan(ENDLESS)).finally(() => {
    isPlanning = false;
  });
  await nextTick();
  expect(isPlanning).toBe(true);
  await expect(again).rejects.toMatchObject(refused);
  planner.close();
});

test.each(['partner', 'member'] as const)(
  'the facts of the committed %s surface are what the thread reports, and of another graph unknown',
  async (surface) => {
    const { plan: _, close, ...facts } = await openThreadPlanner(COMMITTED, surface);
    close();
    const known = committedFacts(COMMITTED, surface);
    const comparable = (sdl = '') => printSchema(buildSchema(sdl));
    expect({ ...known, sdl: comparable(known?.sdl) }).toEqual({
      ...facts,
      sdl: comparable(facts.sdl),
    });
    expect(committedFacts(`${COMMITTED}#`, surface)).toBeUndefined();
  },
);

// What each surface shows, and how its reads are planned.

test('a surface shows only its own fields and the types they lead to', async () => {
  const schemaOf = async (surface: SurfaceName) =>
    printSchema((await openCommitted(surface)).executor.schema);
  const partner = await schemaOf('partner');
  const member = await schemaOf('member');
  expect(partner).toContain('memberByEmail(email: String!): PartnerMemberRead');
  expect(partner).toContain('input EnrollMemberInput');
  expect(partner).not.toMatch(
    /MemberProfile|PartnerStanding|MembershipYearStats|activePartnerIds|@tag|_entities|join__/,
  );
  expect(member).toContain('memberProfile(id: ID!): MemberProfile');
  expect(member).not.toMatch(
    /PartnerMemberRead|EnrollMember|activePartnerIds|memberByEmail|_entities/,
  );
});

test('a field without a tag is on no surface, but others may be computed from it', async () => {
  const profile = { __typename: 'MemberProfile', memberId: 'm', activePartnerIds: ['p'] };
  const partnerStandings = [{ partnerId: 'p', tier: 'GOLD', points: 7 }];
  const { executor, standings } = await openCommitted(
    'member',
    () => ({ data: { memberProfile: profile } }),
    () => ({ data: { _entities: [{ partnerStandings }] } }),
  );
  const query = '{ memberProfile(id: "m") { partnerStandings { partnerId tier points } } }';
  const caller = { kind: 'member', memberId: 'm' } as const;
  expect(await execute(executor, query, { caller })).toMatchObject({
    data: { memberProfile: { partnerStandings } },
  });
  expect(standings[0]).toMatchObject({
    caller,
    requestId: 'r',
    variables: { representations: [{ activePartnerIds: ['p'] }] },
  });
});

test('a read asks each subgraph once, and a look-up without a result does not ask standings', async () => {
  const found = { __typename: 'PartnerMemberRead', memberId: 'm', email: 'e' };
  const { executor, members, standings } = await openCommitted(
    'partner',
    ({ query }) => ({
      data: query.includes('as__1:') ? { as__0: found, as__1: null } : { as__0: null },
    }),
    () => ({ data: { _entities: [{ tier: 'GOLD', points: 7 }] } }),
  );
  const one = 'a: memberByEmail(email: "a") { email tier points }';
  await execute(executor, `{ ${one} b: memberByEmail(email: "b") { email tier points } }`);
  expect([members.length, standings.length]).toEqual([1, 1]);
  await execute(executor, `{ ${one} }`);
  expect([members.length, standings.length]).toEqual([2, 1]);
});

test('a document shows what its variables skip and include, whatever it was executed with before', async () => {
  const found = { __typename: 'PartnerMemberRead', memberId: 'm', email: 'e', firstName: 'f' };
  const { executor } = await openCommitted('partner', () => ({ data: { as__0: found } }));
  const query = `query ($skip: Boolean!, $include: Boolean!) {
    a: memberByEmail(email: "a") { memberId email @skip(if: $skip) firstName @include(if: $include) } }`;
  for (const skip of [false, true])
    for (const include of [true, false]) {
      const variables = { skip, include };
      const { data } = await execute(executor, query, { variables, coerced: variables });
      const shown = {
        memberId: 'm',
        ...(!skip && { email: 'e' }),
        ...(include && { firstName: 'f' }),
      };
      expect({ ...variables, data }).toEqual({ ...variables, data: { a: shown } });
    }
});

test('each root field of a mutation is executed, and equal reads are one', () => {
  const schema = buildSchema(
    'type Query { a: A } type Mutation { add(n: Int): Int } type A { x: Int y(n: Int): Int }',
  );
  const renamed = (query: string) =>
    print(renameFields(parse(query), schema, fieldsOf(parse(printSchema(schema)))).document);
  const twice = 'mutation { p: add(n: 1) q: add(n: 1) }';
  expect(renamed(twice).match(/add/g)).toHaveLength(2);
  expect(renamed('{ a { p: y(n: 1) q: y(n: 1) r: y(n: 2) } }').match(/y\(/g)).toHaveLength(2);
  expect(renamed('{ p: a { q: x } }')).toBe(renamed('{ other: a { x } }'));
});

describe('a graph of another team', () => {
  const TAGS = '@tag(name: "partner") @tag(name: "member")';
  const LINK =
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@tag"])';

  async function openOn(sdl: string, data: Record<string, unknown>) {
    const offers = recording(() => ({ data }));
    const typeDefs = parse(`${LINK}\n${sdl}`);
    const { supergraphSdl: graph = '' } = composeServices([
      { name: 'offers', url: 'http://offers', typeDefs },
    ]);
    const surface = await openSurface('partner', graph, { offers }, createCaches());
    const run = async (query: string) => {
      const document = parseDocument(query);
      const operation = surface.prepare(document, document.operations[0]);
      const call = { variables: {}, caller: CALLER, requestId: 'r' };
      return JSON.parse(JSON.stringify(await surface.execute(operation, call)));
    };
    opened.push(surface);
    return { run, surface };
  }

  test.each([
    ['is direct', 'Place'],
    ["is Apollo's", 'Any'],
  ])(
    'has a list where an object is due as an error at its path, if the plan %s',
    async (_, type) => {
      const sdl = `interface Any { name: String ${TAGS} in: ${type} ${TAGS} }
      type Place implements Any { name: String ${TAGS} in: ${type} ${TAGS} }
      type Query { place: ${type} ${TAGS} }`;
      const place = { __typename: 'Place', name: 'n' };
      const nowhere = { name: 'n', in: null };
      const shapes: [given: unknown, shown: unknown, paths: string[][]][] = [
        [[], null, [['place']]],
        [[place], null, [['place']]],
        ['text', null, [['place']]],
        [{ ...place, in: [place] }, nowhere, [['place', 'in']]],
        [{ ...place, in: 7 }, nowhere, [['place', 'in']]],
      ];
      for (const [given, shown, paths] of shapes) {
        const { run } = await openOn(sdl, { place: given });
        const { data, nullViolations } = await run('{ place { name in { name } } }');
        expect([data.place, nullViolations]).toEqual([shown, paths]);
      }
    },
  );

  test('has names that every object of JavaScript has', async () => {
    const { run } = await openOn(
      `scalar toString scalar constructor
       input valueOf { toString: toString constructor: constructor = {} }
       type hasOwnProperty { toString: toString ${TAGS} constructor: constructor ${TAGS} }
       type Query { toString(valueOf: valueOf): hasOwnProperty ${TAGS} constructor: toString ${TAGS} }`,
      { toString: { toString: { a: 1 } }, constructor: [1] },
    );
    const names = await run('{ __type(name: "valueOf") { inputFields { name defaultValue } } }');
    expect(names.data.__type.inputFields).toEqual([
      { name: 'toString', defaultValue: null },
      { name: 'constructor', defaultValue: '{}' },
    ]);
    const { data } = await run('{ toString { toString constructor } constructor }');
    expect(data).toEqual({ toString: { toString: { a: 1 }, constructor: null }, constructor: [1] });
    const aliased = await run('{ __proto__: constructor toString { __proto__: toString } }');
    expect(JSON.stringify(aliased.data)).toBe('{"__proto__":[1],"toString":{"__proto__":{"a":1}}}');
  });

  test('shows the default values of custom scalars, whatever they are', async () => {
    const values = ['{}', '{a: [1, {b: null}]}', '[]', '["x", true]', '7', 'null'];
    const args = values.map((value, index) => `a${index}: Filter = ${value}`).join(' ');
    const { run, surface } = await openOn(
      `scalar Filter type Query { later(${args} n: Int = 3 all: [Filter!] = [{}]): String ${TAGS} }`,
      {},
    );
    const { data } = await run(
      '{ __type(name: "Query") { fields { args { defaultValue } } } s: __type(name: "Filter") { name } }',
    );
    expect(data.s).toEqual({ name: 'Filter' });
    const shown = data.__type.fields[0].args.map(
      (each: { defaultValue: string }) => each.defaultValue,
    );
    expect(shown).toEqual([...values, '3', '[{}]']);
    expect(surface.sdl).toContain('a0: Filter = {}, a1: Filter = {a: [1, {b: null}]}');
    expect((await run('{ later }')).data).toEqual({ later: null });
  });

  test('a long default value is written once, however often it is asked for', async () => {
    const value = `[${'{a: 1}'.repeat(5_000)}]`;
    const { run } = await openOn(`scalar Any type Query { f(a: Any = ${value}): Int ${TAGS} }`, {});
    const aliases = Array.from({ length: 18 }, (_, n) => `a${n}: defaultValue`).join(' ');
    const query = `{ __type(name: "Query") { fields { args { ${aliases} } } } }`;
    const cpuMs = async (work: () => unknown) => {
      const start = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    await run(query);
    const node = parseValue(value);
    const written = await cpuMs(() => Array.from({ length: 18 }, () => print(node)));
    expect(await cpuMs(() => run(query))).toBeLessThan(written / 2);
  });
});

describe('surfaceSdl', () => {
  const sdl = (body: string) => `directive @tag(name: String!) repeatable on FIELD_DEFINITION
    directive @link(url: String) repeatable on SCHEMA
    schema @link(url: "https://specs.apollo.dev/link/v1.0") { query: Query } ${body}`;

  test('hides types that no visible field leads to, including enums, inputs and unions', () => {
    const cut = surfaceSdl(
      sdl(`type Query { a(x: In): A @tag(name: "partner") b: B } type A { c: E @tag(name: "partner") d: B } type B { e: F }
        enum E { X } enum F { Y } input In { n: Nested } input Nested { s: String } input Other { s: String } union U = A | B`),
      'partner',
    );
    const hidden = (name: string) =>
      new RegExp(`(type|enum|input|union) ${name}\\b[^{=]*@inaccessible`).test(cut);
    expect(['B', 'F', 'Other', 'U'].every(hidden)).toBe(true);
    expect(['Query', 'A', 'E', 'In', 'Nested'].some(hidden)).toBe(false);
    expect(() => buildSchema(cut, { assumeValidSDL: true })).not.toThrow();
  });

  test('refuses a visible field whose type has no visible field', () => {
    expect(() =>
      surfaceSdl(sdl('type Query { a: A @tag(name: "partner") } type A { b: Int }'), 'partner'),
    ).toThrow(/A.*on the partner surface/);
  });
});

// Which members are seen in responses, whatever the caller selects.

const ADA = { __typename: 'PartnerMemberRead', memberId: 'ada', email: 'ada@example.com' };

/** Executes a query for which members answers `data`, or standings if it records. */
async function seen(
  query: string,
  data: object,
  {
    surface = 'partner',
    size = new ResponseSize(),
    records = false,
  }: { surface?: SurfaceName; size?: ResponseSize; records?: boolean } = {},
): Promise<{ accesses: MemberAccess[]; asked: string[]; result: unknown }> {
  const shown = ({ entityTypes = [] }: SubgraphRequest) => ({
    data: { _entities: entityTypes.map(() => ({ tier: 'GOLD', points: 7, as__0: [] })) },
  });
  // Cast: a test answers with objects.
  const answer = () => ({ data: data as Record<string, unknown> });
  const { executor, ...subgraphs } = await openCommitted(
    surface,
    answer,
    records ? answer : shown,
    true,
  );
  const accesses = new Accesses(1);
  const result = await execute(executor, query, { size, accesses }).catch((error) => error);
  const asked = subgraphs[records ? 'standings' : 'members'].map((each) => each.query);
  return { accesses: [...accesses], asked, result };
}

test.each([
  ['{ memberByEmail(email: "a") { email } }', ['email']],
  ['{ memberByEmail(email: "a") { memberId: email } }', ['email']],
  ['{ memberByEmail(email: "a") { memberId } }', ['memberId']],
  ['{ memberByEmail(email: "a") { __typename } }', ['__typename']],
  [
    '{ memberByEmail(email: "a") { ...F tier } } fragment F on PartnerMemberRead { e: email }',
    ['email', 'tier'],
  ],
])('%s shows the member', async (query, fields) => {
  const { accesses, result } = await seen(query, { memberByEmail: ADA });
  expect(accesses).toEqual([{ operation: 'memberByEmail', memberId: 'ada', fields }]);
  expect(JSON.stringify(result)).not.toMatch(/"memberId":"ada".*"memberId":"ada"/);
});

test('the response has only what the caller selects', async () => {
  const { result } = await seen('{ memberByEmail(email: "a") { email } }', { memberByEmail: ADA });
  expect(result).toMatchObject({ data: { memberByEmail: { email: 'ada@example.com' } } });
  expect(JSON.stringify(result)).not.toContain('memberId');
});

test('a member who is not found is not seen', async () => {
  const query = '{ a: memberByEmail(email: "a") { email } }';
  expect((await seen(query, { as__0: null })).accesses).toEqual([]);
});

test('a member who is found but cannot be shown is seen without fields', async () => {
  const query = '{ memberByEmail(email: "a") { memberId email } }';
  const { accesses } = await seen(query, { memberByEmail: { ...ADA, email: null } });
  expect(accesses).toEqual([{ operation: 'memberByEmail', memberId: 'ada', fields: [] }]);
});

test('a text that is longer than an ID can be is nobody', async () => {
  const query = '{ memberByEmail(email: "a") { email } }';
  const seenAs = async (memberId: string) =>
    (await seen(query, { memberByEmail: { ...ADA, memberId } })).accesses.length;
  expect([await seenAs('\u{1f3e8}'.repeat(128)), await seenAs('m'.repeat(129))]).toEqual([1, 0]);
});

test('aliases are seen one by one', async () => {
  const query =
    '{ one: memberByEmail(email: "a") { email } two: memberByExternalId(externalId: "b") { email } }';
  const data = { as__0: ADA, as__1: { ...ADA, memberId: 'bob' } };
  expect((await seen(query, data)).accesses).toEqual([
    { operation: 'memberByEmail', memberId: 'ada', fields: ['email'] },
    { operation: 'memberByExternalId', memberId: 'bob', fields: ['email'] },
  ]);
});

test('a mutation has changed its member, even if the caller selects nothing of it', async () => {
  const query = 'mutation { enrollMember(input: { email: "a" }) { created } }';
  const { accesses, asked } = await seen(query, { enrollMember: { created: true, member: ADA } });
  expect(asked[0]).toContain('member{memberId}');
  expect(accesses).toEqual([{ operation: 'enrollMember', memberId: 'ada', fields: [] }]);
});

test.each([
  ['endEnrollment(memberId: "ada") { __typename }', { endEnrollment: { memberId: 'ada' } }],
  [
    'exchangeMagicLink(token: "t") { idToken }',
    { exchangeMagicLink: { memberId: 'ada', idToken: 'x' } },
  ],
])('%s names its member', async (field, data) => {
  const { accesses } = await seen(`mutation { ${field} }`, data);
  expect(accesses).toEqual([expect.objectContaining({ memberId: 'ada' })]);
});

test('a mutation names the members whose IDs only the log has, and callers cannot select them', async () => {
  const activity =
    '{ activityId: "a", memberId: "ada", points: 1, occurredAt: "2026-01-01T00:00:00Z" }';
  const query = `mutation { recordActivities(activities: [${activity}, ${activity}]) { outcome } }`;
  const recorded = [
    { outcome: 'RECORDED', memberId: 'ada' },
    { outcome: 'NOT_ENROLLED', memberId: null },
  ];
  const { accesses, asked, result } = await seen(
    query,
    { recordActivities: recorded },
    { records: true },
  );
  expect(asked).toEqual([expect.stringMatching(/\{outcome memberId\}/)]);
  expect(accesses).toEqual([
    { operation: 'recordActivities', memberId: 'ada', fields: ['outcome'] },
  ]);
  expect(result).toMatchObject({
    data: { recordActivities: [{ outcome: 'RECORDED' }, { outcome: 'NOT_ENROLLED' }] },
  });
  expect(JSON.stringify(result)).not.toContain('memberId');
});

test('a mutation whose response is too large has changed its members, without showing them', async () => {
  const query = 'mutation { enrollMember(input: { email: "a" }) { created member { email } } }';
  const data = { enrollMember: { created: true, member: ADA } };
  const { accesses, result } = await seen(query, data, { size: new ResponseSize(10) });
  expect(result).toBeInstanceOf(Error);
  expect(accesses.map(({ memberId, fields }) => ({ memberId, fields }))).toContainEqual({
    memberId: 'ada',
    fields: [],
  });
});

const lookups = (count: number) => ({
  memberLookups: Array.from({ length: count }, (_, n) => ({
    status: 'FOUND',
    member: { ...ADA, memberId: `m${n % 121}` },
  })),
});

test('OPERATION_TOO_COMPLEX if more members are shown than a list of the core can have', async () => {
  const query = '{ memberLookups(keys: []) { member { email } } }';
  const [most, again, tooMany] = [
    await seen(query, lookups(120)),
    await seen(query, { memberLookups: Array(5_000).fill(lookups(1).memberLookups[0]) }),
    await seen(query, lookups(121)),
  ];
  expect([most.accesses.length, again.accesses.length]).toEqual([120, 1]);
  expect(most.result).toMatchObject({ errors: [] });
  expect(tooMany.result).toMatchObject({ message: 'the response shows more than 120 members' });
});

test('a mutation that shows too many members has changed those of its other fields', async () => {
  const activity = '{ activityId: "a", memberId: "m", points: 1, occurredAt: "2026-01-01T00:00Z" }';
  const query = `mutation { recordActivities(activities: [${activity}]) { outcome }
    endEnrollment(memberId: "ada") { memberId } }`;
  const recorded = Array.from({ length: 500 }, (_, n) => ({
    outcome: 'RECORDED',
    memberId: `m${n}`,
  }));
  const data = { recordActivities: recorded, endEnrollment: { memberId: 'ada' } };
  const { accesses, result } = await seen(query, data, { records: true });
  expect(result).toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  expect(accesses).toHaveLength(121);
  expect(accesses.at(-1)).toEqual({ operation: 'endEnrollment', memberId: 'ada', fields: [] });
});

test('a mutation has changed its member, even if too many members are below it', () => {
  const schema = buildSchema(`type Query { m: M } type Mutation { change: M }
    type M { memberId: ID friends: [M] }`);
  const document = parse('mutation { change { friends { memberId } } }');
  const shape = compileShape(schema, document, {}, ({ name }) => name.value);
  const friends = Array.from({ length: 500 }, (_, n) => ({ memberId: `m${n}` }));
  const accesses = new Accesses(1);
  const shaping = { size: new ResponseSize(), violations: new Violations(), accesses };
  const data = { change: { memberId: 'ada', friends } };
  expect(() => shape.complete(data, shaping)).toThrow('the response shows more than 120 members');
  expect([...accesses][0]).toEqual({ operation: 'change', memberId: 'ada', fields: [] });
});

test('a member that places share is shaped once', async () => {
  const schema = buildSchema('type Query { all: [P] } type P { m: M } type M { memberId: ID }');
  const document = parse('{ all { m { memberId } } }');
  const shape = compileShape(schema, document, {}, ({ name }) => name.value);
  const [m, accesses] = [{ memberId: 'ada' }, new Accesses(1)];
  const shaping = { size: new ResponseSize(), violations: new Violations(), accesses };
  const data = await shape.complete({ all: [{ m }, { m }] }, { ...shaping, shared: new Set([m]) });
  // Cast: as the schema has it.
  const all = data?.all as { m: object }[] | undefined;
  expect(all?.[0]?.m).toBe(all?.[1]?.m);
  expect([...accesses]).toEqual([{ operation: 'all', memberId: 'ada', fields: ['memberId'] }]);
});

test('nested fields have their paths in the schema', async () => {
  const query =
    '{ memberProfile(id: "ada") { firstName all: partnerStandings { t: tier points } } }';
  const profile = {
    __typename: 'MemberProfile',
    memberId: 'ada',
    firstName: 'Ada',
    activePartnerIds: [],
  };
  const { accesses } = await seen(query, { memberProfile: profile }, { surface: 'member' });
  expect(accesses).toEqual([
    {
      operation: 'memberProfile',
      memberId: 'ada',
      fields: ['firstName', 'partnerStandings.tier', 'partnerStandings.points'],
    },
  ]);
});
