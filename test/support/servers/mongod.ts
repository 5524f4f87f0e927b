// Starts MongoDB's own server on machines that have one.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './port.ts';
import { startProcess } from './process.ts';

/** Starts mongod without data on a free port of 127.0.0.1. Needs mongod on PATH. */
export async function startMongod(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'mongod-'));
  const server = await startProcess({
    command: 'mongod',
    args: ['--port', `${port}`, '--bind_ip', '127.0.0.1', '--nounixsocket', '--dbpath', folder],
    folder,
  });
  await server.wrote(/Waiting for connections/i);
  return { url: `mongodb://127.0.0.1:${port}`, stop: async () => void (await server.stop()) };
}
