// Operations on graphs with every feature of federation get the responses of stock @apollo/gateway.
import { ApolloGateway } from '@apollo/gateway';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { type GraphQLSchema, getVariableValues, Kind, parse, validate } from 'graphql';
import {
  type GeneratedOperation,
  generateOperation,
} from '../../../test/support/cases/operations.ts';
import { openGraph, type TestGraph } from '../../../test/support/graphs/graph.ts';
import { GRAPHS } from '../../../test/support/graphs/table.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { type Executor, openExecutor } from './executor.ts';

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
  // Some generated ones have two fields of one name that do not merge, or null for a non-null type.
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
 * By value, as stock groups a fragment's fields. Errors by their root field: below it, stock counts
 * only the objects it asked about, and names fields that the caller has not selected.
 */
function comparable(
  data: unknown,
  errors: readonly { message: string; path?: readonly unknown[] | undefined }[] = [],
): Answer {
  const told = new Set(errors.map(({ message, path = [] }) => `${path[0]}: ${message}`));
  return { data: JSON.parse(JSON.stringify(data)), errors: [...told].sort() };
}
