// Two workers on one port: one budget, one metrics page, and the loss of workers.
import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type DeployedService, startDeployed } from '../support/service/deployed.ts';
import { addPartner } from '../support/service/testdata.ts';
import {
  ANSWER,
  beginRequest,
  HANG,
  isComplete,
  isReady,
  isRunning,
  metricsOf,
  send,
  workersOf,
  workersStateOf,
} from '../support/service/workers.ts';
import { until } from '../support/until.ts';

describe('two workers that contain everything', () => {
  let service: DeployedService;
  let url: string;

  beforeAll(async () => {
    service = await startDeployed('one process', { WORKERS: '2', RATE_LIMIT_BUDGET: '1000000' });
    url = service.stack.gateway.url;
  });
  afterAll(() => service.close());

  /** A connection to each of the two workers, by process id. */
  async function connectToEach(): Promise<Map<number, Agent>> {
    const agents = new Map<number, Agent>();
    for (let attempt = 0; agents.size < 2; attempt++) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const requestId = `attempt-${attempt}`;
      await send({ url, key: service.keys.alpha, requestId, agent });
      const line = new RegExp(`"pid":(\\d+),"requestId":"${requestId}"`);
      const [, pid] = await until(() => line.exec(service.stack.gateway.output()) ?? undefined);
      if (agents.has(Number(pid))) agent.destroy();
      else agents.set(Number(pid), agent);
    }
    return agents;
  }

  test('are ready on the port that the primary prints', async () => {
    expect(workersOf(service.stack.gateway)).toHaveLength(2);
    expect(await isReady(service.stack.gateway)).toBe(true);
    expect(await send({ url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
  });

  test('share a budget without Redis: of 200 concurrent requests, exactly 50 are answered', async () => {
    const key = await addPartner(service.stack.stores.keys, { partnerId: 'fifty', budget: 50 });
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => send({ url, key, query: '{ __typename }' })),
    );
    const statuses = responses.map((response) => response.slice(0, 3));
    expect(statuses.filter((status) => status === '200')).toHaveLength(50);
    expect(statuses.filter((status) => status === '429')).toHaveLength(150);
  });

  test('see changes of each other at once', async () => {
    const [one, other] = [...(await connectToEach()).values()];
    const key = service.keys.alpha;
    const enroll =
      'mutation ($email: String!) { enrollMember(input: { email: $email }) { created member { memberId } } }';
    const readMember = 'query ($email: String!) { memberByEmail(email: $email) { memberId } }';
    const endEnrollment =
      'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }';
    for (let round = 0; round < 25; round++) {
      const [here, there] = round % 2 === 0 ? [one, other] : [other, one];
      const variables = { email: `enrolled-${round}@example.com` };
      const enrolled = await send({ url, key, query: enroll, variables, agent: here });
      expect(enrolled).toContain('"created":true');
      const [, memberId] = /"memberId":"([^"]+)"/.exec(enrolled) ?? [];
      expect(await send({ url, key, query: readMember, variables, agent: there })).toContain(
        `{"memberId":"${memberId}"}`,
      );
      await send({ url, key, query: endEnrollment, variables: { memberId }, agent: there });
      expect(await send({ url, key, query: readMember, variables, agent: here })).toContain(
        'MEMBER_NOT_FOUND',
      );
    }
    for (const agent of [one, other]) agent?.destroy();
  });

  test('have one metrics page, whose counters do not decrease when a worker ends', async () => {
    const { gateway } = service.stack;
    const count = async () =>
      Number(
        /^loyalty_request_duration_seconds_count\{status="200",code="OK"\} (\d+)$/m.exec(
          await metricsOf(gateway),
        )?.[1],
      );
    const agents = await connectToEach();
    const before = await count();
    for (const agent of agents.values()) {
      for (let round = 0; round < 10; round++) await send({ url, key: service.keys.alpha, agent });
      agent.destroy();
    }
    expect(await count()).toBe(before + 20);
    const page = await metricsOf(gateway);
    for (const name of [
      'loyalty_limit_total{policy="key",outcome="taken"}',
      'loyalty_key_cache_total{outcome="hit"}',
    ])
      expect(page).toContain(`${name} `);
    expect(page).toContain(
      'loyalty_subgraph_duration_seconds_count{subgraph="members",outcome="ok"} ',
    );
    expect(page.match(/^process_resident_memory_bytes /gm)).toHaveLength(1);

    const [pid = 0] = agents.keys();
    process.kill(pid, 'SIGKILL');
    await until(async () => !isRunning(pid) && (await isComplete(gateway)));
    expect(await count()).toBeGreaterThanOrEqual(before + 20);
  });

  test('SIGKILL of a worker under load fails only its own requests, and a new worker replaces it', async () => {
    const { gateway } = service.stack;
    const CLIENTS = 24;
    const failures: { startedAt: number; why: string }[] = [];
    let answered = 0;
    let over = false;
    // One half keeps its connections, the other opens one per request, so that there are always
    // some on the way to a worker.
    const clients = Array.from({ length: CLIENTS }, async (_, index) => {
      const agent = index % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : false;
      while (!over) {
        const startedAt = performance.now();
        try {
          expect(await send({ url, key: service.keys.alpha, agent })).toBe(`200 ${ANSWER}`);
          answered += 1;
        } catch (error) {
          failures.push({ startedAt, why: String(error) });
        }
        // Leaves a share of the CPU to the worker that starts.
        await setTimeout(20);
      }
      if (agent) agent.destroy();
    });
    const untilAnswered = (count: number) => {
      const goal = answered + count;
      return until(() => answered >= goal);
    };
    try {
      for (let kill = 0; kill < 3; kill++) {
        await untilAnswered(200);
        failures.length = 0;
        const [victim = 0] = workersOf(gateway);
        process.kill(victim, 'SIGKILL');
        await until(() => !isRunning(victim));
        // The other worker is ready, and gets all requests.
        expect(await isReady(gateway)).toBe(true);
        expect(await workersStateOf(gateway)).toBe('degraded');
        // By now, the clients know which connections ended with the worker.
        const endedAt = performance.now();
        await until(() => isComplete(gateway));
        await untilAnswered(200);
        expect(failures.length).toBeLessThanOrEqual(CLIENTS);
        expect(
          failures.filter(({ startedAt, why }) => startedAt > endedAt || why.includes(HANG)),
        ).toEqual([]);
      }
    } finally {
      over = true;
      await Promise.all(clients);
    }
    expect(workersOf(gateway)).toHaveLength(2);
  });

  test('SIGTERM to a worker: it finishes its requests, and a new worker replaces it', async () => {
    const { gateway } = service.stack;
    const held = [await beginRequest(service), await beginRequest(service)];
    const [first = 0, second = 0] = workersOf(gateway);
    process.kill(first, 'SIGTERM');
    await until(async () => (await workersStateOf(gateway)) === 'degraded');
    expect(await isReady(gateway)).toBe(true);
    for (const { end } of held) expect(await end()).toContain(ANSWER);
    await until(async () => !isRunning(first) && (await isComplete(gateway)));
    expect(workersOf(gateway)[0]).toBe(second);
  });
});
