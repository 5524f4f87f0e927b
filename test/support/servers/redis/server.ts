// Starts Redis servers and clusters on free ports, which a test can pause, kill and restart.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '../../until.ts';
import { freePort, startProcess } from '../process.ts';

export type OwnRedis = {
  port: number;
  /** Stays the same across restarts. */
  url: string;
  /** The process id, which changes with a restart. */
  readonly pid: number;
  /** Suspends the process: connections stay open, and nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends it as a crash would. Its data is lost, but not its place in a cluster. */
  kill(): Promise<void>;
  /** Starts it again on the same port, without data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a Redis without persistence on a free port of 127.0.0.1. Needs redis-server on PATH. */
export async function startRedis(more: Record<string, string> = {}): Promise<OwnRedis> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const own = { port: `${port}`, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
  const settings = Object.entries({ ...own, ...more });
  const args = settings.flatMap(([name, value]) => [`--${name}`, value]);
  const start = async () => {
    const started = await startProcess({ command: 'redis-server', args });
    await started.wrote(/Ready to accept connections/);
    return started;
  };
  let server = await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    pause: () => void process.kill(server.pid, 'SIGSTOP'),
    resume: () => void process.kill(server.pid, 'SIGCONT'),
    kill: async () => void (await server.stop()),
    async restart() {
      await server.stop();
      server = await start();
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type ClusterNode = OwnRedis & {
  /** Where the nodes talk to each other. */
  busPort: number;
};
export type RedisCluster = {
  url: string;
  nodes: readonly ClusterNode[];
  stop(): Promise<void>;
};

const SLOTS = 16_384;
const NODES = 3;

/** Needs redis-server on PATH. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: NODES }, startNode));
  await meet(nodes);
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}

async function startNode(): Promise<ClusterNode> {
  const busPort = await freePort();
  const node = await startRedis({
    'cluster-enabled': 'yes',
    'cluster-port': `${busPort}`,
    'cluster-config-file': 'nodes.conf',
    'cluster-node-timeout': '1000',
    // The other nodes go on while one is away.
    'cluster-require-full-coverage': 'no',
  });
  return Object.assign(node, { busPort });
}

/** Gives each node a third of the slots, and waits until all of them know that. */
async function meet(nodes: readonly ClusterNode[]): Promise<void> {
  const clients = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  for (const [index, client] of clients.entries()) {
    const from = Math.ceil((index * SLOTS) / NODES);
    const to = Math.ceil(((index + 1) * SLOTS) / NODES) - 1;
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
  }
  for (const { port, busPort } of nodes.slice(1))
    await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
  // A cluster that need not cover all slots is "ok" before its nodes know each other.
  const all = new RegExp(`cluster_state:ok\\s+[^]*cluster_slots_ok:${SLOTS}\\s`);
  for (const client of clients)
    await until(async () => all.test(String(await client.call('CLUSTER', 'INFO'))));
  for (const client of clients) client.disconnect();
}
