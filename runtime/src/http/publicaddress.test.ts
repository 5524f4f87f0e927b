// Where requests to URLs of strangers would go, by address.
import { reachOf, reachOfHost } from './publicaddress.ts';

describe('the reach of an address', () => {
  test.each([
    '8.8.8.8',
    '1.0.0.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.31.196.1',
    '192.0.0.9',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
    '2620:4f:8000::1',
    '2001:200::1',
    '2001:4860:4860::8888',
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
  ['http://2130706433/', 'private'],
  ['http://0x7f000001/', 'private'],
  ['http://0177.0.0.1/', 'private'],
  ['http://017700000001/', 'private'],
  ['http://0/', 'private'],
  ['http://127.0.0.1./', 'private'],
  ['http://１２７.０.０.１/', 'private'],
  ['http://%31%32%37.0.0.1/', 'private'],
  ['http://[::1]/', 'private'],
  ['http://[::ffff:127.0.0.1]/', 'private'],
  ['http://[0:0:0:0:0:ffff:a9fe:a9fe]/', 'never'],
  ['http://2852039166/', 'never'],
  ['http://0xa9.0xfe.0xa9.0xfe/', 'never'],
  ['http://0251.0376.0251.0376/', 'never'],
  ['http://169.254.43518/', 'never'],
  ['http://134744072/', 'public'],
  ['http://example.com/', undefined],
  ['http://169.254.169.254.example.com/', undefined],
])('decimal, octal, hexadecimal and shortened hosts: %s is %s', (url, reach) => {
  expect(reachOfHost(new URL(url).hostname)).toBe(reach);
});
