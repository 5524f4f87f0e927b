// Clients that are too slow.
import { connect } from 'node:net';
import { createLog } from '../observe/log.ts';
import { serveHttp } from './server.ts';

test('408 as JSON with a request ID if the headers take too long', async () => {
  const handle = () => ({ status: 200, headers: {}, body: '' });
  const server = await serveHttp({
    port: 0,
    host: '127.0.0.1',
    handle,
    trustedProxies: [],
    log: createLog('silent'),
  });
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
