// Outages of subgraphs, database and identity provider: what is still answered, and the recovery.

import { openGraphStore, readGraphFile, SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { freshMongodbUrl } from '../support/servers/databases.ts';
import { startProxy, type TcpProxy } from '../support/servers/proxy.ts';
import { type ApiResponse, type Client, createClient, leaksIn } from '../support/service/client.ts';
import { callMcp } from '../support/service/mcp.ts';
import type { Running } from '../support/service/stack.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

const ALL_FIELDS = '{ memberByEmail(email: "both@example.com") { memberId email tier } }';
const IDENTITY = '{ memberByEmail(email: "both@example.com") { memberId email } }';
const STANDING = '{ memberByExternalId(externalId: "shared-1") { points } }';
const APART = `{ memberByEmail(email: "both@example.com") { memberId standing { tier points } } }`;
const RECORD = `mutation { recordActivities(activities: [
  { activityId: "o-1", memberId: "m-both", points: 5, occurredAt: "2019-06-01T00:00:00Z" }]) { outcome } }`;
const PARTIAL = `{ a: memberByEmail(email: "both@example.com") { email } b: memberByEmail(email: "both@example.com") { tier } c: __typename }`;

const unavailableError = (name: string) => [
  expect.objectContaining({
    message: ERRORS.SERVICE_UNAVAILABLE.message,
    path: expect.arrayContaining([name]),
  }),
];

function expectUnavailable(response: ApiResponse): void {
  expect([response.status, response.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(response.headers.get('ratelimit-limit')).not.toBeNull();
  expect(response.body.errors?.[0]?.extensions.requestId).toBe(
    response.headers.get('x-request-id'),
  );
  expect(leaksIn(response.text)).toEqual([]);
}

/** Resolves when the query is answered with 200 again. */
async function recovered(send: Client, query: string): Promise<void> {
  await until(async () => (await send({ query })).status === 200);
}

/** The status of `/readyz`, and the state of each dependency in its body. */
async function readiness({ adminUrl }: Running): Promise<[number, Record<string, string>]> {
  const response = await fetch(`${adminUrl}/readyz`);
  // Cast: the form that the API promises.
  const body = (await response.json()) as { dependencies: Record<string, string> };
  return [response.status, body.dependencies];
}

const ALL_UP = { keys: 'up', members: 'up', standings: 'up' };

describe('503 SERVICE_UNAVAILABLE', () => {
  let service: DeployedService;

  beforeAll(async () => {
    service = await startDeployed('three processes');
  });
  afterAll(() => service.close());

  /** Suspends a subgraph's process during `act`. */
  async function whileSuspended(
    name: 'members' | 'standings',
    act: () => Promise<void>,
  ): Promise<void> {
    const running = service.stack[name];
    if (running === undefined) throw new Error(`${name} is not a separate process`);
    process.kill(running.pid, 'SIGSTOP');
    try {
      await act();
    } finally {
      process.kill(running.pid, 'SIGCONT');
    }
    await recovered(service.send, ALL_FIELDS);
  }

  test('for fields of standings while standings hangs; other fields are answered', async () => {
    await whileSuspended('standings', async () => {
      const [all, standing, identity, partial, apart] = await Promise.all(
        [ALL_FIELDS, STANDING, IDENTITY, PARTIAL, APART].map((query) => service.send({ query })),
      );
      for (const response of [all, standing]) if (response) expectUnavailable(response);
      expect([identity?.status, identity?.body]).toEqual([
        200,
        { data: { memberByEmail: { memberId: 'm-both', email: 'Both@Example.com' } } },
      ]);
      expect(partial?.status).toBe(200);
      expect(partial?.body).toEqual({
        data: { a: { email: 'Both@Example.com' }, b: null, c: 'Query' },
        errors: unavailableError('b'),
      });
      // `tier` and `points` are never null, `standing` can be.
      expect([apart?.status, apart?.body]).toEqual([
        200,
        {
          data: { memberByEmail: { memberId: 'm-both', standing: null } },
          errors: unavailableError('memberByEmail'),
        },
      ]);
      const mcp = await addKey(service.stack.stores.keys, 'alpha', 'sandbox', {
        endpoint: 'mcp',
      });
      const { url } = service.stack.gateway;
      const { body } = await callMcp(url, mcp, 'member_standing', { memberId: 'm-both' });
      expect(body.result).toMatchObject({
        isError: true,
        structuredContent: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 },
      });
      // One hung subgraph takes no gateway away.
      expect(await readiness(service.stack.gateway)).toEqual([
        200,
        { ...ALL_UP, standings: 'down' },
      ]);
    });
    expect(await readiness(service.stack.gateway)).toEqual([200, ALL_UP]);
  });

  test('for every look-up and every mutation while members hangs', async () => {
    await whileSuspended('members', async () => {
      const queries = [
        ALL_FIELDS,
        IDENTITY,
        STANDING,
        'mutation { endEnrollment(memberId: "m-beta") { memberId } }',
        RECORD,
      ];
      for (const response of await Promise.all(queries.map((query) => service.send({ query }))))
        expectUnavailable(response);
      const partial = await service.send({ query: PARTIAL });
      expect([partial.status, partial.body.data]).toEqual([200, { a: null, b: null, c: 'Query' }]);
      expect((await service.send({ query: '{ __typename }' })).status).toBe(200);
      expect((await service.send({ query: '{ __schema { queryType { name } } }' })).status).toBe(
        200,
      );
      expect((await service.send({ query: '{' })).status).toBe(400);
    });
    const { standings } = service.stack.stores;
    expect(await standings.standing('alpha', 'm-both', '2019-01-01')).toBeUndefined();
    const { body } = await service.send({ query: RECORD });
    expect(body.data).toEqual({ recordActivities: [{ outcome: 'RECORDED' }] });
  });
});

describe('with MongoDB', () => {
  let database: ReturnType<typeof freshMongodbUrl>;
  let proxy: TcpProxy;
  let service: DeployedService;
  let gateways: Client[];

  beforeAll(async () => {
    database = freshMongodbUrl();
    proxy = await startProxy(database.url);
    service = await startDeployed('three processes on MongoDB and Redis', {
      MONGODB_URL: proxy.url,
    });
    gateways = [
      service.send,
      createClient((await service.stack.addGateway()).url, service.keys.alpha),
    ];
  });
  afterAll(async () => {
    await service.close();
    await proxy.close();
    await database.drop();
  });

  test.each([
    ['frozen', 'freeze'],
    ['disconnected', 'disconnect'],
  ] as const)(
    '%s: 503 for reads and unknown keys, while known keys stay valid',
    async (_, fault) => {
      const unseen = await addKey(service.stack.stores.keys, 'alpha');
      for (const send of gateways) expect((await send({ query: ALL_FIELDS })).status).toBe(200);
      await proxy[fault]();
      try {
        await Promise.all(
          gateways.map(async (send) => {
            const [all, known, unknown] = await Promise.all([
              send({ query: ALL_FIELDS }),
              send({ query: '{ __typename }' }),
              send({ query: '{ __typename }', key: unseen }),
            ]);
            expectUnavailable(all);
            expect(known.status).toBe(200);
            expect([unknown.status, unknown.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
            expect(leaksIn(unknown.text)).toEqual([]);
          }),
        );
        // Each of them meets the outage in both subgraphs.
        for (let i = 0; i < 20; i += 1)
          await Promise.all(Array.from({ length: 10 }, () => service.send({ query: ALL_FIELDS })));
        const { gateway, members, standings } = service.stack;
        // Known keys go on for 60 seconds.
        expect(await readiness(gateway)).toEqual([
          200,
          { keys: 'degraded', members: 'down', standings: 'down', redis: 'up' },
        ]);
        for (const subgraph of [members, standings])
          if (subgraph) expect(await readiness(subgraph)).toEqual([503, { store: 'down' }]);
      } finally {
        await proxy.restore();
      }
      for (const send of gateways) await recovered(send, ALL_FIELDS);
      expect((await service.send({ query: ALL_FIELDS, key: unseen })).status).toBe(200);
    },
  );
});

test('a gateway that starts while its database is away serves its last graph, and reads keys later', async () => {
  const service = await startDeployed('three processes on MongoDB and Redis');
  const { env, addGateway } = service.stack;
  const proxy = await startProxy(env.MONGODB_URL ?? '');
  const store = await openGraphStore({ ...readSettings(env, 'gateway') });
  try {
    const graph = await readGraphFile(SUPERGRAPH_FILE);
    await store.append({
      ...graph,
      version: 1,
      // Only in this version does the partner surface lack the tier.
      supergraph: graph.supergraph.replace(/(tier: .*STANDINGS\)) @tag\(name: "partner"\)/, '$1'),
      schemas: {},
      publishedAt: new Date(),
      change: 'publish standings',
      changes: [],
    });
    const tier = { query: ALL_FIELDS };
    await until(async () => (await service.send(tier)).code === 'GRAPHQL_VALIDATION_FAILED');

    await proxy.disconnect();
    const gateway = await addGateway({ MONGODB_URL: proxy.url });
    const send = createClient(gateway.url, service.keys.alpha);
    expect(gateway.output()).toMatch(/"version":1,.*"msg":"the store of graphs is unavailable/);
    expect((await send({ query: IDENTITY })).status).toBe(503);
    await proxy.restore();
    await recovered(send, IDENTITY);
    expect((await send(tier)).code).toBe('GRAPHQL_VALIDATION_FAILED');
  } finally {
    await store.close();
    await proxy.close();
    await service.close();
  }
});
