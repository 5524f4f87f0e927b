// Partners' staff of the key store.
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { openKeyStore } from '../stores.ts';
import type { KeyStore } from './keystore.ts';
import {
  inviteStaff,
  listStaff,
  MAX_STAFF,
  placesOf,
  removeStaff,
  type Staff,
  type StaffRole,
  type StaffTables,
} from './staff.ts';

describe('staff', () => {
  let keys: KeyStore;
  let tables: StaffTables;
  let release: () => unknown;
  beforeEach(async () => {
    const place = emptyPlace();
    release = place.release;
    keys = await openKeyStore({ ...place.settings, environment: 'sandbox' });
    tables = await keys.staffTables();
  });
  afterEach(async () => {
    await keys.close();
    await release();
  });

  async function invite(partnerId: string, email: string, role: StaffRole = 'viewer') {
    const invited = await inviteStaff(tables, { partnerId, email, role });
    if (typeof invited === 'string') throw new Error(invited);
    return invited;
  }
  const listed = async (partnerId: string) =>
    (await listStaff(tables, partnerId)).map(({ email, role }) => `${email} ${role}`);
  const session = (sessionId: string, address: string, staffId?: string) =>
    tables.sessions.put({ sessionId, address, staffId, expiresAt: Date.now() + 60_000 });

  test('an address is staff of several partners, with a role and an ID in each', async () => {
    const inn = await invite('inn', ' Ada@Example.com ', 'admin');
    const spa = await invite('spa', 'ada@example.com');
    await invite('inn', 'bob@example.com');
    expect(inn).toEqual({
      staffId: expect.stringMatching(/^staff_[\w-]{24}$/),
      partnerId: 'inn',
      email: 'Ada@Example.com',
      role: 'admin',
      createdAt: expect.any(Date),
    } satisfies Staff);
    expect(await listed('inn')).toEqual(['Ada@Example.com admin', 'bob@example.com viewer']);
    expect(await listed('spa')).toEqual(['ada@example.com viewer']);
    expect(await listed('in')).toEqual([]);
    expect(await placesOf(tables, 'ada@example.com')).toEqual([inn, spa]);
    expect(await placesOf(tables, 'eve@example.com')).toEqual([]);
  });

  test('inviting again, in any spelling and at the same time, changes the role alone', async () => {
    const first = await Promise.all(
      ['ada@example.com', 'ADA@example.com', 'ada@EXAMPLE.com'].map((email) =>
        invite('inn', email),
      ),
    );
    const again = await invite('inn', 'Ada@example.com', 'admin');
    expect(new Set(first.map(({ staffId }) => staffId))).toEqual(new Set([again.staffId]));
    expect(again.role).toBe('admin');
    expect(await listed('inn')).toHaveLength(1);
  });

  test('what is no address is refused, and a staff of 200 is full', async () => {
    for (const email of ['', 'ada', 'ada@b c.example'])
      expect(await inviteStaff(tables, { partnerId: 'inn', email, role: 'admin' })).toBe('invalid');
    for (let n = 0; n < MAX_STAFF; n += 1) await invite('inn', `${n}@example.com`);
    const more = { partnerId: 'inn', email: 'more@example.com', role: 'viewer' } as const;
    expect(await inviteStaff(tables, more)).toBe('full');
    expect(await invite('inn', '7@example.com', 'admin')).toMatchObject({ role: 'admin' });
    expect(await invite('spa', 'more@example.com')).toMatchObject({ role: 'viewer' });
  });

  test('removing ends the sessions there, and nothing for another partner', async () => {
    const inn = await invite('inn', 'ada@example.com');
    const spa = await invite('spa', 'ada@example.com');
    const bob = await invite('inn', 'bob@example.com');
    await session('at inn', 'ada@example.com', inn.staffId);
    await session('at spa', 'ada@example.com', spa.staffId);
    await session('not chosen', 'ada@example.com');
    await session('bob', 'bob@example.com', bob.staffId);
    expect(await removeStaff(tables, inn.staffId, 'spa')).toBe(false);
    expect(await listed('inn')).toHaveLength(2);
    expect(await removeStaff(tables, inn.staffId)).toBe(true);
    expect(await removeStaff(tables, inn.staffId)).toBe(false);
    const left = await tables.sessions.select(() => true);
    expect(left.map(({ sessionId }) => sessionId).sort()).toEqual(['at spa', 'bob']);
    expect(await listed('inn')).toEqual(['bob@example.com viewer']);
    expect(await placesOf(tables, 'ada@example.com')).toEqual([spa]);
    expect((await invite('inn', 'ada@example.com')).staffId).not.toBe(inn.staffId);
  });
});
