// Serves MongoDB's protocol on 127.0.0.1 from DocumentDB and prints the server's URL.
// Usage: bridge.ts SOCKETFOLDER [PORT].
import { createServer } from 'node:net';
import pg from 'pg';
import { command, createCommands, OP_MSG, OP_QUERY, reply, split } from './commands.ts';

const [, , socketFolder, port = '0'] = process.argv;
const pool = new pg.Pool({ host: socketFolder, user: 'postgres', database: 'postgres', max: 80 });
pool.on('error', (error) => console.error(error.message));
const { execute, forget } = createCommands(pool);

const server = createServer((socket) => {
  let pending: Buffer = Buffer.alloc(0);
  let last = Promise.resolve();
  socket.setNoDelay(true).on('error', () => undefined);
  // After the commands in progress, which may begin cursors and transactions.
  socket.on('close', () => void last.then(() => forget(socket)));
  socket.on('data', (bytes) => {
    const { messages, rest } = split(pending.length > 0 ? Buffer.concat([pending, bytes]) : bytes);
    pending = rest;
    for (const message of messages) {
      if (message.opcode !== OP_MSG && message.opcode !== OP_QUERY) {
        socket.destroy();
        return;
      }
      // In the order of the messages, since drivers may not wait for replies.
      last = last.then(async () => {
        const document = await execute(command(message), socket);
        if (!socket.destroyed) socket.write(reply(message, document));
      });
    }
  });
});

server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.log(
    `mongodb://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`,
  );
});
