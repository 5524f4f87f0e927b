// Signing keys of the built-in provider, the ID tokens that they sign, and sessions that ended.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  exportJWK,
  generateKeyPair,
  jwtVerify,
} from 'jose';
import { newPlace, type Place } from '../../test/engine.ts';
import type { MembersStore } from '../store/store.ts';
import { endingSessions } from './endedsessions.ts';
import { issueIdToken } from './idtoken.ts';
import {
  ensureSigningKey,
  publicKeys,
  revokeSigningKey,
  rotateSigningKey,
  type SigningKey,
} from './signingkey.ts';

const NOW = new Date('2026-03-04T05:06:07.089Z');
const HOUR = 3_600_000;
const ISSUER = 'https://api.example';
const ADA = { memberId: 'ada', email: 'Ada@example.com' };

let firstKeys: readonly SigningKey[] | undefined;

describe('the signing keys', () => {
  let place: Place;
  let store: MembersStore;

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
  });
  afterEach(() => place.release());

  /** Starts with the keys of the first test, since to make them takes longer than most tests. */
  const start = async () => {
    await store.signingKeys.change('provider-rs256', () => firstKeys && [...firstKeys]);
    await ensureSigningKey(store.signingKeys);
    firstKeys ??= await store.signingKeys.keysIn('provider-rs256');
  };
  const later = (ms: number) => new Date(NOW.getTime() + ms);
  const verify = async (idToken: string, at: Date) => {
    const keys = createLocalJWKSet(await publicKeys(store.signingKeys, at.getTime()));
    return jwtVerify(idToken, keys, {
      currentDate: at,
      algorithms: ['RS256'],
      issuer: ISSUER,
      audience: ISSUER,
    });
  };
  const issue = (at = NOW) => issueIdToken(store, ADA, ISSUER, at);

  test('if 3 processes start at the same time, one of them creates the keys', async () => {
    const stores: MembersStore[] = [];
    for (let i = 0; i < 3; i += 1) stores.push(await place.open());
    await Promise.all(stores.map(({ signingKeys }) => ensureSigningKey(signingKeys)));
    const sets = await Promise.all(
      stores.map(({ signingKeys }) => publicKeys(signingKeys, NOW.getTime())),
    );
    expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(1);
  });

  test('a retired key loses its private half and stays published until an hour after its last token', async () => {
    await start();
    const { idToken } = await issue();
    await rotateSigningKey(store.signingKeys, NOW.getTime());
    const kept = await store.signingKeys.keys();
    expect(kept.map((key) => [key.state, 'privateKey' in key])).toEqual([
      ['retired', false],
      ['current', true],
      ['next', true],
    ]);
    const kidsAt = async (ms: number) =>
      (await publicKeys(store.signingKeys, later(ms).getTime())).keys.length;
    expect([await kidsAt(2 * HOUR - 1), await kidsAt(2 * HOUR)]).toEqual([3, 2]);
    await expect(verify(idToken, later(2 * HOUR))).rejects.toThrow(errors.JWKSNoMatchingKey);
    await rotateSigningKey(store.signingKeys, later(2 * HOUR).getTime());
    expect(await store.signingKeys.keys()).toHaveLength(3);
  });

  test('concurrent rotations all take effect, and one key is current', async () => {
    await start();
    const other = await place.open();
    const kids = await Promise.all(
      [store, other, store].map(({ signingKeys }) => rotateSigningKey(signingKeys, NOW.getTime())),
    );
    expect(new Set(kids).size).toBe(3);
    expect((await store.signingKeys.keys()).map(({ state }) => state)).toEqual([
      'retired',
      'retired',
      'retired',
      'current',
      'next',
    ]);
  });

  describe('ended sessions', () => {
    test('have ended before an act, so that a crash during it leaves none', async () => {
      const failing = endingSessions(store.endedSessions, 'ada', async () => {
        throw new Error('crash');
      });
      await expect(failing).rejects.toThrow('crash');
      expect(await store.endedSessions.find('ada')).toEqual(expect.any(Number));
    });

    test('end again after the act, and so does one that began during it', async () => {
      const began = await endingSessions(store.endedSessions, 'ada', async () => {
        await setTimeout(2);
        return Date.now();
      });
      expect(await store.endedSessions.find('ada')).toBeGreaterThanOrEqual(began);
    });

    test('what ended of a session or an app is listed with its time, and ends again', async () => {
      const { endedSubjects } = store;
      await endedSubjects.end(['sid:one'], () => 1_000);
      await endedSubjects.end(['app:ada/spa'], () => 2_000);
      await endedSubjects.end(['sid:one'], () => 3_000);
      expect(await endedSubjects.list(2_000, 10)).toEqual([
        { subject: 'app:ada/spa', endedAt: 2_000 },
        { subject: 'sid:one', endedAt: 3_000 },
      ]);
      await endedSubjects.forget('ada');
      expect([
        await endedSubjects.find('app:ada/spa'),
        await endedSubjects.find('sid:one'),
      ]).toEqual([undefined, 3_000]);
    });

    test('filling a page: many that end together have times of their own, so that later ones are read', async () => {
      const { endedSubjects } = store;
      const all = Array.from({ length: 300 }, (_, n) => `sid:${n}`);
      await Promise.all([endedSubjects.end(all.slice(0, 150)), endedSubjects.end(all.slice(150))]);
      const times = (await endedSubjects.list(0, 1_000)).map(({ endedAt }) => endedAt);
      expect(times).toHaveLength(300);
      for (const time of times)
        expect(times.filter((other) => other === time).length).toBeLessThanOrEqual(50);
    });

    test('filling what ended: a session or an app is kept for little more than an hour', async () => {
      const { endedSubjects } = store;
      await endedSubjects.end(['sid:one'], () => 0);
      await endedSubjects.end(['sid:two'], () => 62 * 60_000);
      expect(await endedSubjects.list(0, 10)).toHaveLength(2);
      await endedSubjects.end(['app:ada/spa'], () => 70 * 60_000);
      const left = await endedSubjects.list(0, 10);
      expect(left.map(({ subject }) => subject)).toEqual(['sid:two', 'app:ada/spa']);
    });

    test('are listed from the earliest on, once a member, for as long as a token lives', async () => {
      const { endedSessions } = store;
      const end = (memberId: string, ms: number) =>
        endedSessions.end({ memberId, endedAt: NOW.getTime() + ms });
      await end('ada', 0);
      await end('ben', 2_000);
      await end('ada', 5_000);
      await end('ada', 1_000);
      expect(await endedSessions.list(NOW.getTime() + 2_000, 10)).toEqual([
        { memberId: 'ben', endedAt: NOW.getTime() + 2_000 },
        { memberId: 'ada', endedAt: NOW.getTime() + 5_000 },
      ]);
      expect(await endedSessions.list(0, 1)).toHaveLength(1);
      await end('cleo', 26 * HOUR);
      expect(await endedSessions.list(0, 10)).toEqual([
        { memberId: 'cleo', endedAt: NOW.getTime() + 26 * HOUR },
      ]);
      expect(await endedSessions.find('ada')).toBeUndefined();
    });

    test('a token of the same millisecond comes after it, and the next end covers that', async () => {
      await start();
      const { endedSessions } = store;
      await endedSessions.end({ memberId: 'ada', endedAt: NOW.getTime() });
      const { iat, iat_ms } = decodeJwt((await issue()).idToken);
      expect([iat, iat_ms]).toEqual([Math.floor(NOW.getTime() / 1_000), NOW.getTime() + 1]);
    });

    test('a clock over a second ahead: no token until the end has come', async () => {
      await start();
      await store.endedSessions.end({ memberId: 'ada', endedAt: NOW.getTime() + 1_000 });
      await expect(issue()).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
    });
  });

  describe('beside processes of the former version, which signs with ES256,', () => {
    const former = () => store.signingKeys.keysIn('provider');
    beforeEach(async () => {
      const pair = await generateKeyPair('ES256', { extractable: true });
      const [publicKey, privateKey] = [
        await exportJWK(pair.publicKey),
        await exportJWK(pair.privateKey),
      ];
      await store.signingKeys.change('provider', () => [
        { kid: 'former', publicKey, privateKey, state: 'current' },
        { kid: 'unused', publicKey, privateKey, state: 'next' },
      ]);
    });

    test('tokens of both are valid, and the former keys stay as they are', async () => {
      const before = await former();
      await Promise.all([ensureSigningKey(store.signingKeys), ensureSigningKey(store.signingKeys)]);
      await store.signingKeys.setIssuer(ISSUER);
      expect(await former()).toEqual(before);
      const { keys } = await publicKeys(store.signingKeys, Date.now());
      expect(keys.map(({ alg }) => alg)).toEqual(['RS256', 'RS256', 'ES256', 'ES256']);
      await verify((await issue()).idToken, NOW);
    });

    test('a rotation retires their key, and revoking ends what it has signed', async () => {
      const kid = await rotateSigningKey(store.signingKeys, NOW.getTime());
      expect(await former()).toMatchObject([{ kid: 'former', state: 'retired' }]);
      expect(JSON.stringify(await former())).not.toContain('privateKey');
      expect(await revokeSigningKey(store.signingKeys, 'former', NOW.getTime())).toBe(kid);
      expect(await former()).toEqual([]);
      await verify((await issue()).idToken, NOW);
    });

    test('their keys are encrypted too', async () => {
      store = await place.open('sandbox', randomBytes(32).toString('base64'));
      await ensureSigningKey(store.signingKeys);
      expect(JSON.stringify(await former())).not.toContain('"d":');
    });
  });

  test('a token has subject, issuer, audience and one hour to live, and the public keys verify it', async () => {
    await start();
    const { idToken, expiresAt } = await issue();
    const { payload, protectedHeader } = await verify(idToken, NOW);
    const iat = Math.floor(NOW.getTime() / 1_000);
    expect(payload).toEqual({
      iss: ISSUER,
      aud: ISSUER,
      sub: 'ada',
      email: 'Ada@example.com',
      iat,
      iat_ms: NOW.getTime(),
      exp: iat + 3_600,
    });
    expect(protectedHeader).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: expect.stringMatching(/^[\w-]{16}$/),
    });
    expect(expiresAt).toEqual(new Date((iat + 3_600) * 1_000));
    for (const key of (await publicKeys(store.signingKeys, NOW.getTime())).keys)
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  test('without keys no token is issued', async () => {
    await expect(issue()).rejects.toThrow('there is no signing key');
  });

  test('after a rotation, new tokens have a key that was published before, and old ones stay valid', async () => {
    await start();
    const published = createLocalJWKSet(await publicKeys(store.signingKeys, NOW.getTime()));
    const { idToken: before } = await issue();
    const kid = await rotateSigningKey(store.signingKeys, NOW.getTime());
    const { idToken: after } = await issue();
    expect([decodeProtectedHeader(after).kid, decodeProtectedHeader(before).kid === kid]).toEqual([
      kid,
      false,
    ]);
    await jwtVerify(after, published, { currentDate: NOW });
    await verify(before, later(HOUR - 8_000));
    await verify(after, NOW);
  });

  describe('a revoked key', () => {
    const states = async () => (await store.signingKeys.keys()).map(({ state }) => state);
    const kidOf = async (wanted: string) =>
      (await store.signingKeys.keys()).find(({ state }) => state === wanted)?.kid ?? '';

    test.each([
      ['current', ['current', 'next']],
      ['next', ['retired', 'current', 'next']],
      ['retired', ['current', 'next']],
    ])('that is %s is published no more, and another one signs', async (state, left) => {
      await start();
      if (state !== 'current') await rotateSigningKey(store.signingKeys, NOW.getTime());
      const revoked = await kidOf(state);
      const inUse = await revokeSigningKey(store.signingKeys, revoked, NOW.getTime());
      const { keys } = await publicKeys(store.signingKeys, NOW.getTime());
      expect(keys.map(({ kid }) => kid)).not.toContain(revoked);
      expect([await states(), await kidOf('current')]).toEqual([left, inUse]);
      const { idToken } = await issue();
      expect(decodeProtectedHeader(idToken).kid).toBe(inUse);
      await verify(idToken, NOW);
    });

    test('that is unknown changes nothing', async () => {
      await start();
      const before = await store.signingKeys.keys();
      expect(await revokeSigningKey(store.signingKeys, 'other', NOW.getTime())).toBeUndefined();
      expect(await store.signingKeys.keys()).toEqual(before);
    });
  });

  describe('with KEY_ENCRYPTION_KEY', () => {
    const KEY = randomBytes(32).toString('base64');
    const privateParts = async () =>
      (await store.signingKeys.keys()).flatMap((key) =>
        key.state === 'retired' ? [] : [Object.keys(key.privateKey)],
      );

    test('keys that were stored in plain text are encrypted at the next start, and sign as before', async () => {
      await start();
      const { idToken } = await issue();
      expect(await privateParts()).toEqual([
        expect.arrayContaining(['d']),
        expect.arrayContaining(['d']),
      ]);
      store = await place.open('sandbox', KEY);
      await ensureSigningKey(store.signingKeys);
      expect(await privateParts()).toEqual([['jwe'], ['jwe']]);
      expect(decodeProtectedHeader((await issue()).idToken)).toEqual(
        decodeProtectedHeader(idToken),
      );
      await rotateSigningKey(store.signingKeys, NOW.getTime());
      expect(await privateParts()).toEqual([['jwe'], ['jwe']]);
      await verify((await issue()).idToken, NOW);
    });

    test('without it, or with another one, the start names the setting', async () => {
      store = await place.open('sandbox', KEY);
      await ensureSigningKey(store.signingKeys);
      for (const key of [undefined, randomBytes(32).toString('base64')]) {
        const { signingKeys } = await place.open('sandbox', key);
        await expect(ensureSigningKey(signingKeys)).rejects.toThrow('KEY_ENCRYPTION_KEY');
      }
    });
  });
});
