// What arrives from servers of strangers is read in small parts, and their handshakes take turns.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { CERTIFICATE, KEY } from '../../../test/support/servers/certificate.ts';
import { until } from '../../../test/support/until.ts';
import { limitBytes, secureConnector } from './limitbytes.ts';

/** Those of servers. */
const sockets: Socket[] = [];
const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function portOf(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    closing.push(() => socket.destroy());
  });
  closing.push(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

describe('what has arrived', () => {
  /** A limited connection on which this has arrived, and nobody has read. */
  async function arrived(text: string): Promise<Socket> {
    const socket = await connected(await portOf(createServer((socket) => socket.write(text))));
    const target = { hostname: '127.0.0.1', protocol: 'http:', port: '80' };
    limitBytes((_, callback) => callback(null, socket), 1e9)(target, () => {});
    socket.on('readable', () => {});
    await until(() => socket.readableLength === text.length);
    return socket;
  }
  const TEXT = `${'a:b\r\n'.repeat(1_000)}${'x'.repeat(5_000)}`;

  test('is read 256 lines at a time, and whole if it has no lines', async () => {
    const socket = await arrived(TEXT);
    const parts: string[] = [];
    for (let part = socket.read(); part !== null; part = socket.read()) parts.push(`${part}`);
    expect(parts.join('')).toBe(TEXT);
    const lines = parts.map((part) => part.split('\n').length - 1);
    expect(lines).toEqual([...Array(3).fill(256), 232]);
    sockets.at(-1)?.end();
    await once(socket, 'end');
  });

  test('is given up after some 65,536 lines', async () => {
    const socket = await arrived('\n'.repeat(60_000));
    const server = sockets.at(-1);
    let read = 0;
    const readAll = () => {
      for (let part = socket.read(); part !== null; part = socket.read()) read += part.length;
    };
    socket.on('readable', readAll);
    readAll();
    for (let more = 0; more < 20; more += 1) server?.write('\n'.repeat(60_000));
    await until(() => socket.destroyed);
    expect(read).toBeLessThan(70_000);
  });

  test('is not read after its connection was given up', async () => {
    const socket = await arrived(TEXT);
    expect(`${socket.read()}`).toBe('a:b\r\n'.repeat(256));
    socket.destroy();
    expect(socket.read()).toBeNull();
  });
});

test('a host with 40 handshakes at once does not keep another one waiting', async () => {
  const upstream = await portOf(createTlsServer({ key: KEY, cert: CERTIFICATE }));
  const held: (() => void)[] = [];
  const port = await portOf(
    createServer((socket) => {
      const server = connect(upstream, '127.0.0.1').on('error', () => {});
      socket.pipe(server);
      server.once('readable', () => held.push(() => server.pipe(socket)));
    }),
  );
  const secure = secureConnector(60_000, false);
  const ended: string[] = [];
  for (const hostname of [...Array(40).fill('a.example'), 'b.example']) {
    const target = { hostname, host: hostname, protocol: 'https:', port: `${port}` };
    secure(target, await connected(port), () => ended.push(hostname));
  }
  await until(() => held.length === 41);
  for (const release of held) release();
  await until(() => ended.length === 41);
  expect(ended.indexOf('b.example')).toBeLessThan(10);
});
