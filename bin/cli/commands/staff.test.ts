// `loyalty staff`, and what partners and keys have for the console.
import { emptyStores } from '../../../test/support/service/emptystores.ts';
import { type Env, loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';

describe('staff', () => {
  let env: Env;
  let remove: () => unknown;
  beforeEach(async () => {
    ({ env, remove } = emptyStores());
    await loyaltyJson(env, 'partners', 'create', 'inn', '--name', 'Inn');
  });
  afterEach(() => remove());

  const staff = (...args: string[]) => loyaltyJson(env, 'staff', ...args);

  test('staff are invited as viewers, made admins, listed and removed', async () => {
    const [ada] = await staff('invite', 'inn', 'Ada@example.com');
    const staffId = String(ada?.staffId);
    expect(ada).toEqual({ staffId, email: 'Ada@example.com', role: 'viewer' });
    const admin = { staffId, email: 'Ada@example.com', role: 'admin' };
    expect(await staff('invite', 'inn', 'ada@example.com', '--role', 'admin')).toEqual([admin]);
    expect(await staff('list', 'inn')).toEqual([admin]);
    expect(await staff('remove', staffId)).toEqual([{ staffId, removed: true }]);
    expect(await staff('list', 'inn')).toEqual([]);
  });

  test.each([
    [['invite', 'spa', 'ada@example.com'], 'there is no partner "spa"'],
    [['invite', 'inn', 'ada'], 'the email address is not valid'],
    [['invite', 'inn', 'ada@example.com', '--role', 'owner'], 'Allowed choices are admin, viewer'],
    [['list', 'spa'], 'there is no partner "spa"'],
    [['remove', 'staff_1'], 'there is no staff "staff_1"'],
  ])('%s is refused', async (args, reason) => {
    const { code, stderr } = await loyalty(env, 'staff', ...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
  });

  test('a partner gets and loses limits on the keys that its staff make', async () => {
    const update = (...options: string[]) =>
      loyaltyJson(env, 'partners', 'update', 'inn', ...options);
    const limits = { scopes: ['read', 'ingest'], allow: ['192.0.2.7/32', '10.0.0.0/8'] };
    const given = ['--scopes', 'ingest,read', '--allow', '192.0.2.7,10.0.0.0/8'];
    expect(await update(...given)).toMatchObject([limits]);
    expect(await loyaltyJson(env, 'partners', 'list')).toMatchObject([limits]);
    const [without] = await update('--scopes', 'default', '--allow', 'none');
    expect(Object.keys(without ?? {})).toEqual(['partnerId', 'name', 'createdAt']);
  });

  test('a key has a name, which its successor keeps', async () => {
    const [key] = await loyaltyJson(env, 'keys', 'create', 'inn', '--name', ' Front desk ');
    await loyaltyJson(env, 'keys', 'rotate', String(key?.keyId));
    expect(await loyaltyJson(env, 'keys', 'list', 'inn')).toMatchObject([
      { name: 'Front desk' },
      { name: 'Front desk' },
    ]);
  });
});
