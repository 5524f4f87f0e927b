// The client's address, behind proxies that are trusted to report it.
import ipaddr from 'ipaddr.js';

export type Address = ReturnType<typeof ipaddr.process>;

/** Returns a check of whether an address lies in one of the CIDR ranges. */
export function createTrust(ranges: readonly string[]): (address: Address) => boolean {
  const parsed = ranges.map((range) => ipaddr.parseCIDR(range));
  return (address) =>
    parsed.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
}

/**
 * The socket's address or, if that is a trusted proxy, the right-most entry of x-forwarded-for that
 * is not one. An entry that is not an address ends the search: the proxy that wrote it counts as
 * the client. An IPv4 address in IPv6 notation is returned as IPv4.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trusted: (address: Address) => boolean,
): string {
  let client = parseAddress(socketAddress ?? '');
  if (client === undefined) return 'unknown';
  if (forwardedFor !== undefined) {
    const entries = forwardedFor.split(',');
    while (entries.length > 0 && trusted(client)) {
      const entry = parseAddress(entries.pop() ?? '');
      if (entry === undefined) break;
      client = entry;
    }
  }
  return client.toString();
}

/** An address as proxies write it: bare or with a port, and IPv6 with a port in brackets. */
export function parseAddress(entry: string): Address | undefined {
  const text = entry
    .trim()
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1');
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
    ? ipaddr.process(text)
    : undefined;
}

/**
 * The unit by which client addresses are counted: an IPv4 address, IPv4-mapped IPv6 included, or
 * the /64 of an IPv6 address.
 */
export function addressBlock(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const groups = parsed.toByteArray().slice(0, 8);
  return `${Buffer.from(groups).toString('hex')}::/64`;
}
