// Whose address a request has, seen through proxies.
import { clientAddress, createTrust } from './address.ts';

const trusted = createTrust(['10.0.0.0/8', 'fd00::/8', '192.0.2.1/32']);

test.each([
  [
    'the socket where nobody is trusted to say otherwise',
    '198.51.100.1',
    '203.0.113.7',
    '198.51.100.1',
  ],
  ['what the proxy says', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
  [
    'the right-most entry that is no proxy',
    '10.0.0.1',
    '6.6.6.6, 203.0.113.7, 192.0.2.1',
    '203.0.113.7',
  ],
  ['the left-most where all are proxies', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['the proxy where it says nothing', '10.0.0.1', undefined, '10.0.0.1'],
  ['the proxy where it says an empty word', '10.0.0.1', '', '10.0.0.1'],
  ['whoever wrote nonsense', '10.0.0.1', '203.0.113.7, nonsense, 10.0.0.2', '10.0.0.2'],
  ['IPv4 though the socket writes it as IPv6', '::ffff:198.51.100.1', undefined, '198.51.100.1'],
  [
    'what a proxy says that the socket writes as IPv6',
    '::ffff:10.0.0.1',
    '2001:db8::1',
    '2001:db8::1',
  ],
  ['an entry with a port', '10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
  ['an IPv6 entry with a port', 'fd00::1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['nothing known', undefined, '203.0.113.7', 'unknown'],
  ['no number games', '10.0.0.1', '0x7f000001', '10.0.0.1'],
])('%s', (_, socket, forwardedFor, client) => {
  expect(clientAddress(socket, forwardedFor, trusted)).toBe(client);
});
