// What is printed at a start.
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

test('with the demo just filled: the endpoint, each key, and the curl as one line of its own', () => {
  const demoKeys = [
    { partnerId: 'demo-hotels', key: 'pk_test_1' },
    { partnerId: 'demo-trains', key: 'pk_test_2' },
  ];
  const text = banner({
    environment: 'sandbox',
    endpoint: 'http://127.0.0.1:4000/graphql',
    demoKeys,
  });
  expect(text).toContain('Partner Loyalty API, sandbox:  http://127.0.0.1:4000/graphql\n');
  expect(text).toMatch(/demo-hotels {2}pk_test_1\n.*demo-trains {2}pk_test_2\n/);
  expect(text.split('\n')).toContain(demoCurl('http://127.0.0.1:4000/graphql', 'pk_test_1'));
});

test('otherwise: the endpoint and how to make a key, for a partner that is there or a new one', () => {
  const start = { environment: 'production', endpoint: 'http://127.0.0.1:4001/graphql' };
  expect(banner({ ...start, partnerId: 'blue' })).toContain('npx loyalty keys create blue\n');
  expect(banner(start)).toMatch(
    /npx loyalty partners create ID --name NAME\n.*npx loyalty keys create ID\n/,
  );
  expect(banner(start)).not.toContain('curl');
});
