// Finds a free port for servers that cannot choose one themselves.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of 127.0.0.1 that nothing listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('a TCP server has a port');
  return address.port;
}
