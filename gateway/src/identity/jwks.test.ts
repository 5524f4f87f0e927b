// The cache of a provider's keys.
import { generateKeyPairSync } from 'node:crypto';
import type { JSONWebKeySet, JWK } from 'jose';
import { createJwks } from './jwks.ts';

const HOUR_MS = 3_600_000;
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };
const TOKEN = { payload: '', signature: '' };
const newJwk = (kid: string): JWK => ({
  ...(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    format: 'jwk',
  }) as JWK),
  kid,
});

/** A provider that can be down, a cache of its keys, and a clock. */
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
  const find = (kid: string) => Promise.resolve(jwks.find({ alg: 'ES256', kid }, TOKEN));
  const pass = (ms: number) => {
    time += ms;
  };
  return { provider, find, latest: jwks.latest, pass };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

test('concurrent look-ups share one fetch, and later ones are served from memory', async () => {
  const { provider, find } = setUp();
  await Promise.all(Array.from({ length: 20 }, () => find('a')));
  await find('a');
  expect(provider.fetches).toBe(1);
});

test('a key that the provider added is found for the first token that names it', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  provider.keys = [newJwk('a'), newJwk('b')];
  pass(30_000);
  await Promise.all([find('b'), find('b')]);
  expect(provider.fetches).toBe(2);
});

test('a flood of unknown kids is refused from memory', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  pass(30_000);
  for (let i = 0; i < 100; i++) {
    pass(100);
    await expect(find(`x${i}`)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  }
  expect(provider.fetches).toBe(2);
});

test('a key that the provider withdrew is refused after 10 minutes', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  provider.keys = [newJwk('b')];
  pass(10 * 60_000);
  await expect(find('a')).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
});

test('keys in use are fetched every 5 minutes, without a wait', async () => {
  const { provider, find, latest, pass } = setUp();
  await find('a');
  provider.keys = [newJwk('b')];
  pass(5 * 60_000);
  const before = latest();
  expect(before).not.toBeInstanceOf(Promise);
  await settled();
  expect(provider.fetches).toBe(2);
  expect(latest()).not.toBe(before);
});

test('the latest keys stay the same as long as the provider sends the same', async () => {
  const { provider, find, latest, pass } = setUp();
  await find('a');
  const before = latest();
  pass(10 * 60_000);
  expect(await latest()).toBe(before);
  expect(provider.fetches).toBe(2);
});

test('keys of a provider that is down stay usable for 24 hours without a wait', async () => {
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

test('an unknown kid is refused while a provider with known keys is down', async () => {
  const { provider, find, pass } = setUp();
  await find('a');
  provider.down = true;
  pass(30_000);
  await expect(find('b')).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
});

test('without any keys, the provider is queried at most once a second', async () => {
  const { provider, find, pass } = setUp();
  provider.down = true;
  for (let i = 0; i < 20; i++) {
    await expect(find('a')).rejects.toMatchObject(UNAVAILABLE);
    pass(100);
  }
  expect(provider.fetches).toBe(2);
});
