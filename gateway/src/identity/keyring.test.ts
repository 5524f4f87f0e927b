// The keyring: its times, and its behaviour during an outage.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { outageOf } from '@partner-loyalty/runtime/store/outage.ts';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { createRefusals } from '../budget/refusals.ts';
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
  find(key: string, address?: string): ReturnType<Keyring['find']>;
  /** Counts refused credentials of an address, until it is over its limit. */
  refuse(address: string, count?: number): Promise<void>;
  outcomes: string[];
  /** The lines of the log. */
  lines: unknown[];
  pass(ms: number): void;
  source: { mode: Mode; reads: number; lists: number; release(): void };
} {
  let time = 0;
  const held: (() => void)[] = [];
  const source = {
    mode: 'respond' as Mode,
    reads: 0,

    lists: 0,
    release: () => {
      for (const resolve of held.splice(0)) resolve();
    },
  };
  const slowStore = {
    async addedHashes(mark: number | undefined, add: (hash: string) => void) {
      source.lists += 1;
      if (source.mode === 'fail') throw new Error('connection refused');
      return store.addedHashes(mark, add);
    },
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
  const refusals = createRefusals(60, () => time);
  const keyring = createKeyring({
    store: slowStore,
    caches: createCaches(),
    log: { outage: ({ store, err }) => void lines.push({ store, isOutage: outageOf(err) }) },
    metrics,
    refusals,
    now: () => START.getTime() + time,
    uptime: () => 1 + time,
  });
  const pass = (ms: number) => {
    time += ms;
  };
  const find = (key: string, address = CLIENT.address) => keyring.find(key, { address });
  const refuse = async (address: string, count = 61) => {
    for (let consumedPoints = 1; consumedPoints <= count; consumedPoints += 1)
      await refusals.count(address, async () => ({
        consumedPoints,
        isWithin: true,
        msBeforeNext: 60_000,
      }));
  };
  return { find, refuse, outcomes, lines, pass, source };
}

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
const CLIENT = { address: '192.0.2.1' };
const SILENT = { outage() {} };
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };

test('a key is found with its partner and budget, and an unknown one is not', async () => {
  const { key, keyId } = await createKey();
  const { find } = setUp();
  expect(await find(key)).toEqual({
    keyId,
    partnerId: 'inn',
    endpoint: 'graphql',
    budget: 7,
    isSuspended: false,
    scopes: scopeBits(DEFAULT_SCOPES),
  });
  expect(await find(newKey('sandbox'))).toBeUndefined();
});

test("what changes of the partner and the key shows within 5 seconds, at a read's cost", async () => {
  const { key, keyId } = await createKey();
  const { find, pass, source } = setUp();
  await find(key);
  await store.changePartner('inn', { budget: 9, suspendedAt: START });
  await store.expireKey(keyId, new Date(START.getTime() + 6_000));
  pass(5_000);
  expect(await find(key)).toMatchObject({ budget: 9, isSuspended: true });
  expect(source.reads).toBe(2);
  await store.changePartner('inn', { budget: undefined, suspendedAt: undefined });
  pass(999);
  expect(await find(key)).toMatchObject({ isSuspended: true });
  pass(1);
  expect(await find(key)).toMatchObject({ ended: 'expired' });
  expect(source.reads).toBe(2);
});

test('a new key works at once; one that was looked up in vain, within 5 seconds', async () => {
  const [tried, untried] = [
    issueKey('sandbox', 'inn', START),
    issueKey('sandbox', 'inn', START),
  ] as const;
  const { find, pass } = setUp();
  expect(await find(tried.key)).toBeUndefined();
  for (const { record } of [tried, untried]) await store.createKey(record);
  expect(await find(untried.key)).toMatchObject({ keyId: untried.record.keyId });
  pass(5_001);
  expect(await find(tried.key)).toMatchObject({ keyId: tried.record.keyId });
});

test('an unknown key causes one read in 5 seconds, whoever sends it', async () => {
  const { find, pass, outcomes, source } = setUp();
  const key = newKey('sandbox');
  await Promise.all([find(key), find(key, '192.0.2.2')]);
  for (let n = 0; n < 100; n += 1) {
    pass(49);
    expect(find(key, `198.51.100.${n}`)).toBeUndefined();
  }
  expect(source.reads).toBe(1);
  pass(101);
  await find(key);
  expect(source.reads).toBe(2);
  expect(outcomes.filter((outcome) => outcome === 'hit')).toHaveLength(101);
});

// An address over its limit of refused credentials.

test('unknown keys from it cause no reads, and those that exist are read', async () => {
  const { key, keyId } = await createKey();
  const { find, refuse, outcomes, pass, source } = setUp();
  await refuse(CLIENT.address);
  for (let n = 0; n < 100; n += 1) {
    pass(20);
    expect(await find(newKey('sandbox'))).toBeUndefined();
  }
  expect(source).toMatchObject({ reads: 0, lists: 20 });
  expect(await find(key)).toMatchObject({ keyId });
  expect(source.reads).toBe(1);
  expect(outcomes).toEqual([...Array(100).fill('hit'), 'miss']);
});

test('a new key works there within a second, tried in vain or not, and elsewhere at once', async () => {
  const { key, record } = issueKey('sandbox', 'inn', START);
  const { find, refuse, pass } = setUp();
  await refuse(CLIENT.address);
  expect(await find(key)).toBeUndefined();
  await store.createKey(record);
  expect(await find(key)).toBeUndefined();
  pass(1_000);
  expect(await find(key)).toMatchObject({ keyId: record.keyId });
  const { key: other, record: stored } = issueKey('sandbox', 'inn', START);
  await store.createKey(stored);
  expect(await find(other, '192.0.2.2')).toMatchObject({ keyId: stored.keyId });
});

test('1,000 unknown keys at once cause 61 reads, before any is counted', async () => {
  const { find, source } = setUp();
  await Promise.all(Array.from({ length: 1_000 }, () => find(newKey('sandbox'))));
  expect(source.reads).toBe(61);
});

test('100 look-ups of one key at once are one, and no reason to list those that exist', async () => {
  const { key } = await createKey();
  const { find, outcomes, source } = setUp();
  await Promise.all(Array.from({ length: 100 }, () => find(key)));
  expect(source).toMatchObject({ reads: 1, lists: 0 });
  expect(outcomes).toEqual(['miss', ...Array(99).fill('hit')]);
});

test('while the keys that exist cannot be listed, keys from there are unavailable', async () => {
  const { key } = await createKey();
  const { find, refuse, lines, source } = setUp();
  await refuse(CLIENT.address);
  source.mode = 'fail';
  await expect(find(key)).rejects.toMatchObject(UNAVAILABLE);
  expect(lines).toEqual([{ store: 'keys' }]);
  source.mode = 'respond';
  expect(await find(key)).toMatchObject({ partnerId: 'inn' });
});

test('a key in use needs no wait: it is read in the background within 5 seconds', async () => {
  const { key } = await createKey();
  const { find, pass, source } = setUp();
  await find(key);
  for (let i = 0; i < 100; i++) {
    pass(100);
    expect(find(key)).toMatchObject({ partnerId: 'inn' });
    await settled();
  }
  expect(source.reads).toBe(1 + 4);
});

test.each([100, 900, 2_400, 4_900, 30_000])(
  'a revoked key stops within 5 seconds if it is used every %i ms',
  async (interval) => {
    const { key, keyId } = await createKey();
    const { find, pass } = setUp();
    await find(key);
    await store.revokeKey(keyId, START);
    let since = 0;
    while (since + interval < 5_000) {
      pass(interval);
      since += interval;
      await find(key);
      await settled();
    }
    pass(interval);
    expect(await find(key)).toMatchObject({ ended: 'revoked' });
    expect(await find(key)).toMatchObject({ ended: 'revoked' });
  },
);

test('a key stops at its expiry, cached or not', async () => {
  const { key } = await createKey(new Date(START.getTime() + 1_000));
  const { find, pass } = setUp();
  pass(999);
  expect(await find(key)).toMatchObject({ partnerId: 'inn' });
  expect(find(key)).not.toHaveProperty('ended');
  pass(1);
  expect(find(key)).toMatchObject({ ended: 'expired' });
  const late = setUp();
  late.pass(1_000);
  expect(await late.find(key)).toMatchObject({ ended: 'expired' });
});

test('in an outage, keys confirmed within 60 seconds work and others fail', async () => {
  const { key } = await createKey();
  const { key: other } = await createKey();
  const { find, pass, source } = setUp();
  await find(key);
  source.mode = 'fail';
  pass(30_000);
  expect(await find(key)).toMatchObject({ partnerId: 'inn' });
  await expect(find(other)).rejects.toMatchObject(UNAVAILABLE);
  pass(29_999);
  expect(await find(key)).toMatchObject({ partnerId: 'inn' });
  pass(1);
  await expect(find(key)).rejects.toMatchObject(UNAVAILABLE);
  source.mode = 'respond';
  expect(await find(key)).toMatchObject({ partnerId: 'inn' });
  expect(await find(other)).toMatchObject({ partnerId: 'inn' });
});

test('each look-up is counted once: hit, miss, or stale during an outage', async () => {
  const { key } = await createKey();
  const { find, outcomes, pass, source } = setUp();
  await find(key);
  await find(key);
  pass(2_600); // Read again in the background.
  await find(key);
  await settled();
  pass(5_000); // Too old to use without the store.
  await find(key);
  source.mode = 'fail';
  pass(5_000);
  await find(key);
  await find(key);
  expect(outcomes).toEqual(['miss', 'hit', 'hit', 'miss', 'stale', 'stale']);
});

test('a revoked key is kept as others are, and does not work again if the store fails', async () => {
  const { key, keyId } = await createKey();
  const { find, pass, source } = setUp();
  await find(key);
  await store.revokeKey(keyId, START);
  pass(5_000);
  expect(await find(key)).toMatchObject({ ended: 'revoked' });
  expect(find(key)).toMatchObject({ ended: 'revoked' });
  expect(source.reads).toBe(2);
  source.mode = 'fail';
  pass(30_000);
  expect(await find(key)).toMatchObject({ ended: 'revoked' });
  pass(30_000);
  await expect(find(key)).rejects.toMatchObject(UNAVAILABLE);
});

test('a read that hangs fails after 2 seconds, and is logged', async () => {
  const { key } = await createKey();
  const { find, lines, pass, source } = setUp();
  await find(key);
  source.mode = 'hang';
  pass(10_000);
  const [seen, unseen] = await withFakeTimeouts(async (passTime) => {
    const finds = Promise.allSettled([find(key), find(newKey('sandbox'))]);
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
  const parts = { caches: createCaches(), log: SILENT, refusals: createRefusals(60) };
  const keyring = createKeyring({ ...parts, store, uptime: () => time });
  expect(keyring.find(key, CLIENT)).toMatchObject({ keyId });
  await store.revokeKey(keyId, START);
  time = 2_500;
  expect(keyring.find(key, CLIENT)).toMatchObject({ ended: 'revoked' });
  const broken = createKeyring({
    ...parts,
    store: {
      addedHashes: store.addedHashes,
      keyByHash() {
        throw new Error('MDB_CORRUPTED');
      },
    },
  });
  expect(() => broken.find(key, CLIENT)).toThrow(expect.objectContaining(UNAVAILABLE));
});
