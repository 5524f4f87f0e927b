// Which servers of MongoDB a store opens on.
import { createServer } from 'node:net';
import {
  command,
  encode,
  reply,
  split,
} from '../../../test/support/servers/documentdb/commands.ts';
import { openMongo } from './mongo.ts';

test('a server without transactions is refused in one line', async () => {
  const hello = encode({
    ...{ ok: 1, helloOk: true, ismaster: true, isWritablePrimary: true },
    ...{ minWireVersion: 0, maxWireVersion: 21, maxBsonObjectSize: 16_777_216 },
    ...{ maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
  });
  const asked = new Set<string>();
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      for (const message of split(bytes).messages) {
        asked.add(Object.keys(command(message))[0] ?? '');
        socket.write(reply(message, hello));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const opening = openMongo(`mongodb://127.0.0.1:${port}/loyalty`, 'keys', 'sandbox', async () => {
    throw new Error('it was opened');
  });
  await expect(opening).rejects.toThrow(
    'the server of MONGODB_URL is standalone: MongoDB has to be a replica set, of which one node is enough, or a sharded cluster',
  );
  expect([...asked].filter((name) => !/^(hello|ismaster|endSessions)$/i.test(name))).toEqual([]);
  server.close();
});
