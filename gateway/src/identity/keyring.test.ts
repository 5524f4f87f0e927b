// The keyring: its times, and its behaviour during an outage.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { outageOf } from '@partner-loyalty/runtime/store/outage.ts';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { DEFAULT_SCOPES, scopeBits } from '../schema/scopes.ts';
import { openKeyStore } from '../stores.ts';
import { issueKey, newKey } from './apikey.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import type { FoundKey, KeyStore } from './keystore.ts';

const START = new Date('2026-03-04T05:06:07Z');

let folder: { path: string; remove(): void };
let store: KeyStore;

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openKeyStore({ dataDir: folder.path, environment: 'sandbox' });
  await store.createPartner({ partnerId: 'inn', name: 'Inn', budget: 7, createdAt: START });
});

afterEach(async () => {
  await store.close();
  folder.remove();
});

async function createKey(expiresAt?: Date): Promise<{ key: string; keyId: string }> {
  const { key, record } = issueKey('sandbox', 'inn', START, { expiresAt });
  await store.createKey(record);
  return { key, keyId: record.keyId };
}

type Mode = 'respond' | 'fail' | 'hang';

/** A keyring on a store that responds later, as over a network, and that can fail or hang. */
function setUp(): {
  keyring: Keyring;
  outcomes: string[];
  /** Of the log. */
  lines: unknown[];
  pass(ms: number): void;
  source: { mode: Mode; reads: number; release(): void };
} {
  let time = 0;
  const held: (() => void)[] = [];
  const source = {
    mode: 'respond' as Mode,
    reads: 0,
    release: () => {
      for (const resolve of held.splice(0)) resolve();
    },
  };
  const slowStore = {
    async keyByHash(hash: string): Promise<FoundKey | undefined> {
      source.reads += 1;
      const found = store.keyByHash(hash);
      if (source.mode === 'hang') await new Promise<void>((resolve) => held.push(resolve));
      else await new Promise(setImmediate);
      if (source.mode === 'fail') throw new Error('connection refused');
      return found;
    },
  };
  const outcomes: string[] = [];
  const lines: unknown[] = [];
  const metrics = { keyCache: (outcome: string) => void outcomes.push(outcome) };
  const keyring = createKeyring({
    store: slowStore,
    caches: createCaches(),
    log: { outage: ({ store, err }) => void lines.push({ store, isOutage: outageOf(err) }) },
    metrics,
    now: () => START.getTime() + time,
    uptime: () => time,
  });
  const pass = (ms: number) => {
    time += ms;
  };
  return { keyring, outcomes, lines, pass, source };
}

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
const SILENT = { outage() {} };
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };

test('a key is found with its partner and budget, and an unknown one is not', async () => {
  const { key, keyId } = await createKey();
  const { keyring } = setUp();
  expect(await keyring.find(key)).toEqual({
    keyId,
    partnerId: 'inn',
    endpoint: 'graphql',
    budget: 7,
    isSuspended: false,
    scopes: scopeBits(DEFAULT_SCOPES),
  });
  expect(await keyring.find(newKey('sandbox'))).toBeUndefined();
});

test("what changes of the partner and the key shows within 5 seconds, at a read's cost", async () => {
  const { key, keyId } = await createKey();
  const { keyring, pass, source } = setUp();
  await keyring.find(key);
  await store.changePartner('inn', { budget: 9, suspendedAt: START });
  await store.expireKey(keyId, new Date(START.getTime() + 6_000));
  pass(5_000);
  expect(await keyring.find(key)).toMatchObject({ budget: 9, isSuspended: true });
  expect(source.reads).toBe(2);
  await store.changePartner('inn', { budget: undefined, suspendedAt: undefined });
  pass(999);
  expect(await keyring.find(key)).toMatchObject({ isSuspended: true });
  pass(1);
  expect(await keyring.find(key)).toBeUndefined();
  expect(source.reads).toBe(2);
});

test('a new key works at once, even if it was unknown a moment ago', async () => {
  const { key, record } = issueKey('sandbox', 'inn', START);
  const { keyring } = setUp();
  expect(await keyring.find(key)).toBeUndefined();
  await store.createKey(record);
  expect(await keyring.find(key)).toMatchObject({ keyId: record.keyId });
});

test('a new key works at once, even if a read that began before is in flight', async () => {
  const { key, record } = issueKey('sandbox', 'inn', START);
  const { keyring, source } = setUp();
  source.mode = 'hang';
  const before = keyring.find(key);
  await store.createKey(record);
  const after = Promise.all([keyring.find(key), keyring.find(key)]);
  source.mode = 'respond';
  source.release();
  expect(await before).toBeUndefined();
  for (const found of await after) expect(found).toMatchObject({ keyId: record.keyId });
  expect(source.reads).toBe(2);
});

test('concurrent look-ups of a key share one read', async () => {
  const { key } = await createKey();
  const { keyring, source } = setUp();
  const found = await Promise.all(Array.from({ length: 50 }, () => keyring.find(key)));
  expect(found.every((each) => each?.partnerId === 'inn')).toBe(true);
  expect(source.reads).toBe(1);
});

test('a key in use needs no wait: it is read in the background within 5 seconds', async () => {
  const { key } = await createKey();
  const { keyring, pass, source } = setUp();
  await keyring.find(key);
  for (let i = 0; i < 100; i++) {
    pass(100);
    expect(keyring.find(key)).toMatchObject({ partnerId: 'inn' });
    await settled();
  }
  expect(source.reads).toBe(1 + 4);
});

test.each([100, 900, 2_400, 4_900, 30_000])(
  'a revoked key stops within 5 seconds if it is used every %i ms',
  async (interval) => {
    const { key, keyId } = await createKey();
    const { keyring, pass } = setUp();
    await keyring.find(key);
    await store.revokeKey(keyId, START);
    let since = 0;
    while (since + interval < 5_000) {
      pass(interval);
      since += interval;
      await keyring.find(key);
      await settled();
    }
    pass(interval);
    expect(await keyring.find(key)).toBeUndefined();
    expect(await keyring.find(key)).toBeUndefined();
  },
);

test('a key stops at its expiry, cached or not', async () => {
  const { key } = await createKey(new Date(START.getTime() + 1_000));
  const { keyring, pass } = setUp();
  pass(999);
  expect(await keyring.find(key)).toMatchObject({ partnerId: 'inn' });
  expect(keyring.find(key)).toMatchObject({ partnerId: 'inn' });
  pass(1);
  expect(keyring.find(key)).toBeUndefined();
  const late = setUp();
  late.pass(1_000);
  expect(await late.keyring.find(key)).toBeUndefined();
});

test('in an outage, keys confirmed within 60 seconds work and others fail', async () => {
  const { key } = await createKey();
  const { key: other } = await createKey();
  const { keyring, pass, source } = setUp();
  await keyring.find(key);
  source.mode = 'fail';
  pass(30_000);
  expect(await keyring.find(key)).toMatchObject({ partnerId: 'inn' });
  await expect(keyring.find(other)).rejects.toMatchObject(UNAVAILABLE);
  pass(29_999);
  expect(await keyring.find(key)).toMatchObject({ partnerId: 'inn' });
  pass(1);
  await expect(keyring.find(key)).rejects.toMatchObject(UNAVAILABLE);
  source.mode = 'respond';
  expect(await keyring.find(key)).toMatchObject({ partnerId: 'inn' });
  expect(await keyring.find(other)).toMatchObject({ partnerId: 'inn' });
});

test('a key in use never waits in an outage, and stops in time after it', async () => {
  const { key, keyId } = await createKey();
  const { keyring, pass, source } = setUp();
  await keyring.find(key);
  source.mode = 'fail';
  for (let since = 100; since < 60_000; since += 100) {
    pass(100);
    expect(keyring.find(key)).toMatchObject({ partnerId: 'inn' });
    await settled();
  }
  expect(source.reads).toBeLessThan(130);
  await store.revokeKey(keyId, START);
  source.mode = 'respond';
  pass(4_999);
  expect(await keyring.find(key)).toBeUndefined();
});

test('each look-up is counted once: hit, miss, or stale during an outage', async () => {
  const { key } = await createKey();
  const { keyring, outcomes, pass, source } = setUp();
  await keyring.find(key);
  await keyring.find(key);
  pass(2_600); // Read again in the background.
  await keyring.find(key);
  await settled();
  pass(5_000); // Too old to use without the store.
  await keyring.find(key);
  source.mode = 'fail';
  pass(5_000);
  await keyring.find(key);
  await keyring.find(key);
  expect(outcomes).toEqual(['miss', 'hit', 'hit', 'miss', 'stale', 'stale']);
});

test('a revoked key does not work again if the store fails later', async () => {
  const { key, keyId } = await createKey();
  const { keyring, pass, source } = setUp();
  await keyring.find(key);
  await store.revokeKey(keyId, START);
  pass(5_000);
  expect(await keyring.find(key)).toBeUndefined();
  source.mode = 'fail';
  await expect(keyring.find(key)).rejects.toMatchObject(UNAVAILABLE);
});

test('a read that hangs fails after 2 seconds, and is logged', async () => {
  const { key } = await createKey();
  const { keyring, lines, pass, source } = setUp();
  await keyring.find(key);
  source.mode = 'hang';
  pass(10_000);
  const [seen, unseen] = await withFakeTimeouts(async (passTime) => {
    const finds = Promise.allSettled([keyring.find(key), keyring.find(newKey('sandbox'))]);
    await passTime(2_000);
    return finds;
  });
  expect(seen).toMatchObject({ status: 'fulfilled', value: { partnerId: 'inn' } });
  expect(unseen).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
  const line = { store: 'keys', isOutage: 'unavailable' };
  expect(lines).toEqual([line, line]);
});

test('on the embedded store no look-up waits, and a failing one is unavailable', async () => {
  const { key, keyId } = await createKey();
  let time = 0;
  const keyring = createKeyring({ store, caches: createCaches(), log: SILENT, uptime: () => time });
  expect(keyring.find(key)).toMatchObject({ keyId });
  await store.revokeKey(keyId, START);
  time = 2_500;
  expect(keyring.find(key)).toBeUndefined();
  const broken = createKeyring({
    caches: createCaches(),
    log: SILENT,
    store: {
      keyByHash() {
        throw new Error('MDB_CORRUPTED');
      },
    },
  });
  expect(() => broken.find(key)).toThrow(expect.objectContaining(UNAVAILABLE));
});
