// Connections to Redis, whether it is one server or a cluster.
import { once } from 'node:events';
import slotOf from 'cluster-key-slot';
import { Cluster, Redis } from 'ioredis';
import type { Outages, ServerName } from './redis.outages.ts';

/** `redis+cluster://user:password@host:port,host:port`, or rediss+cluster for TLS. */
const CLUSTER = /^redis(s?)\+cluster:\/\/(?:(.*)@)?([^@/]+)\/?$/;
const DEFAULT_PORT = 6_379;

const RECONNECT_MS = 500;
/** A failover is known after this at the latest. */
const REFRESH_MS = 2_000;
/** A slot moves at most a few times in a row; more would be a fault of the cluster. */
const MAX_REDIRECTIONS = 4;

/** The options of a connection to any one server. */
const CONNECTION = {
  connectTimeout: 2_000,
  // A connection whose other end has vanished reports no error: open a new one.
  socketTimeout: 2_000,
  // How long close() may keep the process alive if Redis is gone.
  disconnectTimeout: 100,
  retryStrategy: () => RECONNECT_MS,
  // A command without a response has been counted locally: it must fail at once and never be
  // queued or sent again.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/** Its errors explain outages; without a listener, ioredis prints them. */
export function connectRedis(url: string, outages: Outages): Redis | Cluster {
  const [, tls, userInfo, hosts] = CLUSTER.exec(url) ?? [];
  const client = hosts === undefined ? connectServer(url) : connectCluster(hosts, tls, userInfo);
  client.on('error', (error) => outages.blame(undefined, error.lastNodeError ?? error));
  client.on('node error', (error, node) => outages.blame(node, error));
  return client;
}

function connectServer(url: string): Redis {
  return new Redis(url, {
    ...CONNECTION,
    enableOfflineQueue: false,
    // The primary became a replica: by now its address may lead to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}

function connectCluster(hosts: string, tls = '', userInfo = ''): Cluster {
  // Read like a URL of one server: a password without a user name follows a colon.
  const [username, password] = (/^([^:]*)(?::(.*))?$/.exec(userInfo) ?? [])
    .slice(1)
    .map((part = '') => decodeURIComponent(part) || undefined);
  const client = new Cluster(hosts.split(',').map(nodeOf), {
    redisOptions: { ...CONNECTION, username, password, ...(tls && { tls: {} }) },
    enableOfflineQueue: false,
    clusterRetryStrategy: () => RECONNECT_MS,
    clusterNodeRetryStrategy: () => RECONNECT_MS,
    slotsRefreshInterval: REFRESH_MS,
    maxRedirections: MAX_REDIRECTIONS,
    // A command that a lost connection leaves without a response must not be sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  });
  // ioredis connects to a node with the first command for it, and refuses others meanwhile. Nodes
  // that it tries before it is ready must not be connected, or it would not try again.
  client.on('ready', () => client.nodes('master').forEach(connect));
  client.on('+node', (node) => client.status === 'ready' && connect(node));
  return client;
}

function connect(node: Redis): void {
  if (node.status === 'wait') node.connect().catch(() => {});
}

function nodeOf(host: string): { host: string; port: number } {
  const [, name = host, port = DEFAULT_PORT] = /^(.+?):(\d+)$/.exec(host) ?? [];
  return { host: name.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

/** Resolves when all servers that are known are connected; may reject if none can be. */
export async function connected(client: Redis | Cluster): Promise<void> {
  await once(client, 'ready');
  const nodes = client instanceof Cluster ? client.nodes('master') : [];
  await Promise.allSettled(nodes.map((node) => node.status === 'ready' || once(node, 'ready')));
}

/** The server that has a key, as far as it is known. */
export function serverOf(client: Redis | Cluster, key: string): ServerName {
  return client instanceof Cluster ? client.slots[slotOf(key)]?.[0] : undefined;
}
