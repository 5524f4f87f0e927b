// Redis as the counters use it, whether it is one server or a cluster.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import type { Cluster, Redis } from 'ioredis';
import type { Consumption, Count, Counter } from './counters.ts';
import { limiterOptions } from './counters.ts';
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

// A request waits for Redis for at most 50 ms (docs/callers/limits.md, Budget). The event loop
// ticks before and after the command need part of that.
const DEADLINE_MS = 45;

// Redis does nothing else meanwhile.
const MAX_ADDITIONS = 100;

/**
 * Its additions reject if Redis does not respond in time. Those that are made without waiting in
 * between share a command, since separate commands cost this process far more. In a cluster, whose
 * keys are on different nodes, each addition is a separate command.
 */
export function redisCounter(
  client: Redis | Cluster,
  environment: Environment,
  name: string,
  windowSeconds: number,
): RedisCounter {
  const { keyPrefix } = limiterOptions(environment, name, windowSeconds);
  const keyOf = (subject: string) => `${keyPrefix}:${subject}`;
  client.defineCommand('countAll', { lua: SCRIPT });
  // Cast: the line above adds the method.
  const scripted = client as unknown as Scripted;
  const most = client.isCluster ? 1 : MAX_ADDITIONS;
  let pending: Addition[] = [];

  function sendPending(): void {
    const all = pending;
    pending = [];
    for (let first = 0; first < all.length; first += most)
      void send(scripted, all.slice(first, first + most), windowSeconds);
  }

  return {
    keyOf,
    add: (subject, consumption) =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) queueMicrotask(sendPending);
        pending.push({ key: keyOf(subject), consumption, resolve, reject });
      }),
  };
}

type Addition = {
  key: string;
  consumption: Consumption;
  resolve(count: Count): void;
  reject(error: unknown): void;
};

/** Adds to all counts. In a cluster, their keys must be on one node. */
async function send(
  scripted: Scripted,
  additions: readonly Addition[],
  windowSeconds: number,
): Promise<void> {
  const keys = additions.map(({ key }) => key);
  const wanted = additions.flatMap(({ consumption: { points, limit, refused } }) => [
    points,
    limit,
    refused,
  ]);
  try {
    const sent = scripted.countAll(keys.length, ...keys, windowSeconds, ...wanted);
    const counts = await withTimeout(sent, DEADLINE_MS, 'no response in time');
    for (const [place, { resolve }] of additions.entries())
      resolve({
        consumedPoints: counts[3 * place] ?? Number.NaN,
        isWithin: counts[3 * place + 1] === 1,
        msBeforeNext: counts[3 * place + 2] ?? Number.NaN,
      });
  } catch (error) {
    for (const { reject } of additions) reject(error);
  }
}

export const NOTHING: Consumption = { points: 0, limit: 0, refused: 0 };

/** Adding NOTHING to it fails if Redis responds but cannot write, unlike a ping. */
export function probeCounter(client: Redis | Cluster, environment: Environment): RedisCounter {
  return redisCounter(client, environment, 'probe', 60);
}

// The window of each count begins with its first addition. ARGV has the length of a window, then
// the points, the limit and the points beyond the limit for each key. Returns for each the sum,
// whether it was within the limit, and the milliseconds left. A count gets another expiry if it has
// none, or one further away than a window is long, because the clock was put back.
const SCRIPT = `
local counts = {}
for place, key in ipairs(KEYS) do
  local first = 3 * place - 2
  redis.call('set', key, 0, 'EX', ARGV[1], 'NX')
  local sum = redis.call('incrby', key, ARGV[first + 1])
  local within = sum <= tonumber(ARGV[first + 2])
  if not within and ARGV[first + 1] ~= ARGV[first + 3] then
    sum = redis.call('incrby', key, ARGV[first + 3] - ARGV[first + 1])
  end
  local left = redis.call('pttl', key)
  if left == -1 or left > 1000 * ARGV[1] then
    redis.call('expire', key, ARGV[1])
    left = 1000 * ARGV[1]
  end
  counts[first] = sum
  counts[first + 1] = within and 1 or 0
  counts[first + 2] = left
end
return counts
`;

type Scripted = {
  countAll(keys: number, ...keysAndPoints: (string | number)[]): Promise<number[]>;
};
