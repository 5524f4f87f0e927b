// Addresses: which one is the client's, and which ones requests may go to.

import { clientAddress, createTrust, maskedAddress } from './address.ts';
import { reachOf, reachOfHost } from './publicaddress.ts';

// Which address counts as the client's, behind proxies.

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

// Where requests to URLs of strangers would go, by address.

describe('the reach of an address', () => {
  test.each([
    '8.8.8.8',
    '1.0.0.1',
    '11.0.0.0',
    '100.128.0.0',
    '172.32.0.0',
    '192.31.196.1',
    '192.0.0.9',
    '2a00:1450:4001::200e',
    '2001:200::1',
    '2001:20::1',
  ])('%s is globally reachable', (address) => {
    expect(reachOf(address)).toBe('public');
  });

  test.each([
    // https://www.iana.org/assignments/iana-ipv4-special-registry
    ...['0.0.0.0', '0.255.255.255', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254'],
    ...['172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.170', '192.0.2.1', '192.88.99.1'],
    ...['192.168.255.255', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
    ...['240.0.0.1', '255.255.255.255'],
    // Multicast.
    ...['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
    // https://www.iana.org/assignments/iana-ipv6-special-registry
    ...['::', '::1', '100::1', '100:0:0:1::1', '2001::1', '2001:2::1', '2001:10::1', '2001:db8::1'],
    ...['3fff::1', '3fff:fff::1', '5f00::1', 'fc00::1', 'fdff::1', '64:ff9b:1::808:808'],
    // What is not given to anybody.
    ...['fec0::1', '4000::1', 'e000::1', '1fff::1'],
  ])('%s is private', (address) => {
    expect(reachOf(address)).toBe('private');
  });

  test.each([
    '169.254.0.1',
    '169.254.169.254',
    '169.254.170.2',
    'fe80::1',
    'febf::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '168.63.129.16',
  ])('%s, link-local or of metadata, is never to be called', (address) => {
    expect(reachOf(address)).toBe('never');
  });

  test.each([
    ['::ffff:127.0.0.1', 'private'],
    ['::ffff:7f00:1', 'private'],
    ['::ffff:169.254.169.254', 'never'],
    ['::ffff:8.8.8.8', 'public'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'never'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['64:ff9b:1::a9fe:a9fe', 'never'],
    ['2002:7f00:1::1', 'private'],
    ['2002:a9fe:a9fe::1', 'never'],
    ['2002:808:808::1', 'public'],
    ['::127.0.0.1', 'private'],
    ['::169.254.169.254', 'never'],
    ['::ffff:0:169.254.169.254', 'never'],
    // Teredo has the address inverted.
    ['2001:0:808:808::5601:5601', 'never'],
    ['2001:0:808:808::f7f7:f7f7', 'private'],
  ])('IPv4 inside IPv6: %s is %s', (address, reach) => {
    expect(reachOf(address)).toBe(reach);
  });
});

test.each([
  ['http://127.1/', 'private'],
  ['http://0177.0.0.1/', 'private'],
  ['http://１２７.０.０.１/', 'private'],
  ['http://[::ffff:127.0.0.1]/', 'private'],
  ['http://[0:0:0:0:0:ffff:a9fe:a9fe]/', 'never'],
  ['http://0xa9.0xfe.0xa9.0xfe/', 'never'],
  ['http://example.com/', undefined],
  ['http://169.254.169.254.example.com/', undefined],
])('decimal, octal, hexadecimal and shortened hosts: %s is %s', (url, reach) => {
  expect(reachOfHost(new URL(url).hostname)).toBe(reach);
});
