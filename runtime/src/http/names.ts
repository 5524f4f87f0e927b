// Looks up names that strangers chose, so that a name server that hangs holds up nobody else.
import { type LookupAddress, promises } from 'node:dns';

/** The addresses of both families, the preferred one first. */
export type Addresses = readonly [Promise<string[]>, Promise<string[]>];
export type Dns = Pick<promises.Resolver, 'resolve4' | 'resolve6'>;

/** What DNS says if it does not know a name, or nobody could be asked. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ECONNREFUSED', 'EREFUSED']);
/** Whoever asked has given up by then. */
const MAX_WAIT_MS = 2_000;

let lastTurn: Promise<unknown> = Promise.resolve();

/** By DNS alone, for which no thread waits. */
export function lookUpByDns(hostname: string, dns: Dns): Addresses {
  // RFC 6761, section 6.3: no name server is asked.
  if (/(^|\.)localhost\.?$/.test(hostname))
    return [Promise.resolve(['::1']), Promise.resolve(['127.0.0.1'])];
  return [dns.resolve6(hostname), dns.resolve4(hostname)];
}

/** By getaddrinfo, which keeps one of four threads busy while a name server does not answer. */
export function lookUpBySystem(hostname: string): Addresses {
  return byFamily(promises.lookup(hostname, { all: true }));
}

/**
 * By DNS, and what it does not know by getaddrinfo, for /etc/hosts and search domains: one name of
 * the process at a time.
 */
export function lookUpUntrusted(hostname: string, dns: Dns): Addresses {
  const [v6, v4] = lookUpByDns(hostname, dns);
  const [first, other] = byFamily(
    Promise.allSettled([v6, v4]).then((both) => {
      const errors = both.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      if (errors.length < both.length) return [];
      const failure = errors.find(({ code }) => !UNKNOWN.has(code));
      if (failure !== undefined) throw failure;
      return inTurn(() => promises.lookup(hostname, { all: true }));
    }),
  );
  return [v6.catch(() => first), v4.catch(() => other)];
}

/** Runs one at a time, and rejects if its turn comes too late. */
function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const since = performance.now();
  const turn = lastTurn.then(() => {
    if (performance.now() - since > MAX_WAIT_MS) throw new Error('other names took too long');
    return run();
  });
  lastTurn = turn.catch(() => {});
  return turn;
}

function byFamily(found: Promise<LookupAddress[]>): Addresses {
  const ofFamily = async (isFirst: boolean) => {
    const all = await found;
    const family = all[0]?.family;
    return all.flatMap((one) => ((one.family === family) === isFirst ? [one.address] : []));
  };
  return [ofFamily(true), ofFamily(false)];
}
