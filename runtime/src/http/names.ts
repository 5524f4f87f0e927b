// Looks up names that strangers chose, so that a name server that hangs holds up nobody else.
import { promises } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dns } from './dns.ts';

/** The addresses of both families, the preferred one first. */
export type Addresses = readonly [Promise<string[]>, Promise<string[]>];

/** RFC 6761, section 6.3: no name server is asked. */
const LOCALHOST = /(^|\.)localhost\.?$/;
/** As many as resolvers read (resolv.conf(5)). */
const MAX_DOMAINS = 6;
/** How long a name is preferred to those that begin with it: there is time to connect then. */
const PREFERRED_MS = 1_000;

/** By DNS alone, for which no thread waits. */
export function lookUpByDns(hostname: string, dns: Dns): Addresses {
  if (LOCALHOST.test(hostname)) return [Promise.resolve(['::1']), Promise.resolve(['127.0.0.1'])];
  return [dns.resolve6(hostname), dns.resolve4(hostname)];
}

/** By getaddrinfo, which keeps one of four threads busy while a name server does not answer. */
export function lookUpBySystem(hostname: string): Addresses {
  const found = promises.lookup(hostname, { all: true });
  const ofFamily = async (isFirst: boolean) => {
    const all = await found;
    const family = all[0]?.family;
    return all.flatMap((one) => ((one.family === family) === isFirst ? [one.address] : []));
  };
  return [ofFamily(true), ofFamily(false)];
}

/** By /etc/hosts, and by DNS, also with the search domains: no thread waits. */
export function lookUpUntrusted(hostname: string, dns: Dns, folder = '/etc'): Addresses {
  if (LOCALHOST.test(hostname)) return lookUpByDns(hostname, dns);
  const known = fieldsOf(folder, 'hosts').flatMap(([address = '', ...names]) =>
    names.some((name) => name.toLowerCase() === hostname) ? [address] : [],
  );
  if (known.length > 0)
    return [Promise.resolve(known.filter(isIPv6)), Promise.resolve(known.filter(isIPv4))];
  const domains = hostname.endsWith('.') ? [] : searchDomains(folder);
  const own = lookUpByDns(hostname, dns);
  const all = [own, ...domains.map((domain) => lookUpByDns(`${hostname}.${domain}`, dns))];
  const late = pause<string[]>(PREFERRED_MS, [], { ref: false });
  const inTime = all.map(([v6, v4]) =>
    [v6, v4].map((one) => Promise.race([one.catch(() => []), late])),
  );
  /** Of the first name that has addresses of any family. */
  const find = async (family: 0 | 1): Promise<string[]> => {
    for (const both of inTime) {
      const addresses = (await both[family]) ?? [];
      if (addresses.length > 0 || ((await both[1 - family]) ?? []).length > 0) return addresses;
    }
    return own[family];
  };
  return [find(0), find(1)];
}

/** The last line counts. */
function searchDomains(folder: string): string[] {
  const lines = fieldsOf(folder, 'resolv.conf');
  const last = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain');
  return last?.slice(1, 1 + MAX_DOMAINS).filter((domain) => domain !== '.') ?? [];
}

/** The fields of each line of a file of the system; none if it is missing. */
function fieldsOf(folder: string, name: string): string[][] {
  let text = '';
  try {
    text = readFileSync(join(folder, name), 'utf8');
  } catch {}
  return text.split('\n').map((line) => line.replace(/[#;].*/, '').match(/\S+/g) ?? []);
}
