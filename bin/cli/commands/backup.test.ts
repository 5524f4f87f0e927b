// `loyalty backup` and `loyalty verify`: copies of stores in use, and what is named when damaged.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import { table } from '@partner-loyalty/runtime/store/engine/store.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { openTables } from '@partner-loyalty/standings/store/store.ts';
import { MEMBER_ACTIVITIES, MEMBERS } from '@partner-loyalty/standings/store/tables.ts';
import type { MemberRecord } from '../../../subgraphs/members/src/rules/record.ts';
import {
  KEYS,
  type MemberRow,
  MEMBERS as RECORDS,
} from '../../../subgraphs/members/src/store/rows.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import {
  type Env,
  loyalty,
  loyaltyJson,
  spawnLoyalty,
} from '../../../test/support/service/loyalty.ts';
import { until } from '../../../test/support/until.ts';

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

function membersFile(from: number, count: number): string {
  const file = join(folder.path, `members-${from}.ndjson`);
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      memberId: `m-${from + index}`,
      email: `Member.${from + index}@Example.com`,
      previousEmails: [`old.${from + index}@example.com`],
      enrollments: [{ partnerId: 'inn', externalId: `X${from + index}` }],
    }),
  );
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

async function fill(env: Env): Promise<void> {
  await loyaltyJson(env, 'partners', 'create', 'inn', '--name', 'Inn');
  await loyaltyJson(env, 'keys', 'create', 'inn');
  await loyaltyJson(env, 'members', 'import', membersFile(0, 20));
  const file = join(folder.path, 'activities.ndjson');
  const lines = Array.from({ length: 30 }, (_, index) => activity(`a-${index}`, `m-${index % 20}`));
  writeFileSync(file, `${lines.join('\n')}\n`);
  await loyaltyJson(env, 'activities', 'import', file);
}

const activity = (activityId: string, memberId: string) =>
  JSON.stringify({
    activityId,
    partnerId: 'inn',
    memberId,
    points: 7,
    stays: 1,
    occurredAt: '2026-01-02T03:04:05Z',
  });

async function expectIntact(env: Env, members: number): Promise<void> {
  expect(await loyaltyJson(env, 'verify')).toEqual(
    expect.arrayContaining([
      { store: 'members', records: members, faults: 0 },
      { store: 'standings', records: 30, faults: 0 },
      { store: 'keys', records: 2, faults: 0 },
    ]),
  );
}

describe('backup', () => {
  test('copies stores that others write to, each as it was at one moment', async () => {
    const env = { DATA_DIR: join(folder.path, 'data') };
    const copy = join(folder.path, 'deep', 'copy');
    await fill(env);
    const { ran } = spawnLoyalty(env, 'members', 'import', membersFile(1_000, 8_000));
    const size = () => statSync(join(env.DATA_DIR, 'members', 'data.mdb')).size;
    const before = size();
    await until(() => size() > before);
    const copies = await loyaltyJson(env, 'backup', copy);
    expect((await ran).code).toBe(0);

    expect(copies.map(({ store }) => store)).toEqual(['members', 'standings', 'keys']);
    expect(readdirSync(copy).sort()).toEqual(['keys', 'members', 'standings']);
    for (const { store, bytes } of copies) {
      const path = join(copy, String(store));
      expect([statSync(path).mode & 0o777, readdirSync(path)]).toEqual([0o700, ['data.mdb']]);
      const file = statSync(join(path, 'data.mdb'));
      expect([file.mode & 0o777, file.size]).toEqual([0o600, bytes]);
    }
    const rows = await loyaltyJson({ DATA_DIR: copy }, 'verify');
    const [members] = rows.filter(({ store }) => store === 'members');
    expect(members).toEqual({ store: 'members', records: expect.any(Number), faults: 0 });
    expect(members?.records).toBeGreaterThanOrEqual(20);
    await expectIntact(env, 8_020);
  });

  test('refuses a folder with content, settings without a store, and the other environment', async () => {
    const env = { DATA_DIR: join(folder.path, 'data') };
    await fill(env);
    const used = join(folder.path, 'used');
    mkdirSync(join(used, 'something'), { recursive: true });
    expect(await loyalty(env, 'backup', used)).toMatchObject({
      code: 1,
      stderr: `loyalty: ${used} is not an empty folder\n`,
    });
    const copy = join(folder.path, 'copy');
    const foreign = { ...env, ENVIRONMENT: 'production' };
    expect((await loyalty(foreign, 'backup', copy)).stderr).toContain('sandbox');
    const empty = { DATA_DIR: join(folder.path, 'nothing') };
    expect((await loyalty(empty, 'backup', copy)).stderr).toContain('there is no store in');
    expect((await loyalty(empty, 'verify')).stderr).toContain('there is no store in');
    expect(existsSync(empty.DATA_DIR)).toBe(false);
    // Neither the folder nor a part of it.
    expect(readdirSync(folder.path).filter((name) => name.startsWith('copy'))).toEqual([]);
  });

  test('into one folder twice at once: one is complete, and the other refuses in one line', async () => {
    const env = { DATA_DIR: join(folder.path, 'data') };
    await fill(env);
    const copy = join(folder.path, 'copy');
    const both = [loyalty(env, 'backup', copy), loyalty(env, 'backup', copy)];
    const ran = (await Promise.all(both)).sort(
      (one, other) => Number(one.code) - Number(other.code),
    );
    expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [1, `loyalty: ${copy} is not an empty folder\n`],
    ]);
    expect(readdirSync(folder.path).filter((name) => name.includes('partial'))).toEqual([]);
    await expectIntact({ DATA_DIR: copy }, 20);
  });

  test('leaves MongoDB to mongodump', async () => {
    const ran = await loyalty({ MONGODB_URL: 'mongodb://localhost:1' }, 'backup', folder.path);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('mongodump');
  });
});

const MEMBERS_FAULTS = [
  { record: 'member m-1', problem: 'an enrollment is with partner ghost, which does not exist' },
  { record: 'member m-1', problem: 'the index lists does not have it as it is' },
  { record: 'member m-2', problem: 'the index keys does not have it as it is' },
  { record: 'member m-3', problem: 'the index keys has it at another place' },
  { record: 'member m-4', problem: 'the address is not the canonical form of the email' },
  { record: 'member m-5', problem: 'enrollments.0.status is not valid' },
  { record: 'member m-6', problem: "an unconfirmed address is not one of the member's" },
  { record: 'member m-7', problem: "partner inn wrote an address that is not the member's" },
];

const STRAY = { typed: 'Stray@example.com', canonical: 'stray@example.com' };

async function damageMembers({ DATA_DIR = '' }: Env): Promise<void> {
  // Without its indexes, a row is changed alone.
  const members = table<MemberRow>('members');
  const place = { dataDir: DATA_DIR, mongodbUrl: undefined };
  const store = await openStore({ ...place, environment: 'sandbox' }, 'members', [RECORDS]);
  await store.transact((tx) => {
    const change = (id: string, next: (record: MemberRecord) => object, to = members) => {
      // Casts: these records are damaged on purpose.
      const record = tx.get(to, [id]) as MemberRecord;
      tx.put(to, [id], { ...record, ...next(record) } as MemberRow);
    };
    const ghost = { partnerId: 'ghost', status: 'ENDED', updatedAt: 1 };
    change('m-1', ({ enrollments }) => ({ enrollments: [...enrollments, ghost] }));
    tx.remove(KEYS, ['x', 'inn', 'X2']);
    tx.put(KEYS, ['a', 'stray@example.com'], { memberId: 'm-3' });
    change('m-4', () => ({ email: 'other@example.com' }), RECORDS);
    change('m-5', () => ({ enrollments: [{ partnerId: 'inn', status: 'NO', updatedAt: 1 }] }));
    change('m-6', () => ({ unconfirmed: ['stray@example.com'] }));
    change('m-7', ({ enrollments: [one] }) => ({ enrollments: [{ ...one, written: [STRAY] }] }));
  });
  await store.close();
}

describe('verify', () => {
  test('names damaged members', async () => {
    const env = { DATA_DIR: folder.path };
    await fill(env);
    await expectIntact(env, 20);
    await damageMembers(env);

    const { code, stdout, stderr } = await loyalty(env, 'verify', '--json');
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const byRecord = (one: { record: string }, other: { record: string }) =>
      one.record < other.record ? -1 : 1;
    expect(found.filter(({ problem }) => problem !== undefined).sort(byRecord)).toEqual(
      MEMBERS_FAULTS.map((fault) => ({ store: 'members', ...fault })),
    );
    expect(found).toContainEqual({ store: 'members', records: 20, faults: 8 });
    expect([code, stderr]).toEqual([1, 'loyalty: 8 faults\n']);
    expect((await loyalty(env, 'verify')).stdout).toContain(
      'members: member m-2: the index keys does not have it as it is\n',
    );
  });

  test('names damaged standings', async () => {
    const env = { DATA_DIR: folder.path };
    await fill(env);
    const place = { dataDir: folder.path, mongodbUrl: undefined };
    const store = await openTables({ ...place, environment: 'sandbox' });
    const [first] = await store.keys(MEMBER_ACTIVITIES, { prefix: ['m-0'], limit: 1 });
    await store.transact((tx) => {
      tx.put(MEMBERS, ['m-3'], { standings: [['inn', '2026-01-01', 15, 2]] });
      tx.put(MEMBERS, ['m-none'], { standings: [['inn', '2026-01-01', 1, 0]] });
      tx.put(MEMBERS, ['m-gone'], { standings: [], into: 'm-5' });
      tx.put(MEMBER_ACTIVITIES, ['m-4', 'inn', 5, 'a-5'], {});
      tx.remove(MEMBER_ACTIVITIES, first ?? []);
    });
    await store.close();
    const { code, stdout } = await loyalty(env, 'verify');
    expect(code).toBe(1);
    const standing = 'the standing with partner inn in 2026-01-01 has';
    for (const fault of [
      'activity a-0: the index memberActivities does not have it as it is',
      'activity a-5: the index memberActivities has it at another place',
      `member m-3: ${standing} 15 points and 2 stays, but its activities add up to 14 and 2`,
      `member m-none: ${standing} sums, but no activities`,
      'member m-gone: is part of member m-5, where it is missing',
    ])
      expect(stdout).toContain(`standings: ${fault}\n`);
  });

  test('reports nothing that changes meanwhile', async () => {
    const env = { DATA_DIR: folder.path };
    await fill(env);
    await loyaltyJson(env, 'members', 'import', membersFile(100, 600));
    const file = join(folder.path, 'more.ndjson');
    const lines = Array.from({ length: 3_000 }, (_, index) =>
      activity(`b-${index}`, `m-${index % 20}`),
    );
    writeFileSync(file, `${lines.join('\n')}\n`);
    let isDone = false;
    // A process of its own, as a second command is one.
    const imported = spawnLoyalty(env, 'activities', 'import', file).ran.finally(() => {
      isDone = true;
    });
    do {
      const { code, stdout } = await loyalty(env, 'verify');
      expect([code, code === 0 ? '' : stdout]).toEqual([0, '']);
    } while (!isDone);
    expect((await imported).code).toBe(0);
    const rows = await loyaltyJson(env, 'verify');
    expect(rows).toContainEqual({ store: 'members', records: 620, faults: 0 });
    expect(rows).toContainEqual({ store: 'standings', records: 3_030, faults: 0 });
  });

  test('names keys and records of the embedded store that cannot be read, and goes on', async () => {
    const env = { DATA_DIR: folder.path };
    await fill(env);
    const [{ keyId } = {}] = await loyaltyJson(env, 'keys', 'list', 'inn');
    const keyStore = await openLmdb(folder.path, 'keys', 'sandbox');
    await keyStore.root.transaction(() =>
      keyStore.root.openDB({ name: 'keys-by-hash' }).clearSync(),
    );
    await keyStore.root.close();
    const members = await openLmdb(folder.path, 'members', 'sandbox');
    const bytes = members.root.openDB<Buffer, string>({ name: 'members', encoding: 'binary' });
    await members.root.transaction(() => bytes.put('m-7', Buffer.from('{"memberId":"m-7"')));
    await members.root.close();

    const { code, stdout } = await loyalty(env, 'verify');
    expect(code).toBe(1);
    expect(stdout).toContain('members: member m-7: the record cannot be read\n');
    expect(stdout).toContain(
      `keys: key ${keyId}: the index keys-by-hash does not have it as it is\n`,
    );
    expect(stdout).toMatch(/^members +19 +1$/m);
  });

  test('the columns have one order, also if the first store cannot be read', async () => {
    const env = { DATA_DIR: folder.path };
    await fill(env);
    expect((await loyalty(env, 'verify')).stdout).toMatch(/^store +records +faults\n/);
    writeFileSync(join(folder.path, 'members', 'data.mdb'), '');
    const { stdout } = await loyalty(env, 'verify');
    expect(stdout).toMatch(/^store +records +faults\nmembers +- +1$/m);
  });
});
