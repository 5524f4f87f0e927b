// The text that a start prints.
import { banner, demoCurl, endpointOf } from './banner.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:4000/graphql'],
  ['0.0.0.0', 'http://localhost:4000/graphql'],
  ['::', 'http://localhost:4000/graphql'],
  ['::1', 'http://[::1]:4000/graphql'],
  ['loyalty.example', 'http://loyalty.example:4000/graphql'],
])('on host %s the endpoint is %s', (host, endpoint) => {
  expect(endpointOf(host, 4000)).toBe(endpoint);
});

test('after filling the demo: the endpoint, each key, and the curl command on its own line', () => {
  const demoKeys = [
    { partnerId: 'demo-hotels', key: 'pk_test_1' },
    { partnerId: 'demo-trains', key: 'pk_test_2' },
  ];
  const text = banner({
    environment: 'sandbox',
    endpoint: 'http://127.0.0.1:4000/graphql',
    demoKeys,
    hasExplorer: true,
  });
  expect(text).toContain('Partner Loyalty API, sandbox:  http://127.0.0.1:4000/graphql\n');
  expect(text).toMatch(/demo-hotels {2}pk_test_1\n.*demo-trains {2}pk_test_2\n/);
  expect(text).toContain('http://127.0.0.1:4000/explorer#key=pk_test_1\n');
  expect(text.split('\n')).toContain(demoCurl('http://127.0.0.1:4000/graphql', 'pk_test_1'));
});

test('otherwise: the endpoint, and how to create a key for an existing or a new partner', () => {
  const start = {
    environment: 'production',
    endpoint: 'http://127.0.0.1:4001/graphql',
    hasExplorer: false,
  };
  expect(banner({ ...start, partnerId: 'blue' })).toContain('npx loyalty keys create blue\n');
  expect(banner(start)).toMatch(
    /npx loyalty partners create ID --name NAME\n.*npx loyalty keys create ID\n/,
  );
  expect(banner(start)).not.toMatch(/curl|explorer/);
  expect(banner({ ...start, hasExplorer: true })).toContain('http://127.0.0.1:4001/explorer\n');
});
