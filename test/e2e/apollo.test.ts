// The service compared with stock Apollo: equal results for generated operations on equal stores.
import { readFileSync } from 'node:fs';
import { ApolloGateway, type GraphQLDataSource, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { SUPERGRAPH_FILE, type SurfaceName, surfaceSdl } from '@partner-loyalty/gateway';
import { createMembers } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import { serveHttp } from '@partner-loyalty/runtime/http/server.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createSubgraphHandler } from '@partner-loyalty/runtime/subgraph/server.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import { encodeCaller } from '@partner-loyalty/runtime/transport/caller.ts';
import { createSigner } from '@partner-loyalty/runtime/transport/signature/signer.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { createStandings } from '@partner-loyalty/standings';
import {
  buildClientSchema,
  execute,
  GraphQLError,
  getIntrospectionQuery,
  parse,
  validate,
} from 'graphql';
import { createInbox } from '../../subgraphs/members/src/mail/inbox.ts';
import { type GeneratedOperation, generateOperation } from '../support/cases/operations.ts';
import type { ApiRequest } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { listsAreSettled } from '../support/until.ts';

// A member's budget is 120 root fields, and an operation has up to 4.
const OPERATIONS = { partner: 50, member: 30 };
/** Members that the caller may read, members that it may not, unknown ones, and invalid values. */
const ARGUMENTS: Record<string, unknown[]> = {
  email: [
    'both@example.com',
    'both.earlier@example.net',
    ' ALPHA.only@Example.com',
    'beta.only@example.com',
    'ended@example.com',
    'x@example.com',
    '@',
  ],
  externalId: ['shared-1', 'alpha-2', 'beta-7', 'unknown', ''],
  id: ['m-both', 'm-both', 'm-beta', 'unknown'],
  memberId: ['m-both', 'm-alpha', 'm-beta', 'unknown'],
  keys: [
    [{ memberId: 'm-both' }, { email: 'x@example.com' }, { externalId: 'alpha-2' }],
    [{ externalId: 'alpha-2' }, { memberId: 'm-beta' }],
    [{ memberId: 'm-both' }, {}],
  ],
  first: [1, 2, 20],
  after: [null],
};

/** A standing says when it was read. */
const NOW = new Date();

type Body = {
  data?: unknown;
  errors?: readonly { path?: readonly (string | number)[]; extensions?: { code?: unknown } }[];
};

type Comparison = {
  operation: GeneratedOperation;
  expected: { operation: GeneratedOperation } & ReturnType<typeof comparable>;
};

const CALLERS: Record<SurfaceName, Caller> = {
  partner: { kind: 'partner', partnerId: 'alpha' },
  member: { kind: 'member', memberId: 'm-both' },
};

let service: InProcessService;
const made = new Map<SurfaceName, Comparison[]>();
const stopped: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  service = await startInProcess({ now: () => NOW, env: { RATE_LIMIT_BUDGET: '100000' } });
  await listsAreSettled();
});
afterAll(async () => {
  for (const stop of stopped) await stop();
  await service.close();
});

test('a partner gets the same results as from stock Apollo, sequentially and concurrently', async () => {
  const compared = await comparisons('partner');
  const sequential: unknown[] = [];
  for (const { operation } of compared) sequential.push(await resultOf(operation));
  const concurrent = await Promise.all(
    [...compared, ...compared].map(({ operation }) => resultOf(operation)),
  );
  const expected = compared.map((comparison) => comparison.expected);
  expect(sequential).toEqual(expected);
  expect(concurrent).toEqual([...expected, ...expected]);
});

test('a member gets the same results as from stock Apollo', async () => {
  const token = await service.provider.issue('m-both');
  const compared = await comparisons('member');
  expect(
    await Promise.all(compared.map(({ operation }) => resultOf(operation, { token }))),
  ).toEqual(compared.map(({ expected }) => expected));
});

test.each(['partner', 'member'] as const)(
  'stock Apollo gets the same results from the subgraphs over HTTP, for a %s',
  async (surface) => {
    const sources = await serveSigned();
    const executeStock = await startApollo(surface, (name) => sources(name, CALLERS[surface]));
    for (const { operation, expected } of await comparisons(surface))
      expect({ operation, ...comparable(await executeStock(operation)) }).toEqual(expected);
  },
);

async function resultOf(operation: GeneratedOperation, credential: ApiRequest = {}) {
  return { operation, ...comparable((await service.send({ ...operation, ...credential })).body) };
}

/** The data, and each error's path and code. Messages, request ids and locations may differ. */
function comparable({ data, errors = [] }: Body) {
  return {
    data,
    errors: errors.map(({ path, extensions }) => `${path?.join('.')} ${extensions?.code}`).sort(),
  };
}

/** Generated operations with stock Apollo's results, many of which have data or errors. */
async function comparisons(surface: SurfaceName): Promise<Comparison[]> {
  const known = made.get(surface);
  if (known !== undefined) return known;
  const executeStock = await startApollo(surface, (name) =>
    sourceInProcess(name, CALLERS[surface]),
  );
  const { data } = await executeStock({ query: getIntrospectionQuery() });
  // Cast: the result of an introspection query describes a schema.
  const schema = buildClientSchema(data as never);
  const compared: Comparison[] = [];
  for (let seed = 0; compared.length < OPERATIONS[surface]; seed += 1) {
    const operation = generateOperation(schema, seed, pickArgument);
    // Skips operations in which two fields with one response name cannot be merged.
    if (validate(schema, parse(operation.query)).length > 0) continue;
    const expected = { operation, ...comparable(await executeStock(operation)) };
    compared.push({ operation, expected });
  }
  const found = compared.filter(({ expected }) =>
    Object.values(expected.data ?? {}).some((value) => typeof value === 'object' && value !== null),
  );
  const failed = compared.filter(({ expected }) => expected.errors.length > 0);
  for (const some of [found, failed]) expect(some.length).toBeGreaterThan(compared.length / 5);
  made.set(surface, compared);
  return compared;
}

function pickArgument(name: string, random: () => number): unknown {
  const values = ARGUMENTS[name] ?? [];
  return values[Math.floor(random() * values.length)];
}

/** Stock Apollo in front of the subgraphs. */
async function startApollo(
  surface: SurfaceName,
  sourceOf: (subgraph: string) => GraphQLDataSource,
): Promise<(operation: Partial<GeneratedOperation>) => Promise<Body>> {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const gateway = new ApolloGateway({
    supergraphSdl: surfaceSdl(readFileSync(SUPERGRAPH_FILE, 'utf8'), surface),
    logger,
    buildService: ({ name }) => sourceOf(name),
  });
  const server = new ApolloServer({ gateway, logger, introspection: true });
  await server.start();
  stopped.push(() => server.stop());
  return async (operation) => {
    const { body } = await server.executeOperation(operation);
    if (body.kind !== 'single') throw new Error('stock Apollo responds in parts');
    return JSON.parse(JSON.stringify(body.singleResult));
  };
}

function createSubgraphs(): Record<string, Subgraph> {
  const { members, standings } = service.stores;
  return {
    members: createMembers(members, {
      baseAddress: service.url,
      wake: () => {},
      inbox: createInbox(members),
    }),
    standings: createStandings(standings, { now: () => NOW }),
  };
}

/** A subgraph that graphql-js executes for a caller. */
function sourceInProcess(name: string, caller: Caller): GraphQLDataSource {
  if (name === 'gateway') return { process: async () => ({}) as never };
  const schema = createSubgraphs()[name]?.schema;
  if (schema === undefined) throw new Error(`no subgraph is called ${name}`);
  return {
    async process({ request: { query = '', variables, operationName } }) {
      const contextValue = { caller, requestId: 'r' };
      const { data, errors } = await execute({
        schema,
        document: parse(query),
        variableValues: variables,
        operationName,
        contextValue,
      });
      // Cast: Apollo's type of a response has no data of unknown shape.
      return { data, errors: errors?.map(coded) } as never;
    },
  };
}

const SECRET = 'the secret of the subgraphs';

/** Serves the subgraphs over HTTP, and returns how stock Apollo asks them: in signed requests. */
async function serveSigned() {
  const urls = new Map<string, string>();
  for (const [name, subgraph] of Object.entries(createSubgraphs())) {
    const log = createLog('silent');
    const handle = createSubgraphHandler({
      subgraph,
      settings: { subgraphs: {}, subgraphSecret: SECRET },
      log,
      metrics: { request: () => {}, operation: () => {} },
      caches: createCaches(),
    });
    const at = { host: '127.0.0.1', port: 0, trustedProxies: [] };
    const { port, close } = await serveHttp({ ...at, handle, log });
    stopped.push(close);
    urls.set(name, `http://127.0.0.1:${port}/graphql`);
  }
  return (name: string, caller: Caller): GraphQLDataSource => {
    const sign = createSigner(name, SECRET);
    return new RemoteGraphQLDataSource({
      url: urls.get(name) ?? '',
      willSendRequest({ request: { http, query, ...rest } }) {
        const signed = sign({
          method: 'POST',
          path: '/graphql',
          caller: encodeCaller(caller),
          requestId: 'stock',
          body: JSON.stringify({ query, ...rest }), // As Apollo is about to send it.
        });
        for (const [header, value] of Object.entries(signed)) http?.headers.set(header, value);
      },
    });
  };
}

function coded({ message, path, originalError }: GraphQLError): GraphQLError {
  const code = originalError instanceof ApiError ? originalError.code : 'INTERNAL_SERVER_ERROR';
  return new GraphQLError(message, { path, extensions: { code } });
}
