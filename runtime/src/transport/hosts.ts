// Where published subgraphs may be (docs/operators/teams.md, Other teams' subgraphs).
import { addressCheck } from '../http/address.ts';
import { reachOf } from '../http/publicaddress.ts';
import { isLoopback, type Settings } from '../settings/table.ts';

/** Whether a request to the URL may go to this IP address. */
export type AllowsHost = (url: URL, address: string) => boolean;

/**
 * Without SUBGRAPH_HOSTS, a sandbox on the loopback address allows all addresses but those that are
 * never called.
 */
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
