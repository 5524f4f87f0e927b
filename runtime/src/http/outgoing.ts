// Requests to URLs that somebody else has chosen: bounded in where they go and what they read.
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { type Reach, reachOf } from './publicaddress.ts';

/** The status of the response, or why there is none. */
export type Posted =
  | { status: number }
  | { reason: 'ADDRESS' | 'DNS' | 'REFUSED' | 'TLS' | 'TIMEOUT' | 'CONNECTION' | 'ABORTED' };

type Content = { headers: Record<string, string>; body: string };

/** For everything: the name, the connection, and the response. */
const TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 65_536;
/** Of idle connections: less than most servers wait before they close one. */
const KEEP_ALIVE_MS = 4_000;

/** Why a connection was not made. */
class ConnectError extends Error {
  readonly reason: 'ADDRESS' | 'DNS';
  constructor(reason: 'ADDRESS' | 'DNS') {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Sends requests to addresses that `allows` accepts and to no others, whatever a name resolved to
 * before. Names are resolved by DNS, without the threads that `getaddrinfo` would keep busy while
 * a name server does not answer.
 */
export function createOutgoing(
  allows: (reach: Reach) => boolean,
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'> = new Resolver({ timeout: 3_000, tries: 2 }),
) {
  const isAllowed = (address: string) => allows(reachOf(address));
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    addressesOf(hostname, resolver).then((found) => {
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined)
        callback(new ConnectError(found.length === 0 ? 'DNS' : 'ADDRESS'), []);
      else if (all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
  const dial = buildConnector({ timeout: TIMEOUT_MS, lookup });
  const agent = new Agent({
    // An address in the URL is dialled without a look-up.
    connect: (options, callback) =>
      isIP(options.hostname) !== 0 && !isAllowed(options.hostname)
        ? callback(new ConnectError('ADDRESS'), null)
        : dial(options, callback),
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });

  return {
    /** Follows no redirect. Never rejects; resolves within 15 seconds. */
    async post(url: URL, content: Content, signal: AbortSignal): Promise<Posted> {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const { origin, pathname, search } = url;
      try {
        const path = `${pathname}${search}`;
        const request = { origin, path, method: 'POST', signal: limit, ...content } as const;
        const { statusCode, body } = await agent.request(request);
        await discard(body);
        return { status: statusCode };
      } catch (error) {
        return { reason: signal.aborted ? 'ABORTED' : reasonOf(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

async function addressesOf(hostname: string, resolver: Pick<Resolver, 'resolve4' | 'resolve6'>) {
  // RFC 6761, section 6.3: no name server is asked.
  if (/(^|\.)localhost\.?$/.test(hostname)) return [{ address: '127.0.0.1', family: 4 }];
  const [v4, v6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const listed = (found: typeof v4, family: number) =>
    found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
  return [...listed(v4, 4), ...listed(v6, 6)];
}

/** The status has come, so nothing that happens to the body matters any more. */
async function discard(body: AsyncIterable<Buffer>): Promise<void> {
  let left = MAX_BODY_BYTES;
  try {
    for await (const { length } of body) {
      left -= length;
      if (left <= 0) return; // Leaving the loop closes the connection.
    }
  } catch {}
}

function reasonOf(error: unknown): Exclude<Posted, { status: number }>['reason'] {
  if (error instanceof ConnectError) return error.reason;
  // Cast: undici and node reject with nothing else.
  const { name, code = '', syscall } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'TIMEOUT';
  if (syscall === 'connect' || error instanceof AggregateError) return 'REFUSED';
  return /TLS|SSL|CERT|SIGNED|SIGNATURE|ISSUER/.test(code) ? 'TLS' : 'CONNECTION';
}
