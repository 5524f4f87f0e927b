// The service in processes of its own, filled with the world, and a client that asks it.
import { type Shape, type Stack, startStack } from '../stack.ts';
import { type Client, createClient } from './client.ts';
import { type Provider, startProvider } from './provider.ts';
import { fillWorld, type PartnerId } from './world.ts';

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
export async function startFilled(shape: Shape, env: Record<string, string> = {}): Promise<Started> {
  const provider = await startProvider();
  try {
    const stack = await startStack(shape, { ...provider.env, ...env });
    const close = async () => {
      await stack.close();
      provider.close();
    };
    const keys = await fillWorld(stack.stores);
    return { stack, keys, provider, ask: createClient(stack.gateway.url, keys.alpha), close };
  } catch (error) {
    provider.close();
    throw error;
  }
}
