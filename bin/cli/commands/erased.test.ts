// Erasing on the embedded store: what is in its files, and what other processes do meanwhile.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openMembersStore } from '@partner-loyalty/members';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { clearErased } from '@partner-loyalty/runtime/process/erased.open.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { loyalty, loyaltyJson, spawnLoyalty } from '../../../test/support/service/loyalty.ts';
import { startService } from '../../../test/support/service/npmstart.ts';

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
      enrollments: PARTNERS.map((partnerId) => ({ partnerId, externalId: `x-${member}-zoeline` })),
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
  const text = readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join();
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
