// Which addresses of published subgraphs may be called (docs/operator.md, Other teams' subgraphs).
import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { addressCheck } from '../http/address.ts';
import { reachOf } from '../http/publicaddress.ts';
import { isLoopback, type Settings } from '../settings/table.ts';

/** Whether a request to the URL may go to this IP address. */
export type AllowsHost = (url: URL, address: string) => boolean;

/** Without SUBGRAPH_HOSTS, a sandbox on the loopback address allows whatever may ever be called. */
export function allowedHosts({
  subgraphHosts,
  environment,
  sandboxUrl,
}: Pick<Settings, 'subgraphHosts' | 'environment' | 'sandboxUrl'>): AllowsHost {
  const allowsAll =
    subgraphHosts === undefined &&
    environment === 'sandbox' &&
    isLoopback(new URL(sandboxUrl).hostname);
  const listed = subgraphHosts ?? [];
  const isInRange = addressCheck(listed.filter((entry) => entry.includes('/')));
  const hosts = listed.filter((entry) => !entry.includes('/'));
  return (url, address) => {
    const reach = reachOf(address);
    if (reach === 'never') return false;
    if (allowsAll || (reach === 'public' && url.protocol === 'https:')) return true;
    return isInRange(address) || hosts.some((host) => isHost(host, url));
  };
}

/** Whether the URL's host is `host`, `*.suffix` or `host:port`. */
function isHost(entry: string, { hostname, port, protocol }: URL): boolean {
  const [, host = '', listedPort] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
  const dialled = port === '' ? ({ 'https:': '443' }[protocol] ?? '80') : port;
  if (listedPort !== undefined && listedPort !== dialled) return false;
  const name = hostname.replace(/\.$/, '');
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host;
}

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
    // The pool expects no answer before it has asked.
    else process.nextTick(callback, notAllowed(), null);
  };
  return connector;
}

function notAllowed(): NodeJS.ErrnoException {
  return Object.assign(new Error('SUBGRAPH_HOSTS does not allow the address'), { code: 'ADDRESS' });
}
