// Connects to a published subgraph, at addresses that are allowed.
import { type LookupAddress, lookup } from 'node:dns';
import { createConnector } from '../http/happyeyeballs.ts';
import type { AllowsHost } from './hosts.ts';

/**
 * Connects to allowed addresses and to no others, whatever a name resolved to before. Fails with
 * the code ADDRESS if there is none.
 */
export function connectorTo(url: URL, allows: AllowsHost, timeoutMs: number) {
  // A name is looked up once at a time: a name server that hangs holds one thread, not all.
  let looking: Promise<LookupAddress[]> | undefined;
  const addressesOf = (hostname: string) => {
    looking ??= new Promise<LookupAddress[]>((resolve, reject) => {
      lookup(hostname, { all: true }, (error, found) => (error ? reject(error) : resolve(found)));
    }).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  return createConnector({
    lookUp(hostname) {
      const found = addressesOf(hostname);
      const ofFamily = async (isFirst: boolean) => {
        const all = await found;
        const family = all[0]?.family;
        return all.flatMap((one) => ((one.family === family) === isFirst ? [one.address] : []));
      };
      return [ofFamily(true), ofFamily(false)];
    },
    allows: (address) => allows(url, address),
    timeoutMs,
  });
}
