// `loyalty apps`: what it registers, refuses and ends.
import { hash } from 'node:crypto';
import { openMembersStore } from '@partner-loyalty/members';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { type Env, loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';

const WEB = ['--name', 'Guide', '--redirect', 'https://spa.example/callback'];

describe('loyalty apps', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let env: Env;
  beforeEach(async () => {
    folder = temporaryFolder();
    env = { DATA_DIR: folder.path };
    await loyaltyJson(env, 'partners', 'create', 'spa', '--name', 'The Spa');
  });
  afterEach(() => folder.remove());

  const opened = async <T>(
    work: (store: Awaited<ReturnType<typeof openMembersStore>>) => Promise<T>,
  ) => {
    const store = await openMembersStore({ environment: 'sandbox', dataDir: folder.path });
    return work(store).finally(store.close);
  };
  const create = async (...args: string[]) => {
    const [app] = await loyaltyJson(env, 'apps', 'create', 'spa', ...args);
    return { clientId: String(app?.clientId), clientSecret: app?.clientSecret };
  };

  test('a public app has no secret, and the origins of its https redirect URIs', async () => {
    const { clientId, clientSecret } = await create(
      ...WEB,
      '--redirect',
      'com.example.spa:/callback',
      '--redirect',
      'https://spa.example',
    );
    expect(clientSecret).toBeUndefined();
    const [listed, ...others] = await loyaltyJson(env, 'apps', 'list', 'spa');
    expect(listed).toMatchObject({
      clientId,
      name: 'Guide',
      kind: 'public',
      isFirstParty: false,
      origins: ['https://spa.example'],
      redirectUris: [
        'https://spa.example/callback',
        'com.example.spa:/callback',
        'https://spa.example',
      ],
    });
    expect(others).toEqual([]);
  });

  test('a secret is printed once and stored as its hash, and two work after a rotation', async () => {
    const { clientId, clientSecret } = await create(...WEB, '--confidential');
    const [rotated] = await loyaltyJson(env, 'apps', 'rotate-secret', clientId);
    const hashes = [clientSecret, rotated?.clientSecret].map((one) => hash('sha256', String(one)));
    const stored = await opened(async ({ apps }) => apps.find(clientId));
    expect(stored?.secrets).toEqual([
      { hash: hashes[0], until: expect.any(Number) },
      { hash: hashes[1] },
    ]);
    expect(JSON.stringify(stored)).not.toContain(clientSecret);
  });

  test('an updated app keeps its ID and secret; origins follow redirect URIs unless given', async () => {
    const { clientId } = await create(...WEB, '--confidential');
    const update = async (...args: string[]) =>
      (await loyaltyJson(env, 'apps', 'update', clientId, ...args))[0];
    const secrets = async () => (await opened(async ({ apps }) => apps.find(clientId)))?.secrets;
    const before = await secrets();
    expect(await update('--name', 'Guide 2')).toMatchObject({
      clientId,
      name: 'Guide 2',
      redirectUris: ['https://spa.example/callback'],
    });
    const moved = ['--redirect', 'https://new.example/callback'];
    expect(await update(...moved)).toMatchObject({ origins: ['https://new.example'] });
    const own = { origins: ['https://app.example'] };
    expect(await update('--origin', 'https://app.example')).toMatchObject(own);
    expect(await update('--redirect', 'https://third.example/')).toMatchObject(own);
    expect(await secrets()).toEqual(before);
    const refused = async (...args: string[]) =>
      (await loyalty(env, 'apps', 'update', ...args)).stderr;
    expect(await refused(clientId, '--redirect', 'javascript:x')).toMatch(/--redirect must/);
    expect(await refused(clientId)).toMatch(/there is nothing to change/);
    expect(await refused('app_unknown', '--name', 'X')).toMatch(/no app/);
  });

  test('a removed app is gone, and its tokens have ended', async () => {
    const { clientId } = await create(...WEB, '--origin', 'https://other.example');
    await loyaltyJson(env, 'apps', 'remove', clientId);
    expect(await loyaltyJson(env, 'apps', 'list', 'spa')).toEqual([]);
    expect(
      await opened(async ({ endedSubjects }) => endedSubjects.find(`client:${clientId}`)),
    ).toEqual(expect.any(Number));
    expect((await loyalty(env, 'apps', 'remove', clientId)).code).toBe(1);
  });

  test('suspending its partner reaches the members, and ends with the suspension', async () => {
    const isSuspended = () =>
      opened(async ({ partners }) => (await partners.get('spa'))?.isSuspended);
    await loyaltyJson(env, 'partners', 'suspend', 'spa');
    expect(await isSuspended()).toBe(true);
    await loyaltyJson(env, 'partners', 'resume', 'spa');
    expect(await isSuspended()).toBeUndefined();
  });

  test('what is no redirect URI is refused', async () => {
    for (const more of [['javascript:alert(1)'], ['com.example.spa:/callback', '--first-party']]) {
      const create = ['apps', 'create', 'spa', '--name', 'Guide', '--redirect', ...more];
      expect((await loyalty(env, ...create)).stderr).toMatch(/^loyalty: --redirect must/);
    }
  });

  test('where members sign in with another provider, it is refused', async () => {
    const other = {
      ...env,
      ID_TOKEN_ISSUER: 'https://id.example',
      ID_TOKEN_AUDIENCE: 'loyalty',
    };
    const { code, stderr } = await loyalty(other, 'apps', 'list', 'spa');
    expect([code, stderr]).toEqual([1, expect.stringContaining('another provider')]);
  });
});
