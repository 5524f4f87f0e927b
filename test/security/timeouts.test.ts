// Clients and receivers that are too slow, or slow enough: all at the same time, as they only wait.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createOutgoing } from '@partner-loyalty/webhooks/outgoing.ts';
import type { HttpResponse } from '../../runtime/src/http/response.ts';
import { serveHttp } from '../../runtime/src/http/server.ts';
import { createLog } from '../../runtime/src/observe/log.ts';
import { until } from '../support/until.ts';

const serve = (response: HttpResponse) =>
  serveHttp({
    port: 0,
    host: '127.0.0.1',
    handle: () => response,
    trustedProxies: [],
    log: createLog('silent'),
  });

test.concurrent('408 as JSON with a request ID if the headers take too long', async () => {
  const server = await serve({ status: 200, headers: {}, body: '' });
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.write('POST /graphql HTTP/1.1\r\nhost: x\r\n');
  await new Promise((resolve) => socket.once('end', resolve));
  socket.end();
  expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\nx-request-id: \S+\r\n/);
  expect(answer).toContain('"code":"BAD_REQUEST"');
  await server.close();
});

test.concurrent('a client that reads a response slowly is not cut off', async () => {
  const body = 'x'.repeat(8_000_000);
  const server = await serve({ status: 200, headers: {}, body });
  const client = connect(server.port, '127.0.0.1').setEncoding('latin1');
  let received = 0;
  client.on('data', (text) => {
    received += text.length;
  });
  client.on('error', () => {}).pause();
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const startedAt = performance.now();
  // Longer than a client may take without reading anything.
  while (performance.now() - startedAt < 17_000) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    client.read(100_000);
  }
  client.resume();
  await until(() => received > body.length);
  client.destroy();
  await server.close();
});

test.concurrent('slow drip: a receiver has 15 seconds for its status', async () => {
  const sockets = new Set<Socket>();
  const receiver = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('a: b\r\n'), 500);
    socket.on('close', () => clearInterval(timer));
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { post, close } = createOutgoing((reach) => reach !== 'never');
  // Cast: it listens on a port.
  const url = new URL(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  const content = { headers: { 'content-type': 'text/plain' }, body: 'hello' };
  expect(await post(url, content, new AbortController().signal)).toEqual({ reason: 'TIMEOUT' });
  await close();
  for (const socket of sockets) socket.destroy();
  receiver.close();
});
