// A Redis Cluster, as the counters use it. Each node is up or down on its own.
import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import slotOf from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';
import {
  CONNECTION,
  NOTHING,
  probeCounter,
  RECONNECT_MS,
  type RedisCounter,
  type RedisLog,
  type SharedRedis,
} from './redis.ts';
import { RedisHealth } from './redishealth.ts';

/** `redis+cluster://user:password@host:port,host:port`, or rediss+cluster for TLS. */
const SCHEME = /^rediss?\+cluster:/;
const URL_FORMAT = /^redis(s?)\+cluster:\/\/(?:(.*)@)?([^@/]+)\/?$/;
const DEFAULT_PORT = 6_379;

/** How long the start waits for a cluster that does not respond. */
const KNOWN_MS = 1_000;
/** A failover is known after this at the latest. */
const REFRESH_MS = 2_000;
/** A slot moves at most a few times in a row; more would be a fault of the cluster. */
const MAX_REDIRECTIONS = 4;
/** Trying this many tags finds a slot of a node with one slot in a hundred, nearly always. */
const MAX_TAGS = 2_000;
const FIELDS = { engine: 'redis' };
const AWAY = 'the Redis Cluster does not respond: each process counts budgets on its own';

export function isClusterUrl(url: string): boolean {
  return SCHEME.test(url);
}

/** The counters switch over to its nodes when they come up. */
export function connectCluster(url: string, environment: Environment, log: RedisLog): SharedRedis {
  const client = connect(url);
  const probe = probeCounter(client, environment);
  const nodes = new Nodes(client, probe, log);
  return {
    client,
    healthOf: (key) => nodes.ownerOf(slotOf(key)),
    reportAbsence: () => log.outage(FIELDS, AWAY),
    known: knownInTime(client, nodes, log),
    state: () => (nodes.allUp() ? 'up' : 'degraded'),
    close() {
      nodes.close();
      client.disconnect();
    },
  };
}

/** Resolves when each node is known to be up or down, or after a second. */
async function knownInTime(client: Cluster, nodes: Nodes, log: RedisLog): Promise<void> {
  const ready = new Promise<void>((resolve) => client.once('ready', resolve));
  const known = ready.then(() => nodes.known());
  await Promise.race([known, pause(KNOWN_MS, undefined, { ref: false })]);
  if (client.status === 'ready') return;
  log.outage(FIELDS, AWAY);
  void known.then(() => log.recovered(FIELDS, 'the Redis Cluster responds'));
}

function connect(url: string): Cluster {
  const [, tls, userInfo, hosts = ''] = URL_FORMAT.exec(url) ?? [];
  const [username, password] = credentialsOf(userInfo);
  const client = new Cluster(hosts.split(',').map(nodeOf), {
    redisOptions: {
      ...CONNECTION,
      username,
      password,
      ...(tls === 's' ? { tls: {} } : {}),
    },
    enableOfflineQueue: false,
    clusterRetryStrategy: () => RECONNECT_MS,
    clusterNodeRetryStrategy: () => RECONNECT_MS,
    slotsRefreshInterval: REFRESH_MS,
    maxRedirections: MAX_REDIRECTIONS,
    // A command that a lost connection leaves without a response must not be sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  });
  // Without a listener, ioredis prints errors. The health of each node reports them already.
  client.on('error', () => {});
  return client;
}

/** Read like a URL of one server: a password without a user name follows a colon. */
function credentialsOf(userInfo: string | undefined): (string | undefined)[] {
  if (userInfo === undefined) return [];
  const [username = '', ...rest] = userInfo.split(':');
  return [username, rest.join(':')].map((part) =>
    part === '' ? undefined : decodeURIComponent(part),
  );
}

function nodeOf(host: string): { host: string; port: number } {
  const [, name = host, port = DEFAULT_PORT] = /^(.+?):(\d+)$/.exec(host) ?? [];
  return { host: name.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}

/** The health of each node, which begins to be watched when it is known to have slots. */
class Nodes {
  private readonly cluster: Cluster;
  private readonly probe: RedisCounter;
  private readonly log: RedisLog;
  private readonly watched = new Map<string, { redis: Redis; health: RedisHealth }>();

  constructor(cluster: Cluster, probe: RedisCounter, log: RedisLog) {
    this.cluster = cluster;
    this.probe = probe;
    this.log = log;
    cluster.on('ready', () => this.owners());
    cluster.on('-node', (redis: Redis) => this.forget(redis));
  }

  ownerOf(slot: number): RedisHealth | undefined {
    const name = this.cluster.slots[slot]?.[0];
    return name === undefined ? undefined : this.healthOf(name);
  }

  /** Resolves when each node with slots is known to be up or down. */
  async known(): Promise<void> {
    await Promise.all(this.owners().map((health) => health?.known));
  }

  /** Whether the cluster is known and every node with slots responds. */
  allUp(): boolean {
    const owners = this.owners();
    return owners.length > 0 && owners.every((health) => health?.isUp());
  }

  close(): void {
    for (const { health } of this.watched.values()) health.close();
  }

  private owners(): (RedisHealth | undefined)[] {
    const names = new Set(this.cluster.slots.flatMap((nodes) => nodes.slice(0, 1)));
    return Array.from(names, (name) => this.healthOf(name));
  }

  private healthOf(name: string): RedisHealth | undefined {
    return this.watched.get(name)?.health ?? this.watch(name);
  }

  private watch(name: string): RedisHealth | undefined {
    const redis = this.cluster
      .nodes('all')
      .find(({ options }) => `${options.host}:${options.port}` === name);
    if (redis === undefined) return undefined;
    const health = new RedisHealth(redis, () => this.write(name, redis), {
      lost: (reason) =>
        this.log.outage(
          { engine: 'redis', node: name, reason },
          'a node of the Redis Cluster does not respond: each process counts its budgets on its own',
        ),
      found: () =>
        this.log.recovered(
          { engine: 'redis', node: name },
          'the node of the Redis Cluster responds again: its budgets are shared',
        ),
    });
    this.watched.set(name, { redis, health });
    // ioredis connects to a node with the first command for it.
    if (redis.status === 'wait') redis.connect().catch(() => {});
    return health;
  }

  private forget(redis: Redis): void {
    for (const [name, node] of this.watched)
      if (node.redis === redis) {
        node.health.close();
        this.watched.delete(name);
      }
  }

  /** Writes to a key of the node, or asks it for a sign of life if it has hardly any slots. */
  private write(name: string, redis: Redis): Promise<unknown> {
    for (let tag = 0; tag < MAX_TAGS; tag++) {
      const slot = slotOf(this.probe.keyOf(`{${tag}}`));
      if (this.cluster.slots[slot]?.[0] === name) return this.probe.add(`{${tag}}`, NOTHING);
    }
    return redis.ping();
  }
}
