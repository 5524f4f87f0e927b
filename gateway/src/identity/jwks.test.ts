// Where verification keys come from.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JSONWebKeySet, JWK } from 'jose';
import { createJwks, fetchProviderKeys } from './jwks.ts';

const HOUR_MS = 3_600_000;
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };
const TOKEN = { payload: '', signature: '' };
const newJwk = (kid: string): JWK => ({
  ...(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    format: 'jwk',
  }) as JWK),
  kid,
});

/** A provider with keys that can be down, a cache of its keys, and the clock. */
function setUp() {
  const provider = { keys: [newJwk('a')], down: false, fetches: 0 };
  let time = 0;
  const fetchKeys = async (): Promise<JSONWebKeySet> => {
    provider.fetches += 1;
    await new Promise(setImmediate);
    if (provider.down) throw new Error('connection refused');
    return { keys: provider.keys };
  };
  const jwks = createJwks({ fetchKeys, uptime: () => time });
  const find = (kid: string) => Promise.resolve(jwks({ alg: 'ES256', kid }, TOKEN));
  const pass = (ms: number) => {
    time += ms;
  };
  return { provider, find, pass };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

test('keys are fetched once for all that ask at the same time, and then answered from memory', async () => {
  const { provider, find } = setUp();
  await Promise.all(Array.from({ length: 20 }, () => find('a')));
  await find('a');
  expect(provider.fetches).toBe(1);
});

test('a key that the provider added is found at the first token that names it', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  provider.keys = [newJwk('a'), newJwk('b')];
  pass(30_000);
  await Promise.all([find('b'), find('b')]);
  expect(provider.fetches).toBe(2);
});

test('a flood of unknown kids is answered from memory', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  pass(30_000);
  for (let i = 0; i < 100; i++) {
    pass(100);
    await expect(find(`x${i}`)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  }
  expect(provider.fetches).toBe(2);
});

test('a key that the provider withdrew is gone after 10 minutes in use', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  provider.keys = [newJwk('b')];
  pass(10 * 60_000);
  await find('a');
  await settled();
  await expect(find('a')).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
});

test('keys go on for 24 hours past their lifetime while the provider is down, and no request waits for it', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  provider.down = true;
  for (let hour = 1; hour <= 24; hour++) {
    pass(HOUR_MS);
    await find('a');
    await settled();
  }
  pass(HOUR_MS);
  await expect(find('a')).rejects.toMatchObject(UNAVAILABLE);
  provider.down = false;
  pass(1_000);
  await find('a');
});

test('an unknown kid is refused, not unavailable, while the provider is down but its keys are known', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  provider.down = true;
  pass(30_000);
  await expect(find('b')).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
});

test('without any keys the provider is asked at most once a second', async () => {
  const { provider, find, pass } = setUp();
  provider.down = true;
  for (let i = 0; i < 20; i++) {
    await expect(find('a')).rejects.toMatchObject(UNAVAILABLE);
    pass(100);
  }
  expect(provider.fetches).toBe(2);
});

describe('the keys of a provider', () => {
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let issuer: string;
  const server = createServer((request, response) => answer(request, response));
  const json =
    (body: unknown, status = 200) =>
    (_: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(status).end(JSON.stringify(body));

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const set = { keys: [newJwk('a')] };
  const discovery = (metadata: object) => (request: IncomingMessage, response: ServerResponse) =>
    json(
      request.url === '/.well-known/openid-configuration'
        ? { issuer, jwks_uri: `${issuer}/keys`, ...metadata }
        : set,
    )(request, response);

  test('are found by discovery, or at the address that is set', async () => {
    answer = discovery({});
    expect(await fetchProviderKeys(issuer)).toEqual(set);
    answer = json(set);
    expect(await fetchProviderKeys(issuer, `${issuer}/jwks`)).toEqual(set);
  });

  test('are not taken from a discovery document of another issuer, or one without keys', async () => {
    answer = discovery({ issuer: 'https://evil.example' });
    await expect(fetchProviderKeys(issuer)).rejects.toThrow('not usable');
    answer = discovery({ jwks_uri: undefined });
    await expect(fetchProviderKeys(issuer)).rejects.toThrow('not usable');
  });

  test.each<[string, () => (request: IncomingMessage, response: ServerResponse) => void]>([
    ['another status', () => json(set, 500)],
    ['no key set', () => json({ keys: {} })],
    ['no JSON object', () => json(null)],
    ['no JSON', () => (_, response) => void response.end('<html>')],
    ['more than 256 KiB', () => json({ ...set, pad: 'x'.repeat(256 * 1_024) })],
    [
      'a redirect',
      () => (_, response) => void response.writeHead(302, { location: '/other' }).end(),
    ],
    ['nothing, for over 2 seconds', () => () => {}],
    ['an answer that never ends', () => (_, response) => void response.write('{"keys":[')],
  ])('are refused where the provider answers with %s', async (_, respond) => {
    answer = respond();
    await expect(fetchProviderKeys(issuer, `${issuer}/jwks`)).rejects.toThrow();
  });
});
