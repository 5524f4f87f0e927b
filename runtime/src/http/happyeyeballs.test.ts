// What connections refer to.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { keepsCaller } from '../../../test/support/keepscaller.ts';
import { createConnector } from './happyeyeballs.ts';
import { lookUpBySystem } from './names.ts';

test('a connection does not keep its caller, such as the connection before it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // Cast: it listens on a port.
  const connector = createConnector({
    lookUp: lookUpBySystem,
    allows: () => true,
    timeoutMs: 10_000,
  });
  const target = { hostname: '127.0.0.1', protocol: 'http:', port: `${port}` };
  const connected: (Socket | null)[] = [];
  const connect = () =>
    new Promise<void>((resolve) => {
      connector(target, (_, socket) => {
        connected.push(socket);
        resolve();
      });
    });
  const isKept = await keepsCaller(connect);
  const isOpen = connected[0]?.destroyed === false;
  connected[0]?.destroy();
  server.close();
  expect([isKept, isOpen]).toEqual([false, true]);
});
