// Shutdown by SIGTERM: running requests are answered, new ones refused, and all processes end.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  type DeployedService,
  type Running,
  startDeployed,
  startStack,
} from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const BODY = JSON.stringify({
  query: '{ memberByEmail(email: "both@example.com") { memberId tier } }',
});
const ANSWER = '{"data":{"memberByEmail":{"memberId":"m-both","tier":"Silver"}}}';

/** A connection to the service's public port. */
async function openSocket({ url }: Running): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname)
    .setEncoding('utf8')
    .on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Begins a request. Resolves with its connection when the service waits for the body. */
async function beginRequest(service: DeployedService): Promise<Socket> {
  const socket = await openSocket(service.stack.gateway);
  const head = [
    'POST /graphql HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `x-partner-api-key: ${service.keys.alpha}`,
  ];
  socket.write(
    `${[...head, `content-length: ${BODY.length}`, 'expect: 100-continue'].join('\r\n')}\r\n\r\n`,
  );
  const [continued] = await once(socket, 'data');
  expect(continued).toContain('100 Continue');
  return socket;
}

async function received(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  await once(socket, 'close');
  return text;
}

function isRunning({ pid }: Running): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilNotReady({ adminUrl }: Running): Promise<void> {
  await until(async () => (await fetch(`${adminUrl}/readyz`)).status === 503);
}

describe('three processes', () => {
  test('SIGTERM: a running request is answered, new connections are refused, and all processes end', async () => {
    const service = await startDeployed('three processes');
    const { gateway, members, standings } = service.stack;
    try {
      expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(200);
      const [active, idle] = [await beginRequest(service), await openSocket(gateway)];
      const [response, idleResponse] = [received(active), received(idle)];
      const code = gateway.stop();
      await untilNotReady(gateway);
      expect((await fetch(`${gateway.adminUrl}/livez`)).status).toBe(200);
      await expect(openSocket(gateway)).rejects.toThrow();
      active.write(BODY);
      expect(await response).toMatch(/^HTTP\/1.1 200 /);
      expect(await response).toContain('connection: close');
      expect(await response).toContain(ANSWER);
      expect(await idleResponse).toBe('');
      expect(await code).toBe(0);
      for (const subgraph of [members, standings]) expect(await (subgraph?.stop() ?? 0)).toBe(0);
      for (const running of [gateway, members, standings])
        if (running) expect(isRunning(running)).toBe(false);
      expect(gateway.output()).not.toMatch(/"level":"(error|fatal)"/);
    } finally {
      await service.close();
    }
  });
});

test('a subgraph that stops finishes the requests of the gateway', async () => {
  const service = await startDeployed('three processes on MongoDB and Redis');
  try {
    const send = () =>
      service.send({ query: '{ memberByEmail(email: "both@example.com") { memberId tier } }' });
    await send();
    const responses = Array.from({ length: 50 }, send);
    await Promise.race(responses);
    const code = service.stack.standings?.stop();
    const statuses = (await Promise.all(responses)).map(({ status, text }) => [
      status,
      status === 200 ? text : '',
    ]);
    // Requests that had not been sent yet find no subgraph; none gets a partial response.
    for (const [status, text] of statuses)
      expect([`200 ${ANSWER}`, '503 ']).toContain(`${status} ${text}`);
    expect(await code).toBe(0);
  } finally {
    await service.close();
  }
});

const statusOf = async (url: string) =>
  (await fetch(url, { headers: { connection: 'close' } })).status;

test('SIGHUP does not stop a process; after SIGTERM, readiness is 503 at once and new connections are served for DRAIN_SECONDS', async () => {
  const stack = await startStack('one process', { DRAIN_SECONDS: '5' });
  const { url, adminUrl, pid, ended, stop } = stack.gateway;
  process.kill(pid, 'SIGHUP');
  expect(await statusOf(`${url}/nowhere`)).toBe(404);
  expect(await statusOf(`${adminUrl}/readyz`)).toBe(200);
  process.kill(pid, 'SIGTERM');
  await until(async () => (await statusOf(`${adminUrl}/readyz`)) === 503);
  expect(await statusOf(`${url}/nowhere`)).toBe(404);
  await until(() =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  );
  await ended; // stop() would be a second signal.
  expect(await stop()).toBe(0);
  await stack.close();
});
