// The text that a start prints.
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { banner, baseUrlOf, demoCurl } from './banner.ts';

test.each([
  [{}, 'http://localhost:4000'],
  [{ HOST: '::1' }, 'http://[::1]:4000'],
  [{ HOST: '0.0.0.0', PORT: '0' }, 'http://localhost:4321'],
  [{ SANDBOX_URL: 'https://sandbox.example/api' }, 'https://sandbox.example/api'],
  [{ ENVIRONMENT: 'production', PRODUCTION_URL: 'https://api.example' }, 'https://api.example'],
])('with %j the base URL is %s, as the issuer and the mailed links have it', (env, url) => {
  expect(baseUrlOf(readSettings(env, 'all'), 4321)).toBe(url);
});

test('after filling the demo: the endpoint, each key, and the curl command on its own line', () => {
  const demoKeys = [
    { partnerId: 'demo-hotels', key: 'pk_test_1' },
    { partnerId: 'demo-trains', key: 'pk_test_2' },
  ];
  const text = banner({
    environment: 'sandbox' as const,
    endpoint: 'http://127.0.0.1:4000/graphql',
    demoKeys,
    partnerIds: ['demo-coffee', 'demo-hotels', 'demo-trains'],
    hasExplorer: true,
  });
  expect(text).toContain('Partner Loyalty API, sandbox:  http://127.0.0.1:4000/graphql\n');
  expect(text).toMatch(/demo-hotels {2}pk_test_1\n.*demo-trains {2}pk_test_2\n/);
  expect(text).toContain('http://127.0.0.1:4000/explorer#key=pk_test_1\n');
  expect(text.split('\n')).toContain(demoCurl('http://127.0.0.1:4000/graphql', 'pk_test_1'));
});

test('otherwise: the endpoint, and how to create a key for an existing or a new partner', () => {
  const start = {
    environment: 'production' as const,
    endpoint: 'http://127.0.0.1:4001/graphql',
    partnerIds: [],
    hasExplorer: false,
  };
  expect(banner({ ...start, partnerIds: ['blue', 'red'] })).toContain(
    'npx --no-install loyalty keys create blue\n',
  );
  expect(banner(start)).toMatch(
    /npx --no-install loyalty partners create ID --name NAME\n.*npx --no-install loyalty keys create ID\n/,
  );
  expect(banner(start)).not.toMatch(/curl|explorer/);
  const withExplorer = banner({ ...start, hasExplorer: true });
  expect(withExplorer).toContain('http://127.0.0.1:4001/explorer\n');
  expect(withExplorer).toContain('http://127.0.0.1:4001/explorer#key=pk_live_…\n');
});

test('with the demo from an earlier start: a key of the partner whose member the request finds', () => {
  const endpoint = 'http://127.0.0.1:4000/graphql';
  const text = banner({
    environment: 'sandbox' as const,
    endpoint,
    partnerIds: ['demo-coffee', 'demo-hotels', 'demo-trains'],
    hasExplorer: true,
  });
  expect(text).toContain('npx --no-install loyalty keys create demo-hotels\n');
  expect(text).toContain('http://127.0.0.1:4000/explorer#key=pk_test_…\n');
  expect(text.split('\n')).toContain(demoCurl(endpoint, 'pk_test_…'));
});
