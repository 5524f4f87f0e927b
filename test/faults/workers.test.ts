// Several workers on one port: one budget, one demo, one metrics page, and the loss of workers.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/servers/port.ts';
import { type DeployedService, startDeployed } from '../support/service/deployed.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { type Service, startService } from '../support/service/npmstart.ts';
import type { Running } from '../support/service/stack.ts';
import { addPartner } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

const QUERY = '{ memberByEmail(email: "both@example.com") { memberId tier } }';
const ANSWER = '{"data":{"memberByEmail":{"memberId":"m-both","tier":"Silver"}}}';

const HANG = 'no response';

type SentRequest = {
  url: string;
  key: string;
  query?: string;
  variables?: object;
  requestId?: string;
  agent?: RequestOptions['agent'];
};

/**
 * Sends a request on a new connection, or on one of `agent`. Rejects if the connection ends before
 * the response, or after a minute, in which case the service hangs.
 */
async function send({
  url,
  key,
  query = QUERY,
  variables,
  requestId = 'any',
  agent = false,
}: SentRequest): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'x-partner-api-key': key,
    'x-request-id': requestId,
  };
  const sent = request(`${url}/graphql`, { method: 'POST', headers, agent, timeout: 60_000 });
  sent.on('timeout', () => sent.destroy(new Error(HANG)));
  sent.end(JSON.stringify({ query, variables }));
  const [response] = await once(sent, 'response');
  return `${response.statusCode} ${await text(response)}`;
}

const isReady = async ({ adminUrl }: Running) => (await fetch(`${adminUrl}/readyz`)).status === 200;
/** `up` if all workers accept requests, `degraded` if some do not. */
const workersStateOf = async ({ adminUrl }: Running) => {
  const body = await (await fetch(`${adminUrl}/readyz`)).json();
  // Cast: the form that the contract promises.
  return (body as { dependencies: Record<string, string> }).dependencies.workers;
};
const isComplete = async (running: Running) => (await workersStateOf(running)) === 'up';
const metricsOf = async ({ adminUrl }: Running) => (await fetch(`${adminUrl}/metrics`)).text();

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The process ids of the workers, oldest first, including those that are still starting. */
function workersOf({ pid }: Running): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number);
  // On Node 20, the primary has a child process that compiles TypeScript.
  return children.filter((child) =>
    /(start|main)\.(ts|mjs)/.test(readFileSync(`/proc/${child}/cmdline`, 'utf8')),
  );
}

/** Begins a request on a new connection. Resolves when a worker waits for the body. */
async function beginRequest({
  stack,
  keys,
}: DeployedService): Promise<{ socket: Socket; end: () => Promise<string> }> {
  const { hostname, port } = new URL(stack.gateway.url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  const body = JSON.stringify({ query: QUERY });
  const head = [
    'POST /graphql HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `x-partner-api-key: ${keys.alpha}`,
    'connection: close',
  ];
  socket.write(
    `${[...head, `content-length: ${body.length}`, 'expect: 100-continue'].join('\r\n')}\r\n\r\n`,
  );
  expect(String(await once(socket, 'data'))).toContain('100 Continue');
  const end = async () => {
    socket.write(body);
    return text(socket);
  };
  return { socket, end };
}

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

test('SIGTERM to the primary: every worker finishes its requests, and all end with 0', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  // A terminal sends SIGINT to all processes; the workers leave it to the primary.
  for (const pid of workers) process.kill(pid, 'SIGINT');
  const held = [
    await beginRequest(service),
    await beginRequest(service),
    await beginRequest(service),
    await beginRequest(service),
  ];
  const code = gateway.stop();
  await until(async () => !(await isReady(gateway)));
  expect((await fetch(`${gateway.adminUrl}/livez`)).status).toBe(200);
  await until(() =>
    send({ url: gateway.url, key: service.keys.alpha }).then(
      () => false,
      (error) => error.code === 'ECONNREFUSED',
    ),
  );
  for (const { end } of held) expect(await end()).toContain(ANSWER);
  expect(await code).toBe(0);
  expect(workers).toHaveLength(2);
  expect(workers.filter(isRunning)).toEqual([]);
  expect(gateway.output()).not.toMatch(/"level":"(warn|error|fatal)"/);
  await service.close();
});

test('a second signal ends the primary and its workers at once', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  const { socket } = await beginRequest(service);
  process.kill(gateway.pid, 'SIGTERM');
  await until(async () => !(await isReady(gateway)));
  process.kill(gateway.pid, 'SIGINT');
  await gateway.ended;
  await until(() => !workers.some(isRunning));
  expect(await gateway.stop()).toBe(1);
  socket.destroy();
  await service.close();
});

test('if the primary is killed, the workers finish their requests and end', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  const held = [await beginRequest(service), await beginRequest(service)];
  process.kill(gateway.pid, 'SIGKILL');
  await until(() => !isRunning(gateway.pid));
  for (const { end } of held) expect(await end()).toContain(ANSWER);
  await until(() => !workers.some(isRunning));
  await service.close();
});

test('if workers cannot be replaced, the others go on; after the last one, the primary ends with 1', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const folder = service.stack.env.DATA_DIR ?? '';
  const [first = 0, second = 0] = workersOf(gateway);
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, 'no folder');
  try {
    process.kill(first, 'SIGKILL');
    await until(() => /ENOTDIR|EEXIST/.test(gateway.output()));
    expect(await isReady(gateway)).toBe(true);
    expect(await workersStateOf(gateway)).toBe('degraded');
    expect(await send({ url: gateway.url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
    process.kill(second, 'SIGKILL');
    await gateway.ended;
    expect(gateway.output()).toContain('no worker can be started');
    expect(await gateway.stop()).toBe(1);
  } finally {
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    await service.close();
  }
});

test('gateway and subgraphs with two workers each survive the loss of one of each, with budgets in Redis', async () => {
  const service = await startDeployed('three processes on MongoDB and Redis', { WORKERS: '2' });
  const { gateway, members, standings } = service.stack;
  const all = [gateway, members, standings].filter((running) => running !== undefined);
  for (const running of all) expect(workersOf(running)).toHaveLength(2);
  const key = await addPartner(service.stack.stores.keys, { partnerId: 'fifty', budget: 50 });
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => send({ url: gateway.url, key, query: '{ __typename }' })),
  );
  expect(responses.filter((response) => response.startsWith('200'))).toHaveLength(50);
  const victims = all.map((running) => workersOf(running)[0] ?? 0);
  for (const victim of victims) process.kill(victim, 'SIGKILL');
  await until(
    async () => !victims.some(isRunning) && (await Promise.all(all.map(isComplete))).every(Boolean),
  );
  for (let round = 0; round < 10; round++)
    expect(await send({ url: gateway.url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
  await service.close();
});

describe('npm start', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  const services: Service[] = [];
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.kill()));
    folder.remove();
  });

  async function start(env: Record<string, string> = {}): Promise<Service> {
    const service = await startService({ DATA_DIR: folder.path, WORKERS: '2', ...env });
    services.push(service);
    return service;
  }

  test('fills the demo and prints the URL once, and its curl works; SIGTERM to npm ends everything with 0', async () => {
    const service = await start();
    await until(() => service.output().includes('"listening"'));
    const output = service.output();
    expect(output.match(/\/graphql\n/g)).toHaveLength(1);
    expect(output.match(/^ +\S+ +pk_test_\w{36}$/gm)).toHaveLength(3);
    const [curl = ''] = /^curl .*$/m.exec(output) ?? [];
    for (let round = 0; round < 4; round++)
      expect(JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8' }))).toMatchObject({
        data: { memberByEmail: { memberId: 'demo-001', points: 5200 } },
      });
    expect(await loyaltyJson({ DATA_DIR: folder.path }, 'partners', 'list')).toHaveLength(3);
    expect(
      await loyaltyJson({ DATA_DIR: folder.path }, 'keys', 'list', 'demo-trains'),
    ).toHaveLength(1);
    expect(await service.stop('SIGTERM')).toBe(0);
    await expect(fetch(service.endpoint)).rejects.toThrow();
  });

  test('a signal during the start ends everything with 0', async () => {
    const service = await start(); // One worker listens, the other one is still starting.
    expect(await service.stop('SIGTERM')).toBe(0);
  });

  test('a port in use ends the start with a message and without a stack trace', async () => {
    const port = `${await freePort()}`;
    await start({ PORT: port });
    const why = await start({ PORT: port, ADMIN_PORT: '0' }).catch((error: Error) => error.message);
    expect(why).toContain(`EADDRINUSE`);
    expect(why).toContain('no worker can be started');
    expect(why).not.toMatch(/ at .*:\d+:\d+/);
  });

  test('invalid settings end the start before any worker starts', async () => {
    const why = await start({ PORT: 'many' }).catch((error: Error) => error.message);
    expect(why).toContain('PORT');
    expect(why).not.toContain('worker');
  });
});
