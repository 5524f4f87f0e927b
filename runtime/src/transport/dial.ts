// Connects to a published subgraph, at addresses that are allowed.
import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AllowsHost } from './hosts.ts';

/**
 * Connects to allowed addresses and to no others, whatever a name resolved to before. Fails with
 * the code ADDRESS if there is none.
 */
export function connectorTo(url: URL, allows: AllowsHost, timeout: number) {
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
  const lookupAllowed: LookupFunction = (hostname, _, callback) => {
    addressesOf(hostname).then(
      (found) => {
        const allowed = found.filter(({ address }) => allows(url, address));
        callback(allowed.length === 0 ? notAllowed() : null, allowed);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
  const connect = buildConnector({ timeout, lookup: lookupAllowed, autoSelectFamily: true });
  const connector: typeof connect = (options, callback) => {
    // An address in the URL is dialled without a look-up.
    const address = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(address) === 0 || allows(url, address)) connect(options, callback);
    // The pool does not expect the callback before its call returns.
    else process.nextTick(callback, notAllowed(), null);
  };
  return connector;
}

function notAllowed(): NodeJS.ErrnoException {
  return Object.assign(new Error('SUBGRAPH_HOSTS does not allow the address'), { code: 'ADDRESS' });
}
