// SIGTERM while a request runs: not ready, nothing new accepted, the running one answered, exit code 0, nobody left.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Started, startFilled } from '../support/service/deployed.ts';
import type { Running, Shape } from '../support/service/stack.ts';

const BODY = JSON.stringify({
  query: '{ memberByEmail(email: "both@example.com") { memberId tier } }',
});
const ANSWER = '{"data":{"memberByEmail":{"memberId":"m-both","tier":"Silver"}}}';

/** A connection to the service's port for clients. */
async function dial({ url }: Running): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname)
    .setEncoding('utf8')
    .on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Begins a request and gives its connection once the service is at work on it: it has asked for the body. */
async function begin(service: Started): Promise<Socket> {
  const socket = await dial(service.stack.gateway);
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

async function heard(socket: Socket): Promise<string> {
  let answer = '';
  socket.on('data', (part) => {
    answer += part;
  });
  await once(socket, 'close');
  return answer;
}

function isRunning({ pid }: Running): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilNotReady({ adminUrl }: Running): Promise<void> {
  while ((await fetch(`${adminUrl}/readyz`)).status !== 503)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

describe.each<Shape>(['in one process', 'apart'])('%s', (shape) => {
  test('a running request is answered, and nothing new is accepted', async () => {
    const service = await startFilled(shape);
    const { gateway, members, standings } = service.stack;
    try {
      expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(200);
      const [running, idle] = [await begin(service), await dial(gateway)];
      const [answered, left] = [heard(running), heard(idle)];
      const code = gateway.stop();
      await untilNotReady(gateway);
      expect((await fetch(`${gateway.adminUrl}/livez`)).status).toBe(200);
      await expect(dial(gateway)).rejects.toThrow();
      running.write(BODY);
      const answer = await answered;
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
      expect(answer).toContain('connection: close');
      expect(answer).toContain(ANSWER);
      expect(await left).toBe('');
      expect(await code).toBe(0);
      for (const subgraph of [members, standings]) expect(await (subgraph?.stop() ?? 0)).toBe(0);
      for (const one of [gateway, members, standings]) if (one) expect(isRunning(one)).toBe(false);
      expect(gateway.output()).not.toMatch(/"level":"(error|fatal)"/);
    } finally {
      await service.close();
    }
  }, 60_000);
});

test('a subgraph finishes what the gateway has asked it', async () => {
  const service = await startFilled('apart, on MongoDB and Redis');
  try {
    const ask = () =>
      service.ask({ query: '{ memberByEmail(email: "both@example.com") { memberId tier } }' });
    await ask();
    const asked = Array.from({ length: 50 }, ask);
    await Promise.race(asked);
    const code = service.stack.standings?.stop();
    const statuses = (await Promise.all(asked)).map(({ status, text }) => [
      status,
      status === 200 ? text : '',
    ]);
    // Those that had not been sent yet find the subgraph gone; none hears a half of an answer.
    for (const [status, text] of statuses)
      expect([`200 ${ANSWER}`, '503 ']).toContain(`${status} ${text}`);
    expect(await code).toBe(0);
  } finally {
    await service.close();
  }
}, 60_000);

test('a client that never finishes its request does not keep the service from ending', async () => {
  const service = await startFilled('in one process');
  const socket = await begin(service);
  socket.write(BODY.slice(0, 10));
  expect(await service.stack.gateway.stop()).toBe(0);
  await service.close();
}, 60_000);

test('SIGINT ends it as SIGTERM does', async () => {
  const service = await startFilled('in one process');
  process.kill(service.stack.gateway.pid, 'SIGINT');
  await service.stack.gateway.ended;
  expect(await service.stack.gateway.stop()).toBe(0);
  await service.close();
});
