// The client's address, behind proxies that are trusted to report it.
import ipaddr from 'ipaddr.js';

export type Address = ReturnType<typeof ipaddr.process>;

/** Returns a check of whether an address lies in one of the CIDR ranges. */
export function createTrust(ranges: readonly string[]): (address: Address) => boolean {
  const parsed = ranges.map(parseRange);
  return (address) =>
    parsed.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
}

/** Clients' addresses are IPv4 where they can be, so a range of IPv4-mapped ones is too. */
function parseRange(range: string): [Address, bits: number] {
  const [network, bits] = ipaddr.parseCIDR(range);
  if (network.kind() === 'ipv4' || bits < 96) return [network, bits];
  const mapped = ipaddr.process(network.toString());
  return mapped.kind() === 'ipv4' ? [mapped, bits - 96] : [network, bits];
}

/**
 * Returns a check of whether a client address, as text, lies in one of the CIDR ranges. What is not
 * an address lies in none.
 */
export function addressCheck(ranges: readonly string[]): (address: string) => boolean {
  const trusted = createTrust(ranges);
  return (address) => {
    const parsed = parseAddress(address);
    return parsed !== undefined && trusted(parsed);
  };
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

/** The network of a client address that names no single client: its /24 of IPv4, or its /48. */
export function maskedAddress(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === undefined) return address;
  return parsed.kind() === 'ipv4'
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/24`)}/24`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/48`)}/48`;
}

/**
 * The unit by which client addresses are counted: an IPv4 address, IPv4-mapped IPv6 included, or
 * the /64 of an IPv6 address.
 */
export function addressBlock(address: string): string {
  return prefixOf(address, 64);
}

/** Who has many blocks: an IPv4 address, or the /48 of an IPv6 address (RFC 6177). */
export function addressSite(address: string): string {
  return prefixOf(address, 48);
}

function prefixOf(address: string, bits: number): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const groups = parsed.toByteArray().slice(0, bits / 8);
  return `${Buffer.from(groups).toString('hex')}::/${bits}`;
}
