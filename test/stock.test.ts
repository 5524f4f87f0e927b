// The service over HTTP beside stock Apollo on the same stores: the same generated operations, the same answers.
import { readFileSync } from 'node:fs';
import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { SUPERGRAPH_FILE, type Surface, surfaceSdl } from '@partner-loyalty/gateway';
import { createMembers } from '@partner-loyalty/members';
import { createInProcessTransport, createLog, type Scope, type Transport } from '@partner-loyalty/runtime';
import { createStandings } from '@partner-loyalty/standings';
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import type { Ask } from './cases/client.ts';
import { type Stage, startInProcess } from './cases/inprocess.ts';
import { generateOperation } from './cases/operations.ts';

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

let stage: Stage;
let transports: Record<string, Transport>;
const stopped: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  stage = await startInProcess({ env: { RATE_LIMIT_BUDGET: '100000' } });
  const log = createLog('silent');
  const noMail = { baseAddress: stage.url, wake: () => {} };
  transports = {
    members: createInProcessTransport(createMembers(stage.stores.members, noMail), log),
    standings: createInProcessTransport(createStandings(stage.stores.standings), log),
  };
});
afterAll(async () => {
  for (const stop of stopped) await stop();
  await stage.close();
});

test('a partner reads the same', async () => {
  const scope: Scope = { kind: 'partner', partnerId: 'alpha' };
  expect(await compare('partner', scope, {})).toBe(OPERATIONS.partner);
});

test('a member reads the same', async () => {
  const scope: Scope = { kind: 'member', memberId: 'm-both' };
  expect(await compare('member', scope, { token: await stage.provider.issue('m-both') })).toBe(OPERATIONS.member);
});

/** How many operations were compared. */
async function compare(surface: Surface, scope: Scope, credential: Ask): Promise<number> {
  const stock = await startStock(surface, scope);
  const schema = await stock.schema();
  let compared = 0;
  for (let seed = 0; compared < OPERATIONS[surface]; seed += 1) {
    const operation = generateOperation(schema, seed, pickArgument);
    if (validate(schema, parse(operation.query)).length > 0) continue; // two fields of one name that do not merge
    const ours = await stage.ask({ ...operation, ...credential });
    expect({ operation, answer: comparable(ours.body) }).toEqual({ operation, answer: comparable(await stock.ask(operation)) });
    compared += 1;
  }
  return compared;
}

function pickArgument(name: string, random: () => number): unknown {
  const values = ARGUMENTS[name] ?? [];
  return values[Math.floor(random() * values.length)];
}

type Comparable = { data?: unknown; errors?: readonly { path?: readonly (string | number)[]; extensions?: { code?: unknown } }[] };

/** The data, and each error's place and code; request ids and places in the document are ours alone. */
function comparable({ data, errors = [] }: Comparable) {
  return {
    data: data === undefined ? data : JSON.parse(JSON.stringify(data)),
    errors: errors.map(({ path, extensions }) => `${path?.join('.')} ${extensions?.code}`).sort(),
  };
}

/** Stock Apollo, asked in the scope that ours finds out by itself. */
async function startStock(surface: Surface, scope: Scope) {
  const supergraphSdl = surfaceSdl(readFileSync(SUPERGRAPH_FILE, 'utf8'), surface);
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const gateway = new ApolloGateway({
    supergraphSdl,
    logger,
    buildService: ({ name }) => ({
      // Cast: Apollo's type of a reply leaves no room for errors as plain data.
      process: async ({ request: { query = '', variables, operationName } }) =>
        (await transports[name]?.execute({ query, variables, operationName, scope, requestId: 'r' })) as never,
    }),
  });
  const server = new ApolloServer({ gateway, logger, introspection: true });
  await server.start();
  stopped.push(() => server.stop());
  const ask = async (operation: { query: string; variables?: Record<string, unknown> }): Promise<Comparable> => {
    const { body } = await server.executeOperation(operation);
    if (body.kind !== 'single') throw new Error('stock answers in parts');
    return body.singleResult as Comparable;
  };
  return {
    ask,
    // Cast: the answer to the question for a schema is one.
    schema: async (): Promise<GraphQLSchema> => buildClientSchema((await ask({ query: getIntrospectionQuery() })).data as never),
  };
}
