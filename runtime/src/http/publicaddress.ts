// Classifies IP addresses by whether requests to untrusted URLs may reach them.
import ipaddr from 'ipaddr.js';
import { createTrust } from './address.ts';

/**
 * `public` is globally reachable unicast, by IANA's registries of special-purpose addresses.
 * `never` is what nobody may make the service call: link-local addresses, and clouds' metadata.
 */
export type Reach = 'public' | 'private' | 'never';

const isNever = createTrust([
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32', // Alibaba Cloud
  '168.63.129.16/32', // Azure
  'fd00:ec2::/32', // AWS
  'fd20:ce::254/128', // Google Cloud
  'fd00:c1::a9fe:a9fe/128', // Oracle Cloud
]);
const isUnicast = createTrust(['0.0.0.0/1', '128.0.0.0/2', '192.0.0.0/3', '2000::/3']);
/** https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry. */
const isSpecial = createTrust([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
]);
/** Parts of those that are globally reachable. */
const isReachable = createTrust([
  ...['192.0.0.9/32', '192.0.0.10/32', '2001:1::1/128', '2001:1::2/128', '2001:1::3/128'],
  ...['2001:3::/32', '2001:4:112::/48', '2001:20::/28', '2001:30::/28'],
]);

/**
 * Where an IPv6 address has an IPv4 address: from which byte on, whether inverted, and whether
 * packets to the one go to the other from everywhere.
 */
const EMBEDDED = [
  { range: '::ffff:0:0/96', at: 12, inverted: false, isSame: true },
  { range: '64:ff9b::/96', at: 12, inverted: false, isSame: true }, // NAT64, RFC 6052
  { range: '2002::/16', at: 2, inverted: false, isSame: true }, // 6to4, RFC 3056
  { range: '64:ff9b:1::/48', at: 12, inverted: false, isSame: false }, // NAT64, RFC 8215
  { range: '::ffff:0:0:0/96', at: 12, inverted: false, isSame: false }, // SIIT, RFC 2765
  { range: '::/96', at: 12, inverted: false, isSame: false }, // RFC 4291
  { range: '2001::/32', at: 12, inverted: true, isSame: false }, // Teredo, RFC 4380
].map(({ range, ...rest }) => ({ ...rest, network: ipaddr.IPv6.parseCIDR(range) }));

/** The reach of an IP address. Throws if the text is none. */
export function reachOf(text: string): Reach {
  const address = ipaddr.parse(text);
  if (isNever(address)) return 'never';
  if (address instanceof ipaddr.IPv6) {
    const found = EMBEDDED.find(({ network }) => address.match(network));
    if (found !== undefined) {
      const bytes = address.toByteArray().slice(found.at, found.at + 4);
      const inner = ipaddr.fromByteArray(found.inverted ? bytes.map((byte) => 255 - byte) : bytes);
      const reach = reachOf(inner.toString());
      return found.isSame || reach === 'never' ? reach : 'private';
    }
  }
  return isUnicast(address) && (!isSpecial(address) || isReachable(address)) ? 'public' : 'private';
}

/** The reach of a host as `URL.hostname` has it; undefined if it is a name. */
export function reachOfHost(hostname: string): Reach | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(text) ? reachOf(text) : undefined;
}
