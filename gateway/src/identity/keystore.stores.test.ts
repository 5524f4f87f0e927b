// The contract of the key store, tested on every engine.

import { ENGINES } from '../../../test/support/engines.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { openKeyStore } from '../stores.ts';
import { hashKey, issueKey, type KeyLimits } from './apikey.ts';
import type { KeyRecord, KeyStore, Partner } from './keystore.ts';

const AT = new Date('2026-03-04T05:06:07.089Z');
const LATER = new Date('2026-03-04T05:07:00.000Z');
const LIMITS: KeyLimits = {
  expiresAt: LATER,
  endpoint: 'mcp',
  scopes: ['read', 'sign-in'],
  allow: ['10.0.0.0/8', 'fd00::/8'],
};
const partner = (partnerId: string, more: Partial<Partner> = {}): Partner => ({
  partnerId,
  name: `${partnerId} & co`,
  createdAt: AT,
  ...more,
});
const newRecord = (partnerId: string, limits: KeyLimits = {}): KeyRecord =>
  issueKey('sandbox', partnerId, AT, limits).record;

describe.each(ENGINES)('the key store on %s', (engine) => {
  let place: { mongodbUrl?: string; dataDir: string };
  let store: KeyStore;
  let release: () => unknown;

  const open = (environment: 'sandbox' | 'production' = 'sandbox') =>
    openKeyStore({ ...place, environment });

  beforeEach(async () => {
    ({ settings: place, release } = emptyPlace(engine));
    store = await open();
  });

  afterEach(async () => {
    await store.close();
    await release();
  });

  test('a key is found by its hash, with its partner and no other key', async () => {
    await store.createPartner(
      partner('inn', { budget: 5, magicLinkUrl: 'https://inn.example/in' }),
    );
    await store.createPartner(partner('spa'));
    const keys = [newRecord('inn'), newRecord('spa'), newRecord('inn', LIMITS), newRecord('inn')];
    for (const key of keys) await store.createKey(key);
    for (const key of keys) {
      const expected =
        key.partnerId === 'inn'
          ? partner('inn', { budget: 5, magicLinkUrl: 'https://inn.example/in' })
          : partner('spa');
      expect(await store.keyByHash(key.hash)).toEqual({ key, partner: expected });
    }
    expect(await store.keyByHash(hashKey('other'))).toBeUndefined();
    expect(await store.keyByHash('')).toBeUndefined();
  });

  test('a partner is changed and keeps its keys and what the change does not name', async () => {
    const inn = partner('inn', { budget: 5, consent: 'required', invitations: 9 });
    await store.createPartner(inn);
    const key = newRecord('inn');
    await store.createKey(key);
    expect(await store.partner('inn')).toEqual(inn);
    const renamed = { ...inn, name: 'Inn', invitations: 10 };
    expect(await store.changePartner('inn', { name: 'Inn', invitations: 10 })).toEqual(renamed);
    expect(await store.partner('inn')).toEqual(renamed);
    const { consent: _, ...free } = renamed;
    const change = { consent: undefined, budget: 1, magicLinkUrl: 'https://inn.example/in' };
    const changed = { ...free, budget: 1, magicLinkUrl: 'https://inn.example/in' };
    expect(await store.changePartner('inn', change)).toEqual(changed);
    expect(await store.partners()).toEqual([changed]);
    expect((await store.keyByHash(key.hash))?.key).toEqual(key);
    expect(await store.changePartner('spa', { name: 'Spa' })).toBeUndefined();
    expect(await store.partner('spa')).toBeUndefined();
  });

  test('a suspension shows with the key, and no change beside it takes it back', async () => {
    expect(await store.createPartner(partner('inn'))).toBe(true);
    expect(await store.createPartner(partner('inn', { budget: 1 }))).toBe(false);
    const key = newRecord('inn');
    await store.createKey(key);
    await Promise.all([
      store.changePartner('inn', { suspendedAt: LATER }),
      ...Array.from({ length: 10 }, (_, n) => store.changePartner('inn', { budget: n })),
    ]);
    expect(await store.keyByHash(key.hash)).toMatchObject({ partner: { suspendedAt: LATER } });
    expect((await store.partner('inn'))?.suspendedAt).toEqual(LATER);
    await store.changePartner('inn', { suspendedAt: undefined });
    expect((await store.keyByHash(key.hash))?.partner.suspendedAt).toBeUndefined();
  });

  test('a suspension shows with each of many keys, and with those created meanwhile', async () => {
    await store.createPartner(partner('inn'));
    const count = engine === 'lmdb' ? 600 : 60;
    const keys = Array.from({ length: count }, () => newRecord('inn'));
    const other = await open();
    const [first, rest] = [keys.slice(0, -20), keys.slice(-20)];
    for (let from = 0; from < first.length; from += 10)
      await Promise.all(first.slice(from, from + 10).map((key) => store.createKey(key)));
    await Promise.all([
      ...rest.map((key) => other.createKey(key)),
      store.changePartner('inn', { suspendedAt: LATER }),
    ]);
    for (const { hash } of keys)
      expect((await store.keyByHash(hash))?.partner.suspendedAt).toEqual(LATER);
    await other.close();
  });

  test('a key is found by its ID, and can be given an end but no later one', async () => {
    await store.createPartner(partner('inn'));
    const [key, other] = [newRecord('inn', { scopes: ['read'] }), newRecord('inn')];
    await store.createKey(other);
    await store.createKey(key);
    expect(await store.key(key.keyId)).toEqual(key);
    expect(await store.key('key_0')).toBeUndefined();
    expect(await store.expireKey(key.keyId, LATER)).toBe(true);
    expect(await store.key(key.keyId)).toEqual({ ...key, expiresAt: LATER });
    await store.expireKey(key.keyId, new Date(LATER.getTime() + 1));
    expect((await store.key(key.keyId))?.expiresAt).toEqual(LATER);
    await store.expireKey(key.keyId, AT);
    expect(await store.keys('inn')).toEqual([other, { ...key, expiresAt: AT }]);
    expect(await store.expireKey('key_0', AT)).toBe(false);
  });

  test('keys that expire in a span are found, but for revoked ones', async () => {
    await store.createPartner(partner('inn'));
    await store.createPartner(partner('spa'));
    const ending = (partnerId: string, at: number) =>
      newRecord(partnerId, { expiresAt: new Date(LATER.getTime() + at) });
    const [first, last, revoked] = [ending('inn', 1), ending('spa', 9), ending('inn', 5)];
    const others = [ending('inn', 0), ending('spa', 10), newRecord('inn')];
    for (const key of [first, last, revoked, ...others]) await store.createKey(key);
    await store.revokeKey(revoked.keyId, AT);
    const until = new Date(LATER.getTime() + 9);
    const found = await store.expiringKeys(LATER, until);
    expect(found.sort((one, other) => (one.partnerId < other.partnerId ? -1 : 1))).toEqual([
      first,
      last,
    ]);
  });

  test('partners are listed by ID, and the keys of each in the order of creation', async () => {
    for (const id of ['spa', 'inn', 'Zoo']) await store.createPartner(partner(id));
    expect(await store.partners()).toEqual([partner('Zoo'), partner('inn'), partner('spa')]);
    const keys = [newRecord('inn'), newRecord('inn', LIMITS), newRecord('inn')];
    for (const key of [...keys, newRecord('spa')]) await store.createKey(key);
    expect([await store.keys('inn'), await store.keys('pub')]).toEqual([keys, []]);
  });

  test('a key is refused without a partner, or if its id or hash is taken', async () => {
    await store.createPartner(partner('inn'));
    await store.createPartner(partner('spa'));
    const key = newRecord('inn');
    await store.createKey(key);
    for (const partnerId of ['inn', 'spa']) {
      await expect(
        store.createKey({ ...newRecord(partnerId), keyId: key.keyId }),
      ).rejects.toThrow();
      await expect(store.createKey({ ...newRecord(partnerId), hash: key.hash })).rejects.toThrow();
    }
    await expect(store.createKey(newRecord('pub'))).rejects.toThrow('no partner pub');
    expect([await store.keys('inn'), await store.keys('spa')]).toEqual([[key], []]);
  });

  test('a revoked key keeps its first revocation time, and no other key changes', async () => {
    await store.createPartner(partner('inn'));
    const [key, other] = [newRecord('inn'), newRecord('inn')];
    await store.createKey(key);
    await store.createKey(other);
    expect(await store.revokeKey(key.keyId, AT)).toBe(true);
    expect(await store.revokeKey(key.keyId, LATER)).toBe(true);
    expect(await store.revokeKey('key_0', AT)).toBe(false);
    expect((await store.keyByHash(key.hash))?.key).toEqual({ ...key, revokedAt: AT });
    expect(await store.keys('inn')).toEqual([{ ...key, revokedAt: AT }, other]);
  });

  test('the store is empty until a partner is created, and remembers who filled it', async () => {
    expect([await store.isEmpty(), await store.origin()]).toEqual([true, undefined]);
    await store.setOrigin('demo-begun');
    expect(await store.isEmpty()).toBe(true);
    await store.createPartner(partner('inn'));
    await store.setOrigin('demo');
    expect([await store.isEmpty(), await store.origin()]).toEqual([false, 'demo']);
  });

  test('the hashes of keys are listed once, and then those that another process added', async () => {
    const other = await open();
    const list = async (mark: number | undefined) => {
      const hashes = new Set<string>();
      return { mark: await store.addedHashes(mark, (hash) => hashes.add(hash)), hashes };
    };
    for (const id of ['inn', 'spa', 'none']) await store.createPartner(partner(id));
    // More than LMDB reads in one tick.
    const keys = Array.from({ length: engine === 'lmdb' ? 1_100 : 20 }, () => newRecord('inn'));
    await Promise.all(keys.map((key) => store.createKey(key)));
    await store.revokeKey(keys[0]?.keyId ?? '', AT);
    const first = await list(undefined);
    expect(first.hashes).toEqual(new Set(keys.map(({ hash }) => hash)));
    const added = newRecord('spa');
    await other.createKey(added);
    const second = await list(first.mark);
    expect(second.hashes).toContain(added.hash);
    expect((await list(second.mark)).mark).toBe(second.mark);
    await other.close();
  });

  test('the store of one environment cannot be opened as the other', async () => {
    await expect(open('production')).rejects.toThrow(
      'the keys store belongs to the sandbox environment; it cannot be opened as production',
    );
  });
});
