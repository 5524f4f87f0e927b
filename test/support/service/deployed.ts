// The service in separate processes with test data, and a client for it.

import { type Provider, startProvider } from '../servers/provider.ts';
import { startRedis } from '../servers/redis/server.ts';
import { type Client, createClient } from './client.ts';
import { DEPLOYMENTS, type Deployment, type Stack, startStack } from './stack.ts';
import { fillStores, type PartnerId } from './testdata.ts';

export type DeployedService = {
  stack: Stack;
  /** A key for each partner in the test data. */
  keys: Record<PartnerId, string>;
  provider: Provider;
  /** Sends a request to the first gateway, with alpha's key if it has no credential. */
  send: Client;
  close(): Promise<void>;
};

/** Starts it. `env` adds to the settings of every process. */
export async function startDeployed(
  deployment: Deployment,
  env: Record<string, string> = {},
): Promise<DeployedService> {
  const opened: (() => unknown)[] = [];
  const close = async () => {
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) await last();
  };
  try {
    const provider = await startProvider();
    opened.push(provider.close);
    const defaults: Record<string, string> = { ...provider.env };
    if (DEPLOYMENTS[deployment].servers && env.REDIS_URL === undefined) {
      // The test data has the same member ids everywhere, so they would share counters.
      const redis = await startRedis();
      opened.push(redis.stop);
      defaults.REDIS_URL = redis.url;
    }
    const stack = await startStack(deployment, { ...defaults, ...env });
    opened.push(stack.close);
    const keys = await fillStores(stack.stores);
    return { stack, keys, provider, send: createClient(stack.gateway.url, keys.alpha), close };
  } catch (error) {
    await close();
    throw error;
  }
}
