// `loyalty members export` and `erase`: both subgraphs, repeated, and `import --again`.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openMembersStore } from '@partner-loyalty/members';
import { MongoClient } from 'mongodb';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { type Env, loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';

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

  async function everything(): Promise<string> {
    if (env.MONGODB_URL === undefined) return bytesUnder(env.DATA_DIR ?? '');
    const client = new MongoClient(env.MONGODB_URL);
    const found: unknown[] = [];
    for (const { name } of await client.db().listCollections().toArray())
      found.push(await client.db().collection(name).find().toArray());
    await client.close();
    return JSON.stringify(found);
  }

  /** The bytes of every file. */
  function bytesUnder(path: string): string {
    return readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join();
  }

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
    expect(await everything()).toMatch(PERSONAL);
    expect(await loyaltyJson(env, 'members', 'erase', 'm-zoeline')).toEqual([
      { memberId: 'm-zoeline', state: 'erased', activities: 2 },
    ]);
    expect(await everything()).not.toMatch(PERSONAL);
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
    expect(await everything()).not.toMatch(PERSONAL);
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
      mongodbUrl: env.MONGODB_URL,
      keyEncryptionKey: undefined,
    });
    await rights.erase('m-zoeline');
    await close();
    for (const activities of [2, 0])
      expect(await loyaltyJson(env, 'members', 'erase', 'm-zoeline')).toEqual([
        { memberId: 'm-zoeline', state: 'erased', activities },
      ]);
    expect(await everything()).not.toMatch(PERSONAL);
  });

  test('compact clears what erase --later has left, on the embedded store', async () => {
    const [erased] = await loyaltyJson(env, 'members', 'erase', 'm-zoeline', '--later');
    expect(erased).toMatchObject({ state: 'erased', activities: 2 });
    const ran = await loyalty(env, 'compact', '--json');
    if (env.MONGODB_URL !== undefined) {
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('embedded store')]);
      return;
    }
    expect(ran.code).toBe(0);
    const rows = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.map(({ store }) => store)).toEqual(['members', 'standings', 'keys']);
    expect(await everything()).not.toMatch(PERSONAL);
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
