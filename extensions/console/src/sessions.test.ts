// The sessions of the console: how long they last, and what a browser has to show for one.
import type { KeyStore } from '@partner-loyalty/gateway/identity/keystore.ts';
import {
  inviteStaff,
  makeDemoToken,
  recipientsOf,
} from '@partner-loyalty/gateway/identity/staff.ts';
import { createCookies } from '@partner-loyalty/gateway/pages/forms.ts';
import { openKeyStore } from '@partner-loyalty/gateway/stores.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { withFakeDate } from '../../../test/support/clock.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { createPersonOf, createSessions, type Sessions } from './sessions.ts';

const ADA = 'ada@example.com';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('sessions', () => {
  let keys: KeyStore;
  let sessions: Sessions;
  let release: () => unknown;
  beforeEach(async () => {
    const place = emptyPlace();
    release = place.release;
    keys = await openKeyStore({ ...place.settings, environment: 'sandbox' });
    sessions = createSessions(keys, createCookies('https://api.example'));
    const tables = await keys.staffTables();
    await inviteStaff(tables, { partnerId: 'inn', email: ADA, role: 'admin' });
  });
  afterEach(async () => {
    await keys.close();
    await release();
  });

  // Cast: nothing else of it is read.
  const requestWith = (cookie: string) => ({ headers: { cookie } }) as unknown as HttpRequest;
  const begin = async (cookie = '') => {
    const begun = await sessions.begin(requestWith(cookie), { address: ADA });
    return begun?.cookie.split(';')[0] ?? '';
  };
  const current = (cookie: string) => sessions.current(requestWith(cookie));

  test('a session lasts 12 hours from its last use', () =>
    withFakeDate(async (advance) => {
      const cookie = await begin();
      expect((await current(cookie))?.cookies).toEqual([]);
      for (let used = 0; used < 3; used += 1) {
        advance(11 * HOUR);
        expect(await current(cookie)).toMatchObject({
          staff: { email: ADA, role: 'admin' },
          cookies: [expect.stringContaining('Max-Age=43200; HttpOnly; SameSite=Lax; Secure')],
        });
      }
      advance(12 * HOUR + 1);
      expect(await current(cookie)).toBeUndefined();
      await begin();
      expect(await (await keys.staffTables()).sessions.select(() => true)).toHaveLength(1);
    }));

  test('signing in again ends the session that the browser had, signing out ends this one', async () => {
    const first = await begin();
    const second = await begin(first);
    expect(await current(first)).toBeUndefined();
    const personOf = (cookie: string) => createPersonOf(keys)(cookie.replace(/.*=/, ''));
    expect([await personOf(first), await personOf(second)]).toEqual([undefined, `staff ${ADA}`]);
    const signedIn = await current(second);
    expect(signedIn?.staff?.email).toBe(ADA);
    if (signedIn) await sessions.end(signedIn);
    expect(await current(second)).toBeUndefined();
    expect(await personOf(second)).toBeUndefined();
  });

  test('notices go to whoever has signed in to the partner, or chosen it', async () => {
    const tables = await keys.staffTables();
    const reached = async () => {
      const lists = await Promise.all(['inn', 'spa'].map((id) => recipientsOf(tables, id)));
      return lists.map(({ length }) => length);
    };
    expect(await reached()).toEqual([0, 0]);
    await begin();
    expect(await reached()).toEqual([1, 0]);
    await inviteStaff(tables, { partnerId: 'spa', email: ADA, role: 'viewer' });
    const signedIn = await current(await begin());
    expect(await reached()).toEqual([1, 0]);
    const spa = signedIn?.places.find(({ partnerId }) => partnerId === 'spa');
    if (signedIn && spa) await sessions.choose(signedIn, spa);
    expect(await reached()).toEqual([1, 1]);
  });

  test('a stolen store opens no session: it has hashes alone', async () => {
    const cookie = await begin();
    const [row] = await (await keys.staffTables()).sessions.select(() => true);
    expect(await current(`__Host-console=${row?.sessionId}`)).toBeUndefined();
    expect(JSON.stringify(row)).not.toContain(cookie.split('=')[1]);
  });

  test('a link of the demo works once, within 15 minutes, and is no session', () =>
    withFakeDate(async (advance) => {
      const tables = await keys.staffTables();
      const token = await makeDemoToken(tables, 'inn');
      expect(await current(`__Host-console=${token}`)).toBeUndefined();
      const redeemed = await Promise.all([1, 2, 3].map(() => sessions.redeemDemo(token)));
      expect(redeemed.filter((partnerId) => partnerId === 'inn')).toHaveLength(1);
      const late = await makeDemoToken(tables, 'inn');
      advance(15 * MINUTE + 1);
      expect(await sessions.redeemDemo(late)).toBeUndefined();
      expect(await sessions.redeemDemo('demo_unknown')).toBeUndefined();
    }));
});

test('with TLS a cookie is for this host alone, and one with another name is not taken for it', () => {
  const { read, write } = createCookies('https://api.example');
  expect(write('console', 'x', 1_000)).toBe(
    '__Host-console=x; Path=/; Max-Age=1; HttpOnly; SameSite=Lax; Secure',
  );
  const value = (cookie: string) => read({ headers: { cookie } }, 'console');
  expect(value('a=b; __Host-console=x; c=d')).toBe('x');
  expect([value('console=x'), value('my__Host-console=x'), value('')]).toEqual(['', '', '']);
  expect(createCookies('http://localhost:4000').write('console', '')).toBe(
    'console=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  );
});
