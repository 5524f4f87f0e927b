// Several processes behind one port: one budget, one demo, one metrics page, and a worker that dies takes nothing with it but what it held.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/servers/port.ts';
import { type Started, startFilled } from '../support/service/deployed.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { type Service, startService } from '../support/service/npmstart.ts';
import type { Running } from '../support/service/stack.ts';
import { addPartner } from '../support/service/testdata.ts';

const QUERY = '{ memberByEmail(email: "both@example.com") { memberId tier } }';
const ANSWER = '{"data":{"memberByEmail":{"memberId":"m-both","tier":"Silver"}}}';

type Asking = {
  url: string;
  key: string;
  query?: string;
  variables?: object;
  requestId?: string;
  agent?: RequestOptions['agent'];
};

/** Asks over a connection of its own, or one of `agent`. Rejects where the connection ends first, or nothing comes for 5 seconds. */
async function ask({
  url,
  key,
  query = QUERY,
  variables,
  requestId = 'any',
  agent = false,
}: Asking): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'x-partner-api-key': key,
    'x-request-id': requestId,
  };
  const sent = request(`${url}/graphql`, { method: 'POST', headers, agent, timeout: 5_000 });
  sent.on('timeout', () => sent.destroy(new Error('nothing came')));
  sent.end(JSON.stringify({ query, variables }));
  const [response] = await once(sent, 'response');
  return `${response.statusCode} ${await text(response)}`;
}

/** Resolves once `found` gives something, looking every 20 ms. Rejects after 30 seconds. */
async function until<T>(
  found: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; ) {
    const value = await found();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`still waiting for ${found}`);
}

const isReady = async ({ adminUrl }: Running) => (await fetch(`${adminUrl}/readyz`)).status === 200;
const textOf = async ({ adminUrl }: Running) => (await fetch(`${adminUrl}/metrics`)).text();

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The process ids of the workers that run, oldest first; a start that goes on is one too. */
function workersOf({ pid }: Running): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number);
  // On Node 20 the primary has a compiler for a child as well.
  return children.filter((child) =>
    /(start|main)\.ts/.test(readFileSync(`/proc/${child}/cmdline`, 'utf8')),
  );
}

/** Begins a request on a connection of its own, and gives that once a worker is at work on it: it has asked for the body. */
async function begin({
  stack,
  keys,
}: Started): Promise<{ socket: Socket; end: () => Promise<string> }> {
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

describe('everything in one process, twice', () => {
  let service: Started;
  let url: string;

  beforeAll(async () => {
    service = await startFilled('in one process', { WORKERS: '2', RATE_LIMIT_BUDGET: '1000000' });
    url = service.stack.gateway.url;
  }, 60_000);
  afterAll(() => service.close());

  /** A connection to each of the two, and the id of the process at its other end. */
  async function pinned(): Promise<Map<number, Agent>> {
    const agents = new Map<number, Agent>();
    for (let tries = 0; agents.size < 2; tries++) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const requestId = `pin-${tries}`;
      await ask({ url, key: service.keys.alpha, requestId, agent });
      const line = new RegExp(`"pid":(\\d+),"requestId":"${requestId}"`);
      const [, pid] = await until(() => line.exec(service.stack.gateway.output()) ?? undefined);
      if (agents.has(Number(pid))) agent.destroy();
      else agents.set(Number(pid), agent);
    }
    return agents;
  }

  test('it is ready, with two workers, on the port that it says', async () => {
    expect(workersOf(service.stack.gateway)).toHaveLength(2);
    expect(await isReady(service.stack.gateway)).toBe(true);
    expect(await ask({ url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
  });

  test('a budget of 50 answers exactly 50 of 200 requests at once over many connections, without Redis', async () => {
    const key = await addPartner(service.stack.stores.keys, { partnerId: 'fifty', budget: 50 });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => ask({ url, key, query: '{ __typename }' })),
    );
    const statuses = answers.map((answer) => answer.slice(0, 3));
    expect(statuses.filter((status) => status === '200')).toHaveLength(50);
    expect(statuses.filter((status) => status === '429')).toHaveLength(150);
  });

  test('what is enrolled on one worker is read at once on the other, and ended at once too', async () => {
    const [one, other] = [...(await pinned()).values()];
    const key = service.keys.alpha;
    const enroll =
      'mutation ($email: String!) { enrollMember(input: { email: $email }) { created member { memberId } } }';
    const read = 'query ($email: String!) { memberByEmail(email: $email) { memberId } }';
    const stop = 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }';
    for (let turn = 0; turn < 25; turn++) {
      const [here, there] = turn % 2 === 0 ? [one, other] : [other, one];
      const variables = { email: `enrolled-${turn}@example.com` };
      const enrolled = await ask({ url, key, query: enroll, variables, agent: here });
      expect(enrolled).toContain('"created":true');
      const [, memberId] = /"memberId":"([^"]+)"/.exec(enrolled) ?? [];
      expect(await ask({ url, key, query: read, variables, agent: there })).toContain(
        `{"memberId":"${memberId}"}`,
      );
      await ask({ url, key, query: stop, variables: { memberId }, agent: there });
      expect(await ask({ url, key, query: read, variables, agent: here })).toContain(
        'MEMBER_NOT_FOUND',
      );
    }
    for (const agent of [one, other]) agent?.destroy();
  });

  test('the metrics are those of both, and do not fall when one of them ends', async () => {
    const { gateway } = service.stack;
    const count = async () =>
      Number(
        /^loyalty_request_duration_seconds_count\{status="200",code="OK"\} (\d+)$/m.exec(
          await textOf(gateway),
        )?.[1],
      );
    const agents = await pinned();
    const before = await count();
    for (const agent of agents.values()) {
      for (let turn = 0; turn < 10; turn++) await ask({ url, key: service.keys.alpha, agent });
      agent.destroy();
    }
    expect(await count()).toBe(before + 20);
    const page = await textOf(gateway);
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
    await until(async () => !isRunning(pid) && (await isReady(gateway)));
    expect(await count()).toBeGreaterThanOrEqual(before + 20);
  }, 60_000);

  test('kill -9 of a worker under load fails only what it held; it is replaced, and ready again', async () => {
    const { gateway } = service.stack;
    const CLIENTS = 24;
    const failures: { startedAt: number; why: string }[] = [];
    let answered = 0;
    let over = false;
    // One half keeps its connections, the other opens one for each request, so that some are always on their way to a worker.
    const clients = Array.from({ length: CLIENTS }, async (_, index) => {
      const agent = index % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : false;
      while (!over) {
        const startedAt = performance.now();
        try {
          expect(await ask({ url, key: service.keys.alpha, agent })).toBe(`200 ${ANSWER}`);
          answered += 1;
        } catch (error) {
          failures.push({ startedAt, why: String(error) });
        }
      }
      if (agent) agent.destroy();
    });
    const answerMore = (count: number) => {
      const goal = answered + count;
      return until(() => answered >= goal);
    };
    try {
      for (let kill = 0; kill < 3; kill++) {
        await answerMore(200);
        failures.length = 0;
        const [victim = 0] = workersOf(gateway);
        process.kill(victim, 'SIGKILL');
        await until(() => !isRunning(victim));
        expect(await isReady(gateway)).toBe(false);
        // Only now: by this time the clients have been told of the connections that ended with it.
        const endedAt = performance.now();
        await until(() => isReady(gateway));
        await answerMore(200);
        expect(failures.length).toBeLessThanOrEqual(CLIENTS);
        expect(
          failures.filter(
            ({ startedAt, why }) => startedAt > endedAt || why.includes('nothing came'),
          ),
        ).toEqual([]);
      }
    } finally {
      over = true;
      await Promise.all(clients);
    }
    expect(workersOf(gateway)).toHaveLength(2);
  }, 120_000);

  test('a worker that is told to end finishes what it holds, and is replaced', async () => {
    const { gateway } = service.stack;
    const held = [await begin(service), await begin(service)];
    const [first = 0, second = 0] = workersOf(gateway);
    process.kill(first, 'SIGTERM');
    await until(async () => !(await isReady(gateway)));
    for (const { end } of held) expect(await end()).toContain(ANSWER);
    await until(async () => !isRunning(first) && (await isReady(gateway)));
    expect(workersOf(gateway)[0]).toBe(second);
  }, 60_000);
});

test('SIGTERM: not ready, nothing new, what runs is finished on every worker, exit code 0, nobody left', async () => {
  const service = await startFilled('in one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  // As from a terminal, which sends it to all of them; the workers leave it to the primary.
  for (const pid of workers) process.kill(pid, 'SIGINT');
  const held = [
    await begin(service),
    await begin(service),
    await begin(service),
    await begin(service),
  ];
  const code = gateway.stop();
  await until(async () => !(await isReady(gateway)));
  expect((await fetch(`${gateway.adminUrl}/livez`)).status).toBe(200);
  await until(() =>
    ask({ url: gateway.url, key: service.keys.alpha }).then(
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
}, 60_000);

test('a second signal ends the primary and its workers at once, whatever runs', async () => {
  const service = await startFilled('in one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  const { socket } = await begin(service);
  process.kill(gateway.pid, 'SIGTERM');
  await until(async () => !(await isReady(gateway)));
  process.kill(gateway.pid, 'SIGINT');
  await gateway.ended;
  await until(() => !workers.some(isRunning));
  expect(await gateway.stop()).toBe(1);
  socket.destroy();
  await service.close();
}, 60_000);

test('when the primary is killed, the workers finish what they hold and end', async () => {
  const service = await startFilled('in one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  const held = [await begin(service), await begin(service)];
  process.kill(gateway.pid, 'SIGKILL');
  await until(() => !isRunning(gateway.pid));
  for (const { end } of held) expect(await end()).toContain(ANSWER);
  await until(() => !workers.some(isRunning));
  await service.close();
}, 60_000);

test('where a worker cannot be replaced the other goes on, and once there is none the primary gives up with 1 and says so', async () => {
  const service = await startFilled('in one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const folder = service.stack.env.DATA_DIR ?? '';
  const [first = 0, second = 0] = workersOf(gateway);
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, 'no folder');
  try {
    process.kill(first, 'SIGKILL');
    await until(() => /ENOTDIR|EEXIST/.test(gateway.output()));
    expect(await isReady(gateway)).toBe(false);
    expect(await ask({ url: gateway.url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
    process.kill(second, 'SIGKILL');
    await gateway.ended;
    expect(gateway.output()).toContain('no worker can be started');
    expect(await gateway.stop()).toBe(1);
  } finally {
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    await service.close();
  }
}, 60_000);

test('gateway and subgraphs run with several workers each, with budgets in Redis, and outlive the loss of one of each', async () => {
  const service = await startFilled('apart, on MongoDB and Redis', { WORKERS: '2' });
  const { gateway, members, standings } = service.stack;
  const all = [gateway, members, standings].filter((running) => running !== undefined);
  for (const running of all) expect(workersOf(running)).toHaveLength(2);
  const key = await addPartner(service.stack.stores.keys, { partnerId: 'fifty', budget: 50 });
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => ask({ url: gateway.url, key, query: '{ __typename }' })),
  );
  expect(answers.filter((answer) => answer.startsWith('200'))).toHaveLength(50);
  const victims = all.map((running) => workersOf(running)[0] ?? 0);
  for (const victim of victims) process.kill(victim, 'SIGKILL');
  await until(
    async () => !victims.some(isRunning) && (await Promise.all(all.map(isReady))).every(Boolean),
  );
  for (let turn = 0; turn < 10; turn++)
    expect(await ask({ url: gateway.url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
  await service.close();
}, 120_000);

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

  test('the demo is filled once, and the address printed once; pasted, the curl answers; SIGTERM to npm ends all of it with 0', async () => {
    const service = await start();
    await until(() => service.output().includes('"listening"'));
    const output = service.output();
    expect(output.match(/\/graphql\n/g)).toHaveLength(1);
    expect(output.match(/^ +\S+ +pk_test_\w{36}$/gm)).toHaveLength(3);
    const [curl = ''] = /^curl .*$/m.exec(output) ?? [];
    for (let turn = 0; turn < 4; turn++)
      expect(JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8' }))).toMatchObject({
        data: { memberByEmail: { memberId: 'demo-001', points: 5200 } },
      });
    expect(await loyaltyJson({ DATA_DIR: folder.path }, 'partners', 'list')).toHaveLength(3);
    expect(
      await loyaltyJson({ DATA_DIR: folder.path }, 'keys', 'list', 'demo-trains'),
    ).toHaveLength(1);
    expect(await service.stop('SIGTERM')).toBe(0);
    await expect(fetch(service.endpoint)).rejects.toThrow();
  }, 60_000);

  test('a signal while it is still starting ends all of it with 0', async () => {
    const service = await start(); // One worker listens, the other is being started.
    expect(await service.stop('SIGTERM')).toBe(0);
  }, 60_000);

  test('a port that is taken ends the start with 1 and says so, without a stack trace', async () => {
    const port = `${await freePort()}`;
    await start({ PORT: port });
    const why = await start({ PORT: port, ADMIN_PORT: '0' }).catch((error: Error) => error.message);
    expect(why).toContain(`EADDRINUSE`);
    expect(why).toContain('no worker can be started');
    expect(why).not.toMatch(/ at .*:\d+:\d+/);
  }, 60_000);

  test('wrong settings end the start before any worker', async () => {
    const why = await start({ PORT: 'many' }).catch((error: Error) => error.message);
    expect(why).toContain('PORT');
    expect(why).not.toContain('worker');
  });
});
