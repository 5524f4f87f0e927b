// Redis as the counters use it, whether it is one server or a cluster.
import { type Environment, type Log, timeoutError, withTimeout } from '@partner-loyalty/runtime';
import type { Cluster, Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { limiterOptions } from './counters.memory.ts';
import type { Counter } from './counters.ts';
import type { RedisHealth } from './redishealth.ts';

export type RedisLog = Pick<Log, 'outage' | 'recovered'>;

export type SharedRedis = {
  client: Redis | Cluster;
  /** The health of the server that has the key; undefined while no such server is known. */
  healthOf(key: string): RedisHealth | undefined;
  /** Call this if something was counted without Redis, because no server is known. */
  reportAbsence(): void;
  /** Resolves when it is known whether Redis responds, after about a second at the latest. */
  known: Promise<unknown>;
  /** `degraded` while a server that has keys does not respond. */
  state(): 'up' | 'degraded';
  close(): void;
};

/** A counter in Redis, with the key under which it counts a subject. */
export type RedisCounter = Counter & { keyOf(subject: string): string };

/** The options of a connection to any one server. */
export const CONNECTION = {
  connectTimeout: 2_000,
  // How long close() may keep the process alive if Redis is gone.
  disconnectTimeout: 100,
  retryStrategy: () => RECONNECT_MS,
  // A command without a response has been counted locally: it must fail at once and never be
  // queued or sent again.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

export const RECONNECT_MS = 500;

// A request waits for Redis for at most 50 ms (docs/contract.md, Budget). The event loop ticks
// before and after the command need part of that.
const DEADLINE_MS = 45;

/** Its additions reject if Redis does not respond in time. */
export function redisCounter(
  client: Redis | Cluster,
  environment: Environment,
  name: string,
  windowSeconds: number,
): RedisCounter {
  const limiter = new RateLimiterRedis({
    ...limiterOptions(environment, name, windowSeconds),
    storeClient: client,
  });
  return {
    keyOf: (subject) => limiter.getKey(subject),
    add: (subject, points) =>
      withTimeout(limiter.penalty(subject, points), DEADLINE_MS, noResponse),
  };
}

/** Adding 0 to it fails if Redis responds but cannot write, unlike a ping. */
export function probeCounter(client: Redis | Cluster, environment: Environment): RedisCounter {
  return redisCounter(client, environment, 'probe', 60);
}

function noResponse(): Error {
  return timeoutError('no response in time');
}
