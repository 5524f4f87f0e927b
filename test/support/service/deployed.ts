// The service in processes of its own, filled with the world, and a client that asks it.

import { type Provider, startProvider } from '../servers/provider.ts';
import { startRedis } from '../servers/redis.ts';
import { type Client, createClient } from './client.ts';
import { SHAPES, type Shape, type Stack, startStack } from './stack.ts';
import { fillWorld, type PartnerId } from './testdata.ts';

export type Started = {
  stack: Stack;
  /** A key of each partner of the world. */
  keys: Record<PartnerId, string>;
  provider: Provider;
  /** Asks the first gateway, as alpha where a call names no other credential. */
  ask: Client;
  close(): Promise<void>;
};

/** Starts it in a shape. `env` are settings of every process beside its own. */
export async function startFilled(
  shape: Shape,
  env: Record<string, string> = {},
): Promise<Started> {
  const opened: (() => unknown)[] = [];
  const close = async () => {
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) await last();
  };
  try {
    const provider = await startProvider();
    opened.push(provider.close);
    const own: Record<string, string> = { ...provider.env };
    if (SHAPES[shape].servers && env.REDIS_URL === undefined) {
      // The members have the same ids in every world, and with them the same counters.
      const redis = await startRedis();
      opened.push(redis.stop);
      own.REDIS_URL = redis.url;
    }
    const stack = await startStack(shape, { ...own, ...env });
    opened.push(stack.close);
    const keys = await fillWorld(stack.stores);
    return { stack, keys, provider, ask: createClient(stack.gateway.url, keys.alpha), close };
  } catch (error) {
    await close();
    throw error;
  }
}
