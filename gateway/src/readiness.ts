// The readiness of the gateway: whether it can answer anything, and the state of its dependencies.
import {
  type DependencyState,
  type Readiness,
  stateOf,
} from '@partner-loyalty/runtime/process/readiness.ts';
import { GATEWAY_SUBGRAPH } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { outageOf } from '@partner-loyalty/runtime/store/outage.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { Audit } from './audit.ts';
import type { Counters } from './budget/counters.ts';
import { OUTAGE_MS } from './identity/freshrecords.ts';
import type { Keyring } from './identity/keyring.ts';
import type { KeyStore } from './identity/keystore.ts';

/**
 * Returns a function that checks all dependencies at once. The gateway is ready as long as it can
 * read keys, or could in the last 60 seconds: without a remote subgraph, it still answers the rest.
 * A subgraph in this process must be ready too, since no other process can replace it. With a full
 * disk it is: it answers reads, and no other process has another disk. `uptime` counts milliseconds
 * and never jumps.
 */
export function createReadiness(
  parts: {
    keyStore: Pick<KeyStore, 'ready'>;
    keyring: Pick<Keyring, 'lastReadAt'>;
    /** The transports of the graph that serves. */
    transports: () => Iterable<readonly [name: string, transport: Transport]>;
    counters: Pick<Counters, 'state'>;
    audit?: Pick<Audit, 'state'> | undefined;
  },
  uptime: () => number = () => performance.now(),
): () => Promise<Readiness> {
  const { keyStore, keyring, transports, counters, audit } = parts;
  let lastReadyAt = uptime();

  async function keysState(): Promise<DependencyState> {
    const { state, failure } = await stateOf(keyStore.ready);
    if (state !== 'down') {
      lastReadyAt = uptime();
      return state;
    }
    const age = uptime() - Math.max(lastReadyAt, keyring.lastReadAt());
    return age < OUTAGE_MS && outageOf(failure) !== 'damaged' ? 'degraded' : 'down';
  }

  async function subgraphState([name, { isLocal, ready }]: readonly [string, Transport]) {
    const { state } = await stateOf(ready);
    return { name, isLocal, state };
  }

  // What the gateway answers itself reads the key store, which is looked at already.
  const isOther = ([name]: readonly [string, Transport]) => name !== GATEWAY_SUBGRAPH;

  return async () => {
    const [keys, subgraphs] = await Promise.all([
      keysState(),
      Promise.all(Array.from(transports()).filter(isOther).map(subgraphState)),
    ]);
    const ownUp = subgraphs.every(({ isLocal, state }) => isLocal !== true || state !== 'down');
    const budgets = counters.state?.();
    return {
      ok: keys !== 'down' && ownUp,
      dependencies: {
        keys,
        ...Object.fromEntries(subgraphs.map(({ name, state }) => [name, state])),
        ...(budgets !== undefined && { redis: budgets }),
        ...(audit !== undefined && { audit: audit.state() }),
      },
    };
  };
}
