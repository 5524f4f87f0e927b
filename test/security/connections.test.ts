// Bodies in tiny chunks, responses that nobody reads and floods of connections stay bounded.
import { connect, type Socket } from 'node:net';
import { type DeployedService, startDeployed } from '../support/service/deployed.ts';
import { type Probe, startProbe } from '../support/service/probe.ts';
import { until } from '../support/until.ts';

let service: DeployedService;
let probe: Probe;
const opened: Socket[] = [];

beforeAll(async () => {
  service = await startDeployed('one process', {
    NODE_OPTIONS: '--max-old-space-size=256',
    RATE_LIMIT_BUDGET: '1000000',
    MAX_CONNECTIONS_PER_ADDRESS: '100',
  });
  probe = await startProbe(service.send);
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
  socket.on('data', (piece) => void pieces.push(piece));
  await closed(socket);
  return Buffer.concat(pieces).toString();
}

const head = (extra: string) =>
  `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${extra}\r\n\r\n`;

test('a body of one-byte chunks is cut off before it is all read', async () => {
  const sockets = await Promise.all(Array.from({ length: 30 }, open));
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
  const sockets = await Promise.all(Array.from({ length: 150 }, open));
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
