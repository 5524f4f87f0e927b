// Counters that all processes share in Redis; during an outage each process counts for itself.
import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import DataLoader from 'dataloader';
import type { Cluster, Redis } from 'ioredis';
import {
  type Consumption,
  type Count,
  type Counters,
  createMemoryCounters,
  limiterOptions,
} from './counters.ts';
import { Outages, type RedisLog } from './redis.outages.ts';
import { connected, connectRedis, serverOf } from './redis.ts';

/** How long the start waits for a Redis that does not respond. */
const KNOWN_MS = 1_000;

// A request waits for Redis for at most 50 ms (docs/callers/limits.md, Budget). The event loop
// ticks before and after the command need part of that.
const DEADLINE_MS = 45;

// Redis does nothing else meanwhile.
const MAX_ADDITIONS = 100;

/** Adding it fails if Redis responds but cannot write, unlike a ping. */
const NOTHING: Consumption = { points: 0, limit: 0 };

/**
 * Resolves when Redis responds, or after a second without a response: Redis may be down at the
 * start, and the counters switch over to it when it comes up.
 */
export async function openRedisCounters(
  url: string,
  environment: Environment,
  log: RedisLog,
): Promise<Counters> {
  const outages = new Outages(log);
  const client = connectRedis(url, outages);
  client.defineCommand('addAll', { lua: SCRIPT });
  const memory = createMemoryCounters(environment);
  const shared = (name: string, windowSeconds: number) =>
    redisCounter(client, environment, name, windowSeconds);
  const probe = () => shared('probe', 60).add('probe', NOTHING);
  const failed = (error: unknown) => outages.begin(undefined, error, probe);
  const waited = pause(KNOWN_MS, undefined, { ref: false });
  await Promise.race([connected(client).catch(() => {}), waited]);
  await probe().catch(failed);
  client.on('reconnecting', failed);

  return {
    /**
     * Counts in Redis while the server of the subject's key is up. Every consumption is counted in
     * memory too, so that a lost response or an outage does not give back what was consumed before.
     */
    counter(name, windowSeconds) {
      const counter = shared(name, windowSeconds);
      const fallback = memory.counter(name, windowSeconds);
      return {
        add(subject, consumption) {
          const local = fallback.add(subject, consumption).then(degraded);
          const server = serverOf(client, counter.keyOf(subject));
          if (outages.isAway(server)) return local;
          return counter.add(subject, consumption).catch((error) => {
            outages.begin(server, error, () => counter.add(subject, NOTHING));
            return local;
          });
        },
      };
    },
    state: () => (outages.any() ? 'degraded' : 'up'),
    close() {
      outages.close();
      client.disconnect();
    },
  };
}

function degraded(count: Count): Count {
  return { ...count, degraded: true };
}

type Addition = Consumption & { key: string };

/**
 * Additions reject if Redis does not respond in time. Those that are made without waiting in
 * between share a command: with 50 at once, RateLimiterRedis, which sends one for each, takes 2.5
 * times the CPU time of this process and twice that of Redis. In a cluster, keys are on different
 * nodes.
 */
function redisCounter(
  client: Redis | Cluster,
  environment: Environment,
  name: string,
  windowSeconds: number,
) {
  const { keyPrefix } = limiterOptions(environment, name, windowSeconds);
  const loader = new DataLoader<Addition, Count>(
    (additions) => withTimeout(addAll(client, additions, windowSeconds), DEADLINE_MS, 'too late'),
    {
      cache: false,
      maxBatchSize: client.isCluster ? 1 : MAX_ADDITIONS,
      batchScheduleFn: queueMicrotask,
    },
  );
  const keyOf = (subject: string) => `${keyPrefix}:${subject}`;
  return {
    keyOf,
    add: (subject: string, consumption: Consumption) =>
      loader.load({ ...consumption, key: keyOf(subject) }),
  };
}

async function addAll(
  client: Redis | Cluster,
  additions: readonly Addition[],
  windowSeconds: number,
): Promise<Count[]> {
  const keys = additions.map(({ key }) => key);
  const wanted = additions.flatMap(({ points, limit }) => [points, limit]);
  // Cast: defineCommand has added it.
  const { addAll } = client as unknown as Scripted;
  const counts = await addAll.call(client, keys.length, ...keys, windowSeconds, ...wanted);
  return additions.map((_, place) => ({
    consumedPoints: counts[3 * place] ?? Number.NaN,
    isWithin: counts[3 * place + 1] === 1,
    msBeforeNext: counts[3 * place + 2] ?? Number.NaN,
  }));
}

type Scripted = {
  addAll(keys: number, ...keysAndPoints: (string | number)[]): Promise<number[]>;
};

// The window of each count begins with its first addition. ARGV has the length of a window, then
// the points and the limit for each key. Points beyond the limit cost 1 instead. Returns for each
// the sum, whether it was within the limit, and the milliseconds left. A count gets another expiry
// if it has none, or one further away than a window is long, because the clock was put back.
const SCRIPT = `
local counts = {}
for place, key in ipairs(KEYS) do
  local points = tonumber(ARGV[2 * place])
  redis.call('set', key, 0, 'EX', ARGV[1], 'NX')
  local sum = redis.call('incrby', key, points)
  local within = sum <= tonumber(ARGV[2 * place + 1])
  if not within and points > 1 then
    sum = redis.call('incrby', key, 1 - points)
  end
  local left = redis.call('pttl', key)
  if left == -1 or left > 1000 * ARGV[1] then
    redis.call('expire', key, ARGV[1])
    left = 1000 * ARGV[1]
  end
  counts[3 * place - 2] = sum
  counts[3 * place - 1] = within and 1 or 0
  counts[3 * place] = left
end
return counts
`;
