// How an operation is planned and run.

import { readFileSync } from 'node:fs';
import { setImmediate as nextTick, setImmediate as nextTurn } from 'node:timers/promises';
import { ApolloGateway } from '@apollo/gateway';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import {
  buildSchema,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  parse,
  printSchema,
  validate,
} from 'graphql';
import {
  type GeneratedOperation,
  generateOperation,
} from '../../../test/support/cases/operations.ts';
import { openGraph, type TestGraph } from '../../../test/support/graphs/graph.ts';
import { GRAPHS } from '../../../test/support/graphs/table.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { buildResponse } from '../edge/response.ts';
import { SUPERGRAPH_FILE } from '../graph/committed.ts';
import { committedFacts } from './committed.ts';
import { type Executor, openExecutor } from './executor.ts';
import { openThreadPlanner } from './plan.apollo.ts';
import { openPlanner } from './planner.ts';
import { compileShape, Violations } from './shape.ts';

// Operations on graphs with every feature of federation get the responses of stock @apollo/gateway.
describe('graphs', () => {
  const SEEDS = 12;
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
      expect(operations.length).toBeGreaterThan(graph.writtenOnly ? 0 : SEEDS / 4);
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

    for (const { query, data } of graph.stockIsWrong ?? [])
      test(`${query} is answered right, which stock @apollo/gateway does not`, async () => {
        const operation = { query, variables: {} };
        expect((await askOurs(executor, operation)).data).toEqual(data);
        expect((await stock(operation)).data).not.toEqual(data);
      });
  });

  function operationsOf(graph: TestGraph, schema: GraphQLSchema): GeneratedOperation[] {
    const written = (graph.operations ?? []).map((query) => ({ query, variables: {} }));
    const generated = Array.from({ length: graph.writtenOnly ? 0 : SEEDS }, (_, seed) =>
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

  async function askOurs(
    { schema, execute }: Executor,
    operation: GeneratedOperation,
  ): Promise<Answer> {
    const { query, variables } = operation;
    const { data, errors } = await execute({
      key: query,
      variables,
      coerced: coercedOf(schema, operation) ?? {},
      caller: { kind: 'service' },
      requestId: 'r',
      size: new ResponseSize(),
    });
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

// What subgraphs cannot do to the callers of others, whatever they answer.

const supergraph = readFileSync(SUPERGRAPH_FILE, 'utf8');
const LIST = '{ members(first: 100) { edges { node { memberId tier points } } } }';

function answering(execute: (request: SubgraphRequest) => SubgraphResponse): Transport {
  return { execute, ready: async () => {}, close: async () => {} };
}

/** Executes LIST with so many members, about which standings answers. */
async function list(members: number, standings: (request: SubgraphRequest) => SubgraphResponse) {
  const edges = Array.from({ length: members }, (_, n) => ({
    node: { __typename: 'PartnerMemberRead', memberId: `m${n}` },
  }));
  const first = answering(() => ({ data: { members: { edges } } }));
  const transports = { gateway: first, members: first, standings: answering(standings) };
  const executor = await openExecutor('partner', supergraph, transports, createCaches());
  const caller = { kind: 'partner', partnerId: 'inn' } as const;
  const call = { variables: {}, coerced: {}, caller, requestId: 'r', size: new ResponseSize() };
  const result = await executor.execute({ key: LIST, ...call });
  executor.close();
  return { result, response: buildResponse(result, new Set(['members']), 'r', () => {}) };
}

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

test('a value that is nested too deeply to be written is null, and the fields beside it stay', async () => {
  const schema = buildSchema('scalar Any type Query { any: Any other: Int }');
  const shape = compileShape(schema, parse('{ any other }'), {}, ({ name }) => name.value);
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  const complete = async (depth: number) => {
    const violations = new Violations();
    const shaping = { size: new ResponseSize(), violations };
    const data = await shape.complete({ any: nested(depth), other: 1 }, shaping);
    return [data?.any === null, data?.other, violations.paths];
  };
  expect(await complete(500)).toEqual([false, 1, []]);
  expect(await complete(501)).toEqual([true, 1, [['any']]]);
  expect(await complete(5_000)).toEqual([true, 1, [['any']]]);
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
  const members = answering(() => ({
    data: {},
    errors: Array.from({ length: 800 }, (_, n) => ({
      message: 'x',
      path: [`as__${n % 8}`, 'edges', n >> 3, 'node', 'email'],
      extensions: { code: 'NOT_FOUND' },
    })),
  }));
  const transports = { gateway: members, members, standings: members };
  const executor = await openExecutor('partner', supergraph, transports, createCaches());
  const caller = { kind: 'partner', partnerId: 'inn' } as const;
  const call = { variables: {}, coerced: {}, caller, requestId: 'r', size: new ResponseSize() };
  const result = await executor.execute({ key: `{ ${roots.join(' ')} }`, ...call });
  executor.close();
  expect(result.errors.length).toBeLessThan(2_000);
  const names = roots.map((root) => root.slice(0, 2));
  const { body } = buildResponse(result, new Set(names), 'r', () => {});
  expect(new Set(body.errors?.map(({ path }) => path?.[0]))).toEqual(new Set(names));
});

// The planner thread: an operation that it cannot plan ends neither the process nor other plans.

/** Apollo's planner goes round in circles for it. */
const ENDLESS = '{ last { __typename ... on User { label } } }';

test('OPERATION_TOO_COMPLEX for an operation whose planning never ends, and plans and planners for the others', async () => {
  const graph = GRAPHS['interface objects with @requires'];
  if (graph === undefined) throw new Error('the table has this graph');
  const planner = await openThreadPlanner(openGraph(graph).supergraph, undefined);
  const endless = planner.plan(ENDLESS, true);
  const behind = planner.plan('{ users { kind } }', false);
  await nextTurn(); // Now both wait in the thread.
  const opening = openThreadPlanner(openGraph(graph).supergraph, undefined);
  await expect(endless).rejects.toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  expect((await behind).plan).toContain('users');
  expect((await planner.plan('{ users { id } }', false)).plan).toContain('users');
  const opened = await opening;
  expect((await opened.plan('{ users { id } }', false)).plan).toContain('users');
  opened.close();
  planner.close();
});

test('an operation that was not planned is planned anew the next time it is asked for', async () => {
  const graph = GRAPHS['interface objects with @requires'];
  if (graph === undefined) throw new Error('the table has this graph');
  const { supergraph } = openGraph(graph);
  const planner = await openPlanner(supergraph, undefined, createCaches());
  const refused = { code: 'OPERATION_TOO_COMPLEX' };
  await expect(planner.plan(ENDLESS)).rejects.toMatchObject(refused);
  let isPlanning = true;
  const again = Promise.resolve(planner.plan(ENDLESS)).finally(() => {
    isPlanning = false;
  });
  await nextTurn();
  expect(isPlanning).toBe(true);
  await expect(again).rejects.toMatchObject(refused);
  planner.close();
});

test.each(['partner', 'member'] as const)(
  'the facts of the committed %s surface are what the thread reports, and of another graph unknown',
  async (surface) => {
    const committed = readFileSync(SUPERGRAPH_FILE, 'utf8');
    const { plan: _, close, ...facts } = await openThreadPlanner(committed, surface);
    close();
    const known = committedFacts(committed, surface);
    const comparable = (sdl = '') => printSchema(buildSchema(sdl));
    expect({ ...known, sdl: comparable(known?.sdl) }).toEqual({
      ...facts,
      sdl: comparable(facts.sdl),
    });
    expect(committedFacts(`${committed}#`, surface)).toBeUndefined();
  },
);
