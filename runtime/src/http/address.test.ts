// Which address counts as the client's, behind proxies.
import { clientAddress, createTrust, maskedAddress } from './address.ts';

const trusted = createTrust(['10.0.0.0/8', 'fd00::/8', '192.0.2.1/32']);

test.each([
  [
    "the socket's address if the socket is no trusted proxy",
    '198.51.100.1',
    '203.0.113.7',
    '198.51.100.1',
  ],
  ['the address that a trusted proxy reports', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
  [
    'the right-most entry that is not a proxy',
    '10.0.0.1',
    '6.6.6.6, 203.0.113.7, 192.0.2.1',
    '203.0.113.7',
  ],
  ['the left-most entry if all are proxies', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['the proxy itself if it reports no address', '10.0.0.1', undefined, '10.0.0.1'],
  ['the proxy itself if it reports an empty string', '10.0.0.1', '', '10.0.0.1'],
  ['the proxy that reports nonsense', '10.0.0.1', '203.0.113.7, nonsense, 10.0.0.2', '10.0.0.2'],
  ['IPv4 if the socket reports it as IPv6', '::ffff:198.51.100.1', undefined, '198.51.100.1'],
  [
    'the address reported by a proxy whose socket is IPv4 in IPv6',
    '::ffff:10.0.0.1',
    '2001:db8::1',
    '2001:db8::1',
  ],
  ['an entry without its port', '10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
  ['an IPv6 entry without its port', 'fd00::1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['`unknown` if the socket has no address', undefined, '203.0.113.7', 'unknown'],
  ['never an address written as a number', '10.0.0.1', '0x7f000001', '10.0.0.1'],
])('%s', (_, socket, forwardedFor, client) => {
  expect(clientAddress(socket, forwardedFor, trusted)).toBe(client);
});

test.each([
  ['198.51.100.77', '198.51.100.0/24'],
  ['::ffff:198.51.100.77', '198.51.100.0/24'],
  ['2001:db8:1:2:3::4', '2001:db8:1::/48'],
  ['fe80::1%eth0', 'fe80::/48'],
  ['unknown', 'unknown'],
])('masked, %s is %s', (address, masked) => {
  expect(maskedAddress(address)).toBe(masked);
});
