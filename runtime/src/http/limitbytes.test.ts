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
  /** A limited connection to a server that sends this; what it reads, as often as it may. */
  async function reading(text: string, hostname = 'a.example') {
    const socket = await connected(await portOf(createServer((socket) => socket.write(text))));
    const target = { hostname, protocol: 'http:', port: '80' };
    limitBytes((_, callback) => callback(null, socket), 1e9)(target, () => {});
    const reads: string[][] = [];
    socket.on('readable', () => {
      const parts: string[] = [];
      for (let part = socket.read(); part !== null; part = socket.read()) parts.push(`${part}`);
      if (parts.length > 0) reads.push(parts);
    });
    return { socket, reads };
  }
  const LINES = 'a:b\r\n'.repeat(1_000);

  test('is read 128 lines at a time, each time in another turn, and whole if it has no lines', async () => {
    const text = `${LINES}${'x'.repeat(5_000)}`;
    const { socket, reads } = await reading(text);
    await until(() => reads.flat().join('') === text);
    const lines = reads.map((parts) => parts.map((part) => part.split('\n').length - 1));
    expect(lines).toEqual([...Array(7).fill([128]), [104]]);
    sockets.at(-1)?.end();
    await once(socket, 'end');
  });

  test('is not read after its connection was given up', async () => {
    const { socket, reads } = await reading(LINES);
    socket.on('readable', () => reads.length === 1 && socket.destroy());
    await once(socket, 'close');
    socket.emit('readable');
    expect(reads).toEqual([['a:b\r\n'.repeat(128)]]);
  });

  test('is given up after some 32,768 lines', async () => {
    const { socket, reads } = await reading('\n'.repeat(1_000_000));
    await until(() => socket.destroyed);
    expect(reads.flat().join('').length).toBeLessThan(40_000);
  });

  test('on 40 connections to a host keeps none of another host waiting', async () => {
    const ended: string[] = [];
    const from = sockets.length;
    for (const hostname of [...Array(40).fill('a.example'), 'b.example']) {
      const { socket, reads } = await reading('', hostname);
      socket.on('readable', () => reads.length === 8 && ended.push(hostname));
    }
    for (const socket of sockets.slice(from)) socket.write(LINES);
    await until(() => ended.includes('b.example'));
    expect(ended.indexOf('b.example')).toBeLessThan(20);
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
