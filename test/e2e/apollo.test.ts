// The service over HTTP beside stock Apollo on the same stores: the same generated operations, the same answers.
import { readFileSync } from 'node:fs';
import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { SUPERGRAPH_FILE, type SurfaceName, surfaceSdl } from '@partner-loyalty/gateway';
import { createMembers } from '@partner-loyalty/members';
import { ApiError, type Scope } from '@partner-loyalty/runtime';
import { createStandings } from '@partner-loyalty/standings';
import {
  buildClientSchema,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getIntrospectionQuery,
  parse,
  validate,
} from 'graphql';
import { type GeneratedOperation, generateOperation } from '../support/cases/operations.ts';
import type { Ask } from '../support/service/client.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';

// A member's budget is 120 root fields, and an operation has up to 4.
const OPERATIONS = { partner: 50, member: 30 };
/** Members that the caller may read, may not read, and that nobody knows; and what is no address. */
const ARGUMENTS: Record<string, string[]> = {
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
};

type Body = {
  data?: unknown;
  errors?: readonly { path?: readonly (string | number)[]; extensions?: { code?: unknown } }[];
};

let stage: Stage;
const stopped: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  stage = await startInProcess({ env: { RATE_LIMIT_BUDGET: '100000' } });
});
afterAll(async () => {
  for (const stop of stopped) await stop();
  await stage.close();
});

test('a partner reads the same, the first time, again, and among others at once', async () => {
  const cases = await casesOf('partner', { kind: 'partner', partnerId: 'alpha' });
  const inTurn: unknown[] = [];
  for (const { operation } of cases) inTurn.push(await answerTo(operation));
  const atOnce = await Promise.all(
    [...cases, ...cases].map(({ operation }) => answerTo(operation)),
  );
  const expected = cases.map(({ answer }) => answer);
  expect(inTurn).toEqual(expected);
  expect(atOnce).toEqual([...expected, ...expected]);
});

test('a member reads the same', async () => {
  const token = await stage.provider.issue('m-both');
  const cases = await casesOf('member', { kind: 'member', memberId: 'm-both' });
  expect(await Promise.all(cases.map(({ operation }) => answerTo(operation, { token })))).toEqual(
    cases.map(({ answer }) => answer),
  );
});

async function answerTo(operation: GeneratedOperation, credential: Ask = {}) {
  return { operation, ...comparable((await stage.ask({ ...operation, ...credential })).body) };
}

/** The data, and each error's place and code; request ids and places in the document are ours alone. */
function comparable({ data, errors = [] }: Body) {
  return {
    data,
    errors: errors.map(({ path, extensions }) => `${path?.join('.')} ${extensions?.code}`).sort(),
  };
}

/** Generated operations and stock's answers, among them many with data and many with errors. */
async function casesOf(surface: SurfaceName, scope: Scope) {
  const ask = await startStock(surface, scope);
  const { data } = await ask({ query: getIntrospectionQuery() });
  // Cast: the answer to the question for a schema is one.
  const schema = buildClientSchema(data as never);
  const cases: {
    operation: GeneratedOperation;
    answer: { operation: GeneratedOperation } & ReturnType<typeof comparable>;
  }[] = [];
  for (let seed = 0; cases.length < OPERATIONS[surface]; seed += 1) {
    const operation = generateOperation(schema, seed, pickArgument);
    if (validate(schema, parse(operation.query)).length > 0) continue; // two fields of one name that do not merge
    cases.push({ operation, answer: { operation, ...comparable(await ask(operation)) } });
  }
  const found = cases.filter(({ answer }) =>
    Object.values(answer.data ?? {}).some((value) => typeof value === 'object' && value !== null),
  );
  const failed = cases.filter(({ answer }) => answer.errors.length > 0);
  for (const some of [found, failed]) expect(some.length).toBeGreaterThan(cases.length / 5);
  return cases;
}

function pickArgument(name: string, random: () => number): unknown {
  const values = ARGUMENTS[name] ?? [];
  return values[Math.floor(random() * values.length)];
}

/** Stock Apollo over subgraphs that graphql-js executes, asked in the scope that ours finds out by itself. */
async function startStock(
  surface: SurfaceName,
  scope: Scope,
): Promise<(operation: Partial<GeneratedOperation>) => Promise<Body>> {
  const schemas: Record<string, GraphQLSchema> = {
    members: createMembers(stage.stores.members, { baseAddress: stage.url, wake: () => {} }).schema,
    standings: createStandings(stage.stores.standings).schema,
  };
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const gateway = new ApolloGateway({
    supergraphSdl: surfaceSdl(readFileSync(SUPERGRAPH_FILE, 'utf8'), surface),
    logger,
    buildService: ({ name }) => ({
      async process({ request: { query = '', variables, operationName } }) {
        const schema = schemas[name];
        if (schema === undefined) throw new Error(`no subgraph is called ${name}`);
        const contextValue = { scope, requestId: 'r' };
        const { data, errors } = await execute({
          schema,
          document: parse(query),
          variableValues: variables,
          operationName,
          contextValue,
        });
        // Cast: Apollo's type of a reply has no room for data whose shape is not known.
        return { data, errors: errors?.map(coded) } as never;
      },
    }),
  });
  const server = new ApolloServer({ gateway, logger, introspection: true });
  await server.start();
  stopped.push(() => server.stop());
  return async (operation) => {
    const { body } = await server.executeOperation(operation);
    if (body.kind !== 'single') throw new Error('stock answers in parts');
    return JSON.parse(JSON.stringify(body.singleResult));
  };
}

function coded({ message, path, originalError }: GraphQLError): GraphQLError {
  const code = originalError instanceof ApiError ? originalError.code : 'INTERNAL_SERVER_ERROR';
  return new GraphQLError(message, { path, extensions: { code } });
}
