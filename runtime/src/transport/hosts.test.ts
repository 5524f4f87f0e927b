// Where published subgraphs may be, by attacks through their URLs.
import { readSettings } from '../settings/settings.ts';
import { allowedHosts } from './hosts.ts';

const LOCAL = { ENVIRONMENT: 'sandbox' };
const PUBLIC = { ENVIRONMENT: 'sandbox', SANDBOX_URL: 'https://sandbox.example' };
const PRODUCTION = { ENVIRONMENT: 'production' };

function isAllowed(env: Record<string, string>, url: string, address: string): boolean {
  return allowedHosts(readSettings({ ...env, SUBGRAPH_SECRET: 'x'.repeat(16) }, 'gateway'))(
    new URL(url),
    address,
  );
}

test.each([
  '169.254.169.254',
  'fe80::1',
  '100.100.100.200',
  '::ffff:169.254.169.254',
  'fd00:ec2::1',
])(
  'metadata: %s is never called, even if it is listed or everything else is allowed',
  (address) => {
    const url = `https://metadata.example/graphql`;
    const listed = { SUBGRAPH_HOSTS: 'metadata.example, *.example, 0.0.0.0/0, ::/0' };
    for (const env of [LOCAL, PRODUCTION, { ...PRODUCTION, ...listed }, { ...LOCAL, ...listed }])
      expect(isAllowed(env, url, address)).toBe(false);
  },
);

test('a sandbox on the loopback address calls any host, until hosts are listed', () => {
  for (const [url, address] of [
    ['http://localhost:4021/', '127.0.0.1'],
    ['http://offers.example/', '93.184.216.34'],
    ['http://offers.internal/', '10.1.2.3'],
  ] as const) {
    expect(isAllowed(LOCAL, url, address)).toBe(true);
    expect(isAllowed({ ...LOCAL, SUBGRAPH_HOSTS: 'elsewhere.example' }, url, address)).toBe(false);
  }
});

test.each([PUBLIC, PRODUCTION])('any other calls public addresses by https alone: %j', (env) => {
  expect(isAllowed(env, 'https://offers.example/', '93.184.216.34')).toBe(true);
  expect(isAllowed(env, 'https://offers.example/', '2606:2800:220:1::1')).toBe(true);
  for (const [url, address] of [
    ['http://offers.example/', '93.184.216.34'],
    ['https://offers.example/', '10.1.2.3'],
    ['https://offers.example/', '127.0.0.1'],
    ['https://offers.example/', '::1'],
    ['https://offers.example/', 'fd12::1'],
    ['https://offers.example/', '::ffff:10.1.2.3'],
    ['https://10.1.2.3/', '10.1.2.3'],
  ] as const)
    expect([url, address, isAllowed(env, url, address)]).toEqual([url, address, false]);
});

test.each<[string, string, string, boolean]>([
  ['offers.internal', 'http://offers.internal:4021/', '10.1.2.3', true],
  ['offers.internal', 'http://OFFERS.internal./', '10.1.2.3', true],
  ['OFFERS.internal', 'http://offers.internal/', '10.1.2.3', true],
  ['offers.internal', 'http://more-offers.internal/', '10.1.2.3', false],
  ['offers.internal', 'http://offers.internal.evil.example/', '10.1.2.3', false],
  ['*.internal', 'http://offers.team.internal/', '10.1.2.3', true],
  ['*.internal', 'http://internal/', '10.1.2.3', false],
  ['*.internal', 'http://notinternal/', '10.1.2.3', false],
  ['offers.internal:4021', 'http://offers.internal:4021/', '10.1.2.3', true],
  ['offers.internal:4021', 'http://offers.internal:4022/', '10.1.2.3', false],
  ['offers.internal:80', 'http://offers.internal/', '10.1.2.3', true],
  ['offers.internal:443', 'https://offers.internal/', '10.1.2.3', true],
  ['*.internal:80', 'http://offers.internal:81/', '10.1.2.3', false],
  ['10.0.0.0/8', 'http://any.example/', '10.1.2.3', true],
  ['10.0.0.0/8', 'http://any.example/', '::ffff:10.1.2.3', true],
  ['10.0.0.0/8', 'http://any.example/', '192.168.1.1', false],
  ['10.1.2.3', 'http://any.example/', '10.1.2.3', true],
  ['10.1.2.3:80', 'http://10.1.2.3/', '10.1.2.3', true],
  ['10.1.2.3:80', 'http://10.1.2.3:81/', '10.1.2.3', false],
  ['[fd12::1]:80', 'http://[fd12::1]/', 'fd12::1', true],
  ['fd12::/16', 'http://[fd12::1]:99/', 'fd12::1', true],
  ['a.example, 10.0.0.0/8', 'http://b.example/', '10.1.2.3', true],
])('with %s listed, %s at %s: %s', (hosts, url, address, expected) => {
  expect(isAllowed({ ...PRODUCTION, SUBGRAPH_HOSTS: hosts }, url, address)).toBe(expected);
});

test.each([
  'http://offers.example',
  'a b/c',
  '*',
  'offers.*',
  '10.0.0.0/33',
  'host:port',
  'ü.example',
])('%s is no host, and stops the start', (hosts) => {
  expect(() => isAllowed({ ...PRODUCTION, SUBGRAPH_HOSTS: hosts }, 'http://a', '10.0.0.1')).toThrow(
    'SUBGRAPH_HOSTS must be a list of hosts or ranges',
  );
});
