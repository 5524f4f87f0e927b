// Starts a Redis Cluster of three nodes without replicas, each of which a test can pause or kill.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '../../until.ts';
import { freePort } from '../port.ts';
import { type ServerProcess, startProcess } from '../process.ts';

export type RedisCluster = {
  url: string;
  nodes: readonly ClusterNode[];
  stop(): Promise<void>;
};

export type ClusterNode = {
  port: number;
  /** Where the nodes talk to each other. */
  busPort: number;
  /** Suspends the process: connections stay open, and nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends it as a crash would. Its data is lost, but not its place in the cluster. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
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
  const port = await freePort();
  const busPort = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'redis-cluster-'));
  const start = () => startServer(port, busPort, folder);
  let server = await start();
  return {
    port,
    busPort,
    pause: () => void process.kill(server.pid, 'SIGSTOP'),
    resume: () => void process.kill(server.pid, 'SIGCONT'),
    kill: async () => void (await server.stop()),
    async restart() {
      server = await start();
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
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
  for (const client of clients)
    await until(async () => /cluster_state:ok/.test(String(await client.call('CLUSTER', 'INFO'))));
  for (const client of clients) client.disconnect();
}

async function startServer(port: number, busPort: number, folder: string): Promise<ServerProcess> {
  const settings = {
    port: `${port}`,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'no',
    'cluster-enabled': 'yes',
    'cluster-port': `${busPort}`,
    'cluster-config-file': 'nodes.conf',
    'cluster-node-timeout': '1000',
    // The other nodes go on while one is away.
    'cluster-require-full-coverage': 'no',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = await startProcess({ command: 'redis-server', args });
  await server.wrote(/Ready to accept connections/);
  return server;
}
