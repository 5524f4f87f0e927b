// Outages of subgraphs, database and identity provider: what is still answered, and the recovery.
import { setTimeout as pause } from 'node:timers/promises';
import { openGraphStore, readGraphFile, SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { freshMongodbUrl } from '../support/servers/databases.ts';
import { startProxy, type TcpProxy } from '../support/servers/proxy.ts';
import { type ApiResponse, type Client, createClient, leaksIn } from '../support/service/client.ts';
import { startInProcess } from '../support/service/inprocess.ts';
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

/** The log of a process so far. */
function linesOf(running: Running | undefined): Record<string, unknown>[] {
  const lines = running?.output().split('\n') ?? [];
  return lines.slice(0, -1).flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}

function subjectOf({ msg, store, subgraph, reason }: Record<string, unknown>): string {
  return JSON.stringify([msg, store, subgraph, reason]);
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

  test('at once after 5 missed deadlines in a row, which the log and the metrics say', async () => {
    const { gateway } = service.stack;
    const refused = async () =>
      Number(
        /^loyalty_circuit_total\{subgraph="standings",outcome="refused"\} (\d+)$/m.exec(
          await (await fetch(`${gateway.adminUrl}/metrics`)).text(),
        )?.[1] ?? 0,
      );
    await whileSuspended('standings', async () => {
      await Promise.all(Array.from({ length: 5 }, () => service.send({ query: STANDING })));
      const before = await refused();
      for (let call = 0; call < 50; call++)
        expectUnavailable(await service.send({ query: STANDING }));
      expect(await refused()).toBe(before + 50);
      expect((await service.send({ query: IDENTITY })).status).toBe(200);
    });
    for (const state of ['open', 'closed'])
      await until(() =>
        new RegExp(`"subgraph":"standings".*circuit is ${state}"`).test(gateway.output()),
      );
  });

  test('at once when a subgraph has stopped, and the gateway stays ready', async () => {
    await service.stack.standings?.stop();
    expectUnavailable(await service.send({ query: ALL_FIELDS }));
    expect((await service.send({ query: IDENTITY })).status).toBe(200);
    expect(await readiness(service.stack.gateway)).toEqual([200, { ...ALL_UP, standings: 'down' }]);
    await service.stack.members?.stop();
    expectUnavailable(await service.send({ query: IDENTITY }));
    expect((await service.send({ query: '{ __typename }' })).status).toBe(200);
    expect(await readiness(service.stack.gateway)).toEqual([
      200,
      { ...ALL_UP, members: 'down', standings: 'down' },
    ]);
    expect((await fetch(`${service.stack.gateway.adminUrl}/livez`)).status).toBe(200);
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

  test('each outage was one line a second for each process and store, without a stack', async () => {
    const { gateway, members } = service.stack;
    for (const running of [gateway, members]) {
      const lines = linesOf(running);
      const outages = lines.filter(({ level }) => level === 'warn');
      expect(outages.length).toBeGreaterThan(0);
      for (const { err, count } of outages)
        expect([err, count]).toEqual([undefined, expect.any(Number)]);
      const seconds = (Number(lines.at(-1)?.time) - Number(lines[0]?.time)) / 1_000;
      const subjects = new Set(outages.map(subjectOf));
      for (const subject of subjects) {
        const found = outages.filter((line) => subjectOf(line) === subject);
        expect([subject, found.length <= seconds + 2]).toEqual([subject, true]);
      }
    }
    const unread = linesOf(gateway).filter(
      ({ msg }) => msg === 'a key or partner could not be read',
    );
    expect(unread).toContainEqual(expect.objectContaining({ store: 'keys', level: 'warn' }));
    const unanswered = linesOf(members).filter(({ msg }) => msg === 'a store is unavailable');
    const count = unanswered.reduce((sum, line) => sum + Number(line.count), 0);
    expect(count).toBeGreaterThan(unanswered.length);
  });

  test('a new key works at once, and every gateway refuses it 5 seconds after its revocation', async () => {
    const { keys } = service.stack.stores;
    const key = await addKey(keys, 'alpha');
    const [record] = (await keys.keys('alpha')).slice(-1);
    const request = { query: '{ __typename }', key };
    for (const send of gateways) expect((await send(request)).status).toBe(200);
    await keys.revokeKey(record?.keyId ?? '', new Date());
    const revokedAt = performance.now();
    for (const send of gateways) {
      let slowestMs = 0;
      for (;;) {
        const sentAt = performance.now();
        const { status, code } = await send(request);
        slowestMs = Math.max(slowestMs, performance.now() - sentAt);
        if (status !== 200) {
          expect(code).toBe('UNAUTHENTICATED');
          break;
        }
        // The machine may be slow, which its slowest response shows.
        expect(sentAt - revokedAt).toBeLessThan(5_000 + slowestMs);
        await pause(50);
      }
    }
  });
});

test('503 for tokens, and only for them, if the identity provider cannot deliver its keys', async () => {
  const service = await startInProcess();
  const token = await service.provider.issue('m-both');
  service.provider.close();
  const response = await service.send({ query: '{ __typename }', token });
  expect([response.status, response.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect((await service.send({ query: '{ __typename }' })).status).toBe(200);
  await service.close();
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
