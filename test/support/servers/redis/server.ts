// Starts Redis servers on free ports, which a test can pause, kill and restart.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../port.ts';
import { startProcess } from '../process.ts';

export type OwnRedis = {
  /** Stays the same across restarts. */
  url: string;
  /** The process id, which changes with a restart. */
  readonly pid: number;
  /** Suspends the process: connections stay open, and nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends it as a crash would. Its data is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port, without data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a Redis without persistence on a free port of 127.0.0.1. Needs redis-server on PATH. */
export async function startRedis(): Promise<OwnRedis> {
  const port = await freePort();
  let server = await start(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    pause: () => void process.kill(server.pid, 'SIGSTOP'),
    resume: () => void process.kill(server.pid, 'SIGCONT'),
    kill: async () => void (await server.stop()),
    async restart() {
      await server.stop();
      server = await start(port);
    },
    stop: async () => void (await server.stop()),
  };
}

async function start(port: number) {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const settings = { port: `${port}`, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = await startProcess({ command: 'redis-server', args, folder });
  await server.wrote(/Ready to accept connections/);
  return server;
}
