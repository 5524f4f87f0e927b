// Commands, run in this process.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openMembersStore } from '@partner-loyalty/members';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { clearErased } from '@partner-loyalty/runtime/process/erased.open.ts';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { emptyStores } from '../../../test/support/service/emptystores.ts';
import {
  type Env,
  loyalty,
  loyaltyJson,
  spawnLoyalty,
} from '../../../test/support/service/loyalty.ts';
import { startService } from '../../../test/support/service/npmstart.ts';

/** The bytes of every file. */
function bytesUnder(path: string): string {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join();
}

// Erasing on the embedded store: what is in its files, and what other processes do meanwhile.
describe('erased', () => {
  const MEMBERS = 1_000;
  const ERASED = 20;
  const PARTNERS = ['inn', 'spa', 'pub', 'bar'];

  let folder: Folder;
  let env: { DATA_DIR: string };
  beforeEach(async () => {
    folder = temporaryFolder();
    env = { DATA_DIR: join(folder.path, 'data') };
    mkdirSync(env.DATA_DIR);
    for (const partner of PARTNERS)
      await loyaltyJson(env, 'partners', 'create', partner, '--name', 'x');
  });
  afterEach(() => folder.remove());

  const settings = () => ({
    environment: 'sandbox' as const,
    dataDir: env.DATA_DIR,
    mongodbUrl: undefined,
    keyEncryptionKey: undefined,
  });
  const idOf = (member: number) => `id-${member}-zoeline`;

  async function importMembers(count: number, ...options: string[]): Promise<void> {
    const file = join(folder.path, 'members.ndjson');
    const lines = Array.from({ length: count }, (_, member) =>
      JSON.stringify({
        memberId: idOf(member),
        email: `mail-${member}-zoeline@example.com`,
        firstName: `name-${member}-zoeline`,
        enrollments: PARTNERS.map((partnerId) => ({
          partnerId,
          externalId: `x-${member}-zoeline`,
        })),
      }),
    );
    writeFileSync(file, lines.join('\n'));
    await loyaltyJson(env, 'members', 'import', file, ...options);
  }

  async function importActivity(member: number): Promise<void> {
    const file = join(folder.path, 'activities.ndjson');
    const activity = { activityId: 'a', partnerId: 'inn', points: 5, stays: 0 };
    const occurredAt = '2026-01-02T03:04:05Z';
    writeFileSync(file, JSON.stringify({ ...activity, memberId: idOf(member), occurredAt }));
    await loyaltyJson(env, 'activities', 'import', file);
  }

  /** What a file under a folder has of erased members, but for the IDs, which events keep. */
  function foundIn(path: string): string[] {
    const text = bytesUnder(path);
    const members = Array.from({ length: ERASED }, (_, index) => index * (MEMBERS / ERASED));
    return members
      .flatMap((member) => ['mail', 'name', 'x'].map((what) => `${what}-${member}-zoeline`))
      .filter((word) => text.includes(word));
  }

  test('of 20 members out of 1,000, no file has a word after the next start, nor has a backup', async () => {
    await importMembers(MEMBERS);
    const members = await openMembersStore(settings());
    for (let index = 0; index < ERASED; index++)
      await members.rights.erase(idOf(index * (MEMBERS / ERASED)));
    await members.close();
    expect(foundIn(env.DATA_DIR).length).toBeGreaterThan(ERASED);
    await loyaltyJson(env, 'backup', join(folder.path, 'copy'));
    expect(foundIn(join(folder.path, 'copy'))).toEqual([]);
    await clearErased(settings(), createLog('silent'));
    expect(foundIn(env.DATA_DIR)).toEqual([]);
    expect(await loyaltyJson(env, 'verify')).toContainEqual({
      store: 'members',
      records: MEMBERS - ERASED,
      faults: 0,
    });
  });

  test('beside the service, erase says what is left, compact is refused, and the next start rewrites', async () => {
    await importMembers(1);
    let service = await startService({ DATA_DIR: env.DATA_DIR });
    try {
      const erased = await loyalty(env, 'members', 'erase', idOf(0));
      expect([erased.code, erased.stderr]).toEqual([0, expect.stringContaining('next start')]);
      const refused = await loyalty(env, 'compact');
      expect([refused.code, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toMatch(/^loyalty: .* uses .*: stop it, then run compact again\n$/);
      expect(foundIn(env.DATA_DIR)).not.toEqual([]);
      await service.kill();
      service = await startService({ DATA_DIR: env.DATA_DIR });
      expect(foundIn(env.DATA_DIR)).toEqual([]);
    } finally {
      await service.kill();
    }
  });

  test('two erasures at once are both done, and no file names either member', async () => {
    await importMembers(51);
    const runs = [0, 50].map((member) => spawnLoyalty(env, 'members', 'erase', idOf(member)).ran);
    expect((await Promise.all(runs)).map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(foundIn(env.DATA_DIR)).toEqual([]);
  });

  test('import --again finishes an erasure that was killed before it came to the standings', async () => {
    await importMembers(1);
    await importActivity(0);
    const members = await openMembersStore(settings());
    await members.rights.erase(idOf(0));
    await members.close();
    await importMembers(1, '--again');
    const [exported] = await loyaltyJson(env, 'members', 'export', idOf(0));
    expect(exported).toMatchObject({ standings: [], activities: [] });
  });
});

// `loyalty members export` and `erase`: both subgraphs, repeated, and `import --again`.

const MEMBER = {
  memberId: 'm-zoeline',
  email: 'Zoeline@erased.example',
  firstName: 'Zoeline',
  enrollments: [{ partnerId: 'inn', externalId: 'zoeline-9' }],
};
// Longer than anything that the stores' random keys might spell. Events keep the ID.
const PERSONAL = /(?<!m-)zoeline/i;

describe('on the embedded store', () => {
  let folder: Folder;
  let env: Env;
  beforeEach(async () => {
    folder = temporaryFolder();
    env = { DATA_DIR: join(folder.path, 'data') };
    mkdirSync(env.DATA_DIR ?? '');
    await loyaltyJson(env, 'partners', 'create', 'inn', '--name', 'Inn');
    await importLines('members', [
      MEMBER,
      { ...MEMBER, memberId: 'm-al', email: 'al@x.example', enrollments: [], firstName: 'Al' },
    ]);
    await importLines('activities', [
      activity('a-1'),
      activity('a-2'),
      { ...activity('b-1'), memberId: 'm-al' },
    ]);
  });
  afterEach(async () => {
    folder.remove();
  });

  const activity = (activityId: string) => ({
    activityId,
    partnerId: 'inn',
    memberId: 'm-zoeline',
    points: 5,
    occurredAt: '2026-01-02T03:04:05Z',
  });

  function importLines(what: 'members' | 'activities', lines: object[], ...options: string[]) {
    const file = join(folder.path, 'lines.ndjson');
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return loyalty(env, what, 'import', file, ...options);
  }

  const everything = () => bytesUnder(env.DATA_DIR ?? '');

  test('export prints what both subgraphs have, with and without --json', async () => {
    const [exported] = await loyaltyJson(env, 'members', 'export', 'm-zoeline');
    expect(exported).toMatchObject({
      memberId: 'm-zoeline',
      member: { email: 'Zoeline@erased.example', firstName: 'Zoeline' },
      standings: [{ partnerId: 'inn', year: '2026-01-01', points: 10, stays: 0 }],
      activities: [
        { activityId: 'a-1', points: 5, occurredAt: '2026-01-02T03:04:05.000Z' },
        { activityId: 'a-2' },
      ],
    });
    const { code, stdout } = await loyalty(env, 'members', 'export', 'm-zoeline');
    expect([code, JSON.parse(stdout)]).toEqual([0, exported]);
    expect(await loyalty(env, 'members', 'export', 'nobody')).toMatchObject({
      code: 1,
      stderr: 'loyalty: there is no member "nobody"\n',
    });
  });

  test('erase leaves nothing in any store, and refuses the member from then on', async () => {
    expect(everything()).toMatch(PERSONAL);
    expect(await loyaltyJson(env, 'members', 'erase', 'm-zoeline')).toEqual([
      { memberId: 'm-zoeline', state: 'erased', activities: 2 },
    ]);
    expect(everything()).not.toMatch(PERSONAL);
    // The answers are those for a member who never existed.
    const answersTo = async (memberId: string) => {
      const exported = await loyalty(env, 'members', 'export', memberId);
      const issued = await loyalty(env, 'tokens', 'issue', memberId);
      return [exported, issued].map(({ code, stderr }) => [code, stderr.replace(memberId, 'ID')]);
    };
    expect(await answersTo('m-zoeline')).toEqual(await answersTo('nobody'));

    const refused = await importLines('members', [MEMBER]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('line 1: memberId'),
    ]);
    expect((await importLines('activities', [activity('a-3')])).stderr).toContain(
      'line 1: memberId',
    );
    expect(everything()).not.toMatch(PERSONAL);
    expect((await loyaltyJson(env, 'members', 'export', 'm-al'))[0]).toMatchObject({
      standings: [{ points: 5 }],
    });

    expect((await importLines('members', [MEMBER], '--again')).code).toBe(0);
    expect((await importLines('activities', [activity('a-3')])).code).toBe(0);
    expect((await loyaltyJson(env, 'members', 'export', 'm-zoeline'))[0]).toMatchObject({
      activities: [{ activityId: 'a-3' }],
    });
  });

  test('erase ends what an earlier one has begun, and is no more than repeated afterwards', async () => {
    const { rights, close } = await openMembersStore({
      environment: 'sandbox',
      dataDir: env.DATA_DIR ?? '',
      keyEncryptionKey: undefined,
    });
    await rights.erase('m-zoeline');
    await close();
    for (const activities of [2, 0])
      expect(await loyaltyJson(env, 'members', 'erase', 'm-zoeline')).toEqual([
        { memberId: 'm-zoeline', state: 'erased', activities },
      ]);
    expect(everything()).not.toMatch(PERSONAL);
  });

  test('compact clears what erase --later has left, on the embedded store', async () => {
    const [erased] = await loyaltyJson(env, 'members', 'erase', 'm-zoeline', '--later');
    expect(erased).toMatchObject({ state: 'erased', activities: 2 });
    const ran = await loyalty(env, 'compact', '--json');
    expect(ran.code).toBe(0);
    expect([...ran.stdout.matchAll(/"store":"(\w+)"/g)].map(([, store]) => store)).toEqual([
      ...['members', 'standings', 'keys'],
    ]);
    expect(everything()).not.toMatch(PERSONAL);
    const verified = await loyaltyJson(env, 'verify');
    expect(verified.map(({ store, faults }) => [store, faults])).toEqual([
      ['members', 0],
      ['standings', 0],
      ['keys', 0],
    ]);
  });

  test('erase refuses an ID that nobody has, but takes activities without a member', async () => {
    expect((await loyalty(env, 'members', 'erase', 'm-zo')).stderr).toBe(
      'loyalty: there is no member "m-zo"\n',
    );
    await importLines('activities', [{ ...activity('c-1'), memberId: 'early' }]);
    expect(await loyaltyJson(env, 'members', 'erase', 'early')).toMatchObject([{ activities: 1 }]);
  });
});

// `loyalty staff`, and what partners and keys have for the console.

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

// `loyalty tokens`.

test('a token is issued before any service ran, for its environment, by the key that signs now', async () => {
  const folder = temporaryFolder();
  const url = 'https://api.example';
  const env = { DATA_DIR: folder.path, ENVIRONMENT: 'production', PRODUCTION_URL: url };
  const file = join(folder.path, 'members.ndjson');
  writeFileSync(file, '{"memberId":"ada","email":"ada@example.com"}\n');
  await loyaltyJson(env, 'members', 'import', file);
  const [issued] = await loyaltyJson(env, 'tokens', 'issue', 'ada');
  const claims = decodeJwt(String(issued?.idToken));
  expect(claims).toMatchObject({ iss: url, aud: url, sub: 'ada', email: 'ada@example.com' });
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3_600);
  const [rotated] = await loyaltyJson(env, 'tokens', 'rotate-key');
  const { code, stdout, stderr } = await loyalty(env, 'tokens', 'issue', 'ada');
  expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^\S+\n$/), '']);
  expect(decodeProtectedHeader(stdout.trim()).kid).toBe(rotated?.kid);
  const unknown = await loyalty(env, 'tokens', 'issue', 'eve');
  expect([unknown.code, unknown.stderr]).toEqual([1, 'loyalty: there is no member "eve"\n']);
  folder.remove();
});
