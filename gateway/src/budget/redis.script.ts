// Counts many subjects with one Redis command.
import type { Cluster, Redis } from 'ioredis';
import type { Count } from './counters.ts';

/** The points to add to the count under a key. */
export type Addition = { key: string; points: number };

/** Adds to all counts. The window of each begins with its first addition. */
export type AddAll = (additions: readonly Addition[], windowSeconds: number) => Promise<Count[]>;

// ARGV has the length of a window, then the points for each key. Returns the sum and the
// milliseconds left for each. A count without an expiry would never be reset, so it gets one.
const SCRIPT = `
local counts = {}
for place, key in ipairs(KEYS) do
  redis.call('set', key, 0, 'EX', ARGV[1], 'NX')
  counts[2 * place - 1] = redis.call('incrby', key, ARGV[place + 1])
  local left = redis.call('pttl', key)
  if left == -1 then
    redis.call('expire', key, ARGV[1])
    left = 1000 * ARGV[1]
  end
  counts[2 * place] = left
end
return counts
`;

type Scripted = {
  countAll(keys: number, ...keysAndPoints: (string | number)[]): Promise<number[]>;
};

/** In a cluster, the keys of one call must be on one node. */
export function scriptedAddAll(client: Redis | Cluster): AddAll {
  client.defineCommand('countAll', { lua: SCRIPT });
  // Cast: the line above adds the method.
  const scripted = client as unknown as Scripted;
  return async (additions, windowSeconds) => {
    const keys = additions.map(({ key }) => key);
    const points = additions.map((addition) => addition.points);
    const counts = await scripted.countAll(keys.length, ...keys, windowSeconds, ...points);
    return additions.map((_, place) => ({
      consumedPoints: counts[2 * place] ?? Number.NaN,
      msBeforeNext: counts[2 * place + 1] ?? Number.NaN,
    }));
  };
}
