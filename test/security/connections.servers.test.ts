// Broken, slow, endless and countless connections: each is refused or answered, others are served.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { leaksIn } from '../support/service/client.ts';
import { type Probe, startProbe } from '../support/service/probe.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

let service: DeployedService;
let probe: Probe;
const opened: Socket[] = [];

beforeAll(async () => {
  service = await startDeployed('one process', {
    NODE_OPTIONS: '--max-old-space-size=256',
    RATE_LIMIT_BUDGET: '1000000',
    MAX_CONNECTIONS_PER_ADDRESS: '120',
  });
  probe = await startProbe(service.send);
  expect(probe.expected).toContain('"memberId":"m-both"');
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});
afterAll(() => service.close());

function open(): Promise<Socket> {
  const { port, hostname } = new URL(service.stack.gateway.url);
  return new Promise((resolve, reject) => {
    // Another address than the probe's.
    const from = { port: Number(port), host: hostname, localAddress: '127.0.0.2' };
    const socket = connect(from, () => resolve(socket));
    socket.on('error', reject);
    opened.push(socket);
  });
}

const closed = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.on('error', () => {});
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });

/** Resolves with what the service sends until it closes the connection. */
async function received(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece) => void pieces.push(Buffer.from(piece)));
  await closed(socket);
  return Buffer.concat(pieces).toString();
}

const head = (extra: string) =>
  `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${extra}\r\n\r\n`;

const post = (extra: string) => head(`x-partner-api-key: ${service.keys.alpha}\r\n${extra}`);
const lengthOf = (length: number) => post(`content-length: ${length}`);
const chunked = () => post('transfer-encoding: chunked');

/** A socket of a third address, which may be closed before it is connected. */
function openSocket(): Socket {
  const { hostname, port } = new URL(service.stack.gateway.url);
  return connect({ port: Number(port), host: hostname, localAddress: '127.0.0.3' })
    .setEncoding('utf8')
    .on('error', () => undefined);
}

/** Sends bytes. Resolves with all that the service sends until it closes the connection. */
async function exchange(sent: string): Promise<string> {
  const socket = openSocket();
  const response = received(socket);
  socket.write(sent);
  return response;
}

test.each([
  ['garbage', () => 'hello\r\n\r\n', 400],
  ['TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['endless headers', () => `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(20_000)}`, 431],
  [
    'a key of 20,000 characters',
    () => `POST /graphql HTTP/1.1\r\nhost: x\r\nx-partner-api-key: ${'k'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  ['two content lengths', () => `${lengthOf(1).trimEnd()}\r\ncontent-length: 2\r\n\r\nx`, 400],
  [
    'a content length and chunked encoding',
    () => `${lengthOf(1).trimEnd()}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ['an invalid chunk', () => `${chunked()}xyz\r\n`, 400],
  ['a negative content length', () => post('content-length: -1'), 400],
])('%s: refused in JSON with a request id', async (_, sent, status) => {
  const response = await probe.during(() => exchange(sent()));
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const [, id] = /\r\nx-request-id: (\S+)\r\n/.exec(response) ?? [];
  expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toEqual({
    errors: [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST', requestId: id } }],
  });
  expect(leaksIn(response)).toEqual([]);
});

test.each(['CONNECT', 'TRACE', 'M-SEARCH'])('405 for %s', async (method) => {
  const response = await probe.during(() =>
    exchange(`${method} /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  );
  expect(response).toMatch(/^HTTP\/1.1 405 [\s\S]+METHOD_NOT_ALLOWED/);
});

test('413 for a chunked body as soon as it is too large', async () => {
  const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
  const socket = openSocket();
  socket.write(chunked() + chunk.repeat(3));
  const [response] = await probe.during(() => once(socket, 'data'));
  expect(response).toMatch(/^HTTP\/1.1 413 /);
  socket.destroy();
});

test('a hundred endless bodies delay nobody', async () => {
  const sockets = Array.from({ length: 100 }, () => {
    const socket = openSocket();
    socket.write(`${lengthOf(1_000)}{"query":"`);
    return socket;
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await probe.during(async () => {
    for (const socket of sockets) socket.write(' ');
    for (const _ of Array(20).keys())
      expect((await service.send(probe.request)).text).toBe(probe.expected);
  });
  for (const socket of sockets) socket.destroy();
});

test('callers who leave before the response delay nobody', async () => {
  await probe.during(async () => {
    for (const _ of Array(100).keys()) {
      const body = JSON.stringify({
        query: probe.request.query,
        variables: { email: 'both@example.com' },
      });
      const socket = openSocket();
      socket.write(lengthOf(body.length) + body);
      await once(socket, 'connect');
      socket.destroy();
    }
  });
});

test('a request that arrives byte by byte is answered', async () => {
  const body = JSON.stringify(probe.request);
  const socket = openSocket();
  const answered = once(socket, 'data');
  for (const byte of lengthOf(Buffer.byteLength(body)) + body) socket.write(byte);
  const [response] = await probe.during(() => answered);
  expect(response).toContain('"memberId":"m-both"');
  socket.destroy();
});

test('pipelined requests are answered in order', async () => {
  const bodies = ['both', 'alpha.only', 'unknown', 'both'].map((local) =>
    JSON.stringify({ query: probe.request.query, variables: { email: `${local}@example.com` } }),
  );
  const sent = bodies.map(
    (body, index) =>
      `${lengthOf(body.length).trimEnd()}\r\nx-request-id: r${index}${index === 3 ? '\r\nconnection: close' : ''}\r\n\r\n${body}`,
  );
  const response = await probe.during(() => exchange(sent.join('')));
  expect(
    [...response.matchAll(/x-request-id: (\S+)|"memberId":"(\S+?)"|"code":"(\S+?)"/g)].map(
      ([, id, member, code]) => id ?? member ?? code,
    ),
  ).toEqual(['r0', 'm-both', 'r1', 'm-alpha', 'r2', 'MEMBER_NOT_FOUND', 'r3', 'm-both']);
});

test('a body of one-byte chunks is cut off before it is all read', async () => {
  const sockets = await Promise.all(Array.from({ length: 10 }, open));
  const responses = await probe.during(() =>
    Promise.all(
      sockets.map((socket) => {
        const response = received(socket);
        socket.write(head('transfer-encoding: chunked'));
        socket.write('1\r\n \r\n'.repeat(100_000));
        return response;
      }),
    ),
  );
  for (const response of responses) expect(response).toMatch(/^HTTP\/1\.1 413 /);
});

test('a body of small chunks within the bound is read', async () => {
  const body = JSON.stringify({ query: '{ __typename }' });
  const socket = await open();
  const response = received(socket);
  socket.write(head(`transfer-encoding: chunked\r\nconnection: close\r\nx-partner-api-key: x`));
  socket.write(`${Array.from(body, (byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`);
  expect(await response).toMatch(/^HTTP\/1\.1 401 /);
});

test('connections beyond the limit of their address are closed, the others served', async () => {
  const sockets = await Promise.all(Array.from({ length: 170 }, open));
  let count = 0;
  await probe.during(async () => {
    for (const socket of sockets)
      void closed(socket).then(() => {
        count += 1;
      });
    await until(() => count >= 50);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  });
  expect(count).toBeLessThan(70);
});

test('responses that nobody reads are closed, and others are served meanwhile', async () => {
  const names = Array.from({ length: 180 }, (_, n) => `${'a'.repeat(20)}${n}: name`).join(' ');
  const query = `{ __schema { types { fields { ${names} } } } }`;
  expect((await service.send({ query })).status).toBe(200);
  const body = JSON.stringify({ query });
  const before = await openDescriptors();
  const key = service.keys.alpha;
  const sockets = await Promise.all(Array.from({ length: 8 }, open));
  const pipelined = `${head(`content-length: ${body.length}\r\nx-partner-api-key: ${key}`)}${body}`;
  await probe.during(async () => {
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.pause();
      socket.write(pipelined.repeat(40));
    }
    // A client that does not read does not see its connection close either.
    await until(async () => (await openDescriptors()) <= before + 4);
  });
});

async function openDescriptors(): Promise<number> {
  const response = await fetch(`${service.stack.gateway.adminUrl}/metrics`);
  return Number(/^process_open_fds (\d+)$/m.exec(await response.text())?.[1]);
}
