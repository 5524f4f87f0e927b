// Parts of the service stopped, killed or unreachable: what is answered meanwhile, and that it recovers by itself.
import { ERRORS } from '@partner-loyalty/runtime';
import { freshMongodbUrl } from '../support/servers/databases.ts';
import { layWire, type Wire } from '../support/servers/proxy.ts';
import { type Answer, type Client, createClient } from '../support/service/client.ts';
import { type Started, startFilled } from '../support/service/deployed.ts';
import { startInProcess } from '../support/service/inprocess.ts';
import { faultsOf } from '../support/service/leaks.ts';
import type { Running } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';

const WHOLE = '{ memberByEmail(email: "both@example.com") { memberId email tier } }';
const IDENTITY = '{ memberByEmail(email: "both@example.com") { memberId email } }';
const STANDING = '{ memberByExternalId(externalId: "shared-1") { points } }';
const PARTLY = `{ a: memberByEmail(email: "both@example.com") { email } b: memberByEmail(email: "both@example.com") { tier } c: __typename }`;

const away = (name: string) => [
  expect.objectContaining({
    message: ERRORS.SERVICE_UNAVAILABLE.message,
    path: expect.arrayContaining([name]),
  }),
];

function expectUnavailable(answer: Answer): void {
  expect([answer.status, answer.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(answer.headers.get('ratelimit-limit')).not.toBeNull();
  expect(answer.body.errors?.[0]?.extensions.requestId).toBe(answer.headers.get('x-request-id'));
  expect(faultsOf(answer.text)).toEqual([]);
}

/** Asks until the answer is 200. */
async function recovered(ask: Client, query: string): Promise<void> {
  while ((await ask({ query })).status !== 200)
    await new Promise((resolve) => setTimeout(resolve, 100));
}

async function readiness({ adminUrl }: Running): Promise<number> {
  return (await fetch(`${adminUrl}/readyz`)).status;
}

describe('503 SERVICE_UNAVAILABLE', () => {
  let service: Started;

  beforeAll(async () => {
    service = await startFilled('apart');
  }, 60_000);
  afterAll(() => service.close());

  /** Holds a subgraph's process still while something is tried. */
  async function whileStopped(
    name: 'members' | 'standings',
    attempt: () => Promise<void>,
  ): Promise<void> {
    const running = service.stack[name];
    if (running === undefined) throw new Error(`${name} does not run by itself`);
    process.kill(running.pid, 'SIGSTOP');
    try {
      await attempt();
    } finally {
      process.kill(running.pid, 'SIGCONT');
    }
    await recovered(service.ask, WHOLE);
  }

  test('when standings stand still, for what needs them; the rest is answered', async () => {
    await whileStopped('standings', async () => {
      const [whole, standing, identity, partly] = await Promise.all(
        [WHOLE, STANDING, IDENTITY, PARTLY].map((query) => service.ask({ query })),
      );
      for (const answer of [whole, standing]) if (answer) expectUnavailable(answer);
      expect([identity?.status, identity?.body]).toEqual([
        200,
        { data: { memberByEmail: { memberId: 'm-both', email: 'Both@Example.com' } } },
      ]);
      expect(partly?.status).toBe(200);
      expect(partly?.body).toEqual({
        data: { a: { email: 'Both@Example.com' }, b: null, c: 'Query' },
        errors: away('b'),
      });
      expect(await readiness(service.stack.gateway)).toBe(503);
    });
    expect(await readiness(service.stack.gateway)).toBe(200);
  });

  test('when members stand still, for every look-up and every change', async () => {
    await whileStopped('members', async () => {
      const queries = [
        WHOLE,
        IDENTITY,
        STANDING,
        'mutation { endEnrollment(memberId: "m-beta") { memberId } }',
      ];
      for (const answer of await Promise.all(queries.map((query) => service.ask({ query }))))
        expectUnavailable(answer);
      const partly = await service.ask({ query: PARTLY });
      expect([partly.status, partly.body.data]).toEqual([200, { a: null, b: null, c: 'Query' }]);
      expect((await service.ask({ query: '{ __typename }' })).status).toBe(200);
      expect((await service.ask({ query: '{ __schema { queryType { name } } }' })).status).toBe(
        200,
      );
      expect((await service.ask({ query: '{' })).status).toBe(400);
    });
  });

  test('when standings stand still, for a profile; its own part is answered', async () => {
    const token = await service.provider.issue('m-both');
    await whileStopped('standings', async () => {
      const [whole, own] = await Promise.all(
        ['email partnerStandings { tier }', 'email'].map((fields) =>
          service.ask({ query: `{ memberProfile(id: "m-both") { ${fields} } }`, token }),
        ),
      );
      if (whole) expectUnavailable(whole);
      expect(own?.body).toEqual({ data: { memberProfile: { email: 'Both@Example.com' } } });
    });
  });

  test('when a subgraph is gone, at once, and the gateway is not ready', async () => {
    await service.stack.standings?.stop();
    expectUnavailable(await service.ask({ query: WHOLE }));
    expect((await service.ask({ query: IDENTITY })).status).toBe(200);
    expect(await readiness(service.stack.gateway)).toBe(503);
    await service.stack.members?.stop();
    expectUnavailable(await service.ask({ query: IDENTITY }));
    expect((await fetch(`${service.stack.gateway.adminUrl}/livez`)).status).toBe(200);
  });
});

describe('with the database', () => {
  let database: ReturnType<typeof freshMongodbUrl>;
  let wire: Wire;
  let service: Started;
  let gateways: Client[];

  beforeAll(async () => {
    database = freshMongodbUrl();
    wire = await layWire(database.url);
    service = await startFilled('apart, on MongoDB and Redis', { MONGODB_URL: wire.url });
    gateways = [
      service.ask,
      createClient((await service.stack.addGateway()).url, service.keys.alpha),
    ];
  }, 60_000);
  afterAll(async () => {
    await service.close();
    await wire.close();
    await database.drop();
  });

  test.each(['hold', 'cut'] as const)(
    'away (%s), 503 for what it holds, and known keys go on',
    async (fault) => {
      const unseen = await addKey(service.stack.stores.keys, 'alpha');
      for (const ask of gateways) expect((await ask({ query: WHOLE })).status).toBe(200);
      await wire[fault]();
      try {
        await Promise.all(
          gateways.map(async (ask) => {
            const [whole, known, unknown] = await Promise.all([
              ask({ query: WHOLE }),
              ask({ query: '{ __typename }' }),
              ask({ query: '{ __typename }', key: unseen }),
            ]);
            expectUnavailable(whole);
            expect(known.status).toBe(200);
            expect([unknown.status, unknown.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
            expect(faultsOf(unknown.text)).toEqual([]);
          }),
        );
        expect(await readiness(service.stack.gateway)).toBe(503);
      } finally {
        await wire.mend();
      }
      for (const ask of gateways) await recovered(ask, WHOLE);
      expect((await service.ask({ query: WHOLE, key: unseen })).status).toBe(200);
    },
  );

  test('a key works at once, and stops within 5 seconds of being revoked on every gateway', async () => {
    const { keys } = service.stack.stores;
    const key = await addKey(keys, 'alpha');
    const [record] = (await keys.keys('alpha')).slice(-1);
    for (const ask of gateways)
      expect((await ask({ query: '{ __typename }', key })).status).toBe(200);
    await keys.revokeKey(record?.keyId ?? '', new Date());
    const deadline = Date.now() + 5_000;
    const open = new Set(gateways);
    while (open.size > 0 && Date.now() < deadline) {
      for (const ask of open)
        if ((await ask({ query: '{ __typename }', key })).status === 401) open.delete(ask);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (const ask of gateways)
      expect((await ask({ query: '{ __typename }', key })).code).toBe('UNAUTHENTICATED');
  });
});

test('503 when the keys of the identity provider cannot be had, and only for tokens', async () => {
  const stage = await startInProcess();
  const token = await stage.provider.issue('m-both');
  stage.provider.close();
  const answer = await stage.ask({ query: '{ __typename }', token });
  expect([answer.status, answer.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect((await stage.ask({ query: '{ __typename }' })).status).toBe(200);
  await stage.close();
});
