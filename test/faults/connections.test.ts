// Broken, slow and endless connections at the running service: each is refused or answered, and all the while others are answered as ever.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Started, startFilled } from '../support/service/deployed.ts';
import { faultsOf } from '../support/service/leaks.ts';
import { type Heartbeat, startHeartbeat } from '../support/service/probe.ts';

let service: Started;
let heartbeat: Heartbeat;

beforeAll(async () => {
  service = await startFilled('in one process', { RATE_LIMIT_BUDGET: '1000000' });
  heartbeat = await startHeartbeat(service.ask);
  expect(heartbeat.heard).toContain('"memberId":"m-both"');
});
afterAll(() => service.close());

const head = (length: number | string) =>
  `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-partner-api-key: ${service.keys.alpha}\r\n${length}\r\n`;
const lengthOf = (length: number) => head(`content-length: ${length}\r\n`);
const chunked = () => head('transfer-encoding: chunked\r\n');

function dial(): Socket {
  const { hostname, port } = new URL(service.stack.gateway.url);
  return connect(Number(port), hostname)
    .setEncoding('utf8')
    .on('error', () => undefined);
}

/** Sends, and gives what comes back until the service ends the connection. */
async function talk(sent: string): Promise<string> {
  const socket = dial();
  let answer = '';
  socket.on('data', (part) => {
    answer += part;
  });
  socket.write(sent);
  await once(socket, 'close');
  return answer;
}

test.each([
  ['garbage', () => 'hello\r\n\r\n', 400],
  ['TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['headers without an end', () => `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(20_000)}`, 431],
  [
    'a key of 20,000 letters',
    () => `POST /graphql HTTP/1.1\r\nhost: x\r\nx-partner-api-key: ${'k'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  ['two lengths', () => `${lengthOf(1).trimEnd()}\r\ncontent-length: 2\r\n\r\nx`, 400],
  [
    'a length and chunks',
    () => `${lengthOf(1).trimEnd()}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ['a chunk that is none', () => `${chunked()}xyz\r\n`, 400],
  ['a negative length', () => head('content-length: -1\r\n'), 400],
])('%s is refused in JSON, with a request id', async (_, sent, status) => {
  const answer = await heartbeat.during(() => talk(sent()));
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const [, id] = /\r\nx-request-id: (\S+)\r\n/.exec(answer) ?? [];
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
    errors: [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST', requestId: id } }],
  });
  expect(faultsOf(answer)).toEqual([]);
});

test.each(['CONNECT', 'TRACE', 'M-SEARCH'])('%s gets 405', async (method) => {
  const answer = await heartbeat.during(() =>
    talk(`${method} /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  );
  expect(answer).toMatch(/^HTTP\/1.1 405 [\s\S]+METHOD_NOT_ALLOWED/);
});

test('a body too large in chunks is refused as soon as that is known', async () => {
  const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
  const socket = dial();
  socket.write(chunked() + chunk.repeat(3));
  const [answer] = await heartbeat.during(() => once(socket, 'data'));
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  socket.destroy();
});

test('a hundred bodies that never end hold up nobody', async () => {
  const sockets = Array.from({ length: 100 }, () => {
    const socket = dial();
    socket.write(`${lengthOf(1_000)}{"query":"`);
    return socket;
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await heartbeat.during(async () => {
    for (const socket of sockets) socket.write(' ');
    for (const _ of Array(20).keys())
      expect((await service.ask(heartbeat.asked)).text).toBe(heartbeat.heard);
  });
  for (const socket of sockets) socket.destroy();
});

test('callers who leave before they are answered hold up nobody', async () => {
  await heartbeat.during(async () => {
    for (const _ of Array(100).keys()) {
      const body = JSON.stringify({
        query: heartbeat.asked.query,
        variables: { email: 'both@example.com' },
      });
      const socket = dial();
      socket.write(lengthOf(body.length) + body);
      await once(socket, 'connect');
      socket.destroy();
    }
  });
});

test('a request that comes byte by byte is answered', async () => {
  const body = JSON.stringify(heartbeat.asked);
  const socket = dial();
  const answered = once(socket, 'data');
  for (const byte of lengthOf(Buffer.byteLength(body)) + body) socket.write(byte);
  const [answer] = await heartbeat.during(() => answered);
  expect(answer).toContain('"memberId":"m-both"');
  socket.destroy();
});

test('requests sent on without waiting are answered in their order', async () => {
  const bodies = ['both', 'alpha.only', 'unknown', 'both'].map((local) =>
    JSON.stringify({ query: heartbeat.asked.query, variables: { email: `${local}@example.com` } }),
  );
  const sent = bodies.map(
    (body, index) =>
      `${lengthOf(body.length).trimEnd()}\r\nx-request-id: r${index}${index === 3 ? '\r\nconnection: close' : ''}\r\n\r\n${body}`,
  );
  const answer = await heartbeat.during(() => talk(sent.join('')));
  expect(
    [...answer.matchAll(/x-request-id: (\S+)|"memberId":"(\S+?)"|"code":"(\S+?)"/g)].map(
      ([, id, member, code]) => id ?? member ?? code,
    ),
  ).toEqual(['r0', 'm-both', 'r1', 'm-alpha', 'r2', 'MEMBER_NOT_FOUND', 'r3', 'm-both']);
});
