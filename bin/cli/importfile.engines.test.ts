// members import and activities import as an operator knows them: on both engines, with bad lines, interrupted, killed and repeated.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MembersStore, openMembersStore } from '@partner-loyalty/members';
import { openStandingsStore, type StandingsStore } from '@partner-loyalty/standings';
import { temporaryFolder } from '../../test/support/folder.ts';
import { freshMongodbUrl } from '../../test/support/servers/databases.ts';
import {
  type Env,
  loyalty,
  loyaltyJson,
  type Ran,
  spawnLoyalty,
} from '../../test/support/service/loyalty.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

/** A file of these lines; objects become JSON. */
function fileOf(lines: (object | string)[]): string {
  const path = join(folder.path, `${Math.random()}.ndjson`);
  writeFileSync(path, linesOf(lines));
  return path;
}

function linesOf(lines: (object | string)[]): string {
  return lines
    .map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
    .join('');
}

function embedded(): { env: Env; remove(): unknown } {
  const own = temporaryFolder();
  return { env: { DATA_DIR: own.path }, remove: own.remove };
}

function onMongodb(): { env: Env; remove(): unknown } {
  const database = freshMongodbUrl();
  return { env: { MONGODB_URL: database.url }, remove: database.drop };
}

const settingsOf = (env: Env) => ({
  environment: 'sandbox' as const,
  dataDir: env.DATA_DIR ?? '',
  mongodbUrl: env.MONGODB_URL,
});

async function withMembers<T>(env: Env, read: (store: MembersStore) => T): Promise<Awaited<T>> {
  const store = await openMembersStore(settingsOf(env));
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

async function withStandings<T>(env: Env, read: (store: StandingsStore) => T): Promise<Awaited<T>> {
  const store = await openStandingsStore(settingsOf(env));
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

const PROGRAM = {
  membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
  tiers: [{ name: 'Blue', points: 0 }],
};

describe.each([
  ['the embedded store', embedded],
  ['MongoDB', onMongodb],
])('on %s', (_name, open) => {
  let env: Env;
  let remove: () => unknown;
  beforeEach(async () => {
    ({ env, remove } = open());
    const program = join(folder.path, 'program.json');
    writeFileSync(program, JSON.stringify(PROGRAM));
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue', '--program', program);
    await loyaltyJson(env, 'partners', 'create', 'green', '--name', 'Green');
  });
  afterEach(() => remove());

  const importJson = async (what: 'members' | 'activities', lines: (object | string)[]) => {
    const { code, stdout, stderr } = await loyalty(env, what, 'import', fileOf(lines), '--json');
    return { code, summary: JSON.parse(stdout), stderr: stderr.split('\n').slice(0, -1) };
  };

  test('members go in with names, address history and enrollments; again, nothing changes', async () => {
    const lines = [
      {
        memberId: 'm1',
        email: ' Teal.Heron@Example.com ',
        previousEmails: ['OLD@example.com', 'teal.heron@example.com'],
        firstName: 'Teal',
        lastName: null,
        enrollments: [
          { partnerId: 'blue', externalId: 'x1' },
          { partnerId: 'green', externalId: 'x2', status: 'ENDED' },
        ],
      },
      { email: 'puffin@example.com', enrollments: [{ partnerId: 'green', status: 'ACTIVE' }] },
    ];
    expect(await importJson('members', lines)).toEqual({
      code: 0,
      summary: { added: 2, changed: 0, unchanged: 0, bad: 0 },
      stderr: [],
    });
    await withMembers(env, async (store) => {
      const heron = { memberId: 'm1', email: 'Teal.Heron@Example.com', firstName: 'Teal' };
      expect(await store.memberByEmail('blue', 'teal.heron@example.com')).toMatchObject(heron);
      expect(await store.memberByEmail('blue', 'old@example.com')).toMatchObject(heron);
      expect(await store.memberByExternalId('blue', 'x1')).toMatchObject(heron);
      expect(await store.memberByExternalId('green', 'x2')).toBeUndefined();
      expect(await store.memberByEmail('green', 'puffin@example.com')).toMatchObject({
        email: 'puffin@example.com',
      });
    });
    const again = await spawnLoyalty(env, '--json', 'members', 'import', fileOf(lines)).ran;
    expect(again).toEqual({
      code: 0,
      stdout: '{"added":0,"changed":0,"unchanged":2,"bad":0}\n',
      stderr: '',
    });
  });

  test('two lines about one member hold in the order of the file', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`);
    const { code, summary } = await importJson(
      'members',
      names.map((firstName) => ({
        email: 'a@example.com',
        firstName,
        enrollments: [{ partnerId: 'blue' }],
      })),
    );
    expect({ code, summary }).toEqual({
      code: 0,
      summary: { added: 1, changed: 19, unchanged: 0, bad: 0 },
    });
    expect(
      await withMembers(env, (store) => store.memberByEmail('blue', 'a@example.com')),
    ).toMatchObject({ firstName: 'Name 19' });
  });

  test('bad member lines are named with the reason, never with a value; the rest goes in', async () => {
    const good = (n: number) => ({
      email: `good${n}@example.com`,
      enrollments: [{ partnerId: 'blue', externalId: `g${n}` }],
    });
    const bad: [object | string, RegExp][] = [
      ['{"email":"secret@example.com"', /^not JSON$/],
      ['["secret@example.com"]', /^not a JSON object$/],
      [
        '{"email":"secret@example.com","email":"secret@example.org"}',
        /^property "email" is given twice$/,
      ],
      [{ firstName: 'secret' }, /^email is missing$/],
      [{ email: 7 }, /^email is not a string$/],
      [{ email: 'secret' }, /^email is not an email address$/],
      [{ email: `${'secret'.repeat(50)}@example.com` }, /^email is longer than 254 characters$/],
      [
        { email: 'secret@example.com', previousEmails: 'secret@example.org' },
        /^previousEmails is not a list$/,
      ],
      [
        { email: 'secret@example.com', previousEmails: ['secret'] },
        /^an address of previousEmails is not an email address$/,
      ],
      [
        { email: 'secret@example.com', firstName: 'secret'.repeat(17) },
        /^firstName is longer than 100 characters$/,
      ],
      [{ email: 'secret@example.com', firstName: '' }, /^firstName is empty$/],
      [
        { email: 'secret@example.com', lastName: 'secret\u0007' },
        /^lastName holds control characters$/,
      ],
      ['{"email":"secret@example.com","lastName":"\\ud800"}', /^lastName holds lone surrogates$/],
      [{ email: 'secret@example.com', memberId: 1 }, /^memberId is not a string$/],
      [
        { email: 'secret@example.com', memberId: 'secret'.repeat(22) },
        /^memberId is longer than 128 characters$/,
      ],
      [{ email: 'secret@example.com', nickName: 'secret' }, /^unknown property "nickName"$/],
      [
        '{"email":"secret@example.com","__proto__":{"firstName":"secret"}}',
        /^unknown property "__proto__"$/,
      ],
      [{ email: 'secret@example.com', '\u009b31m': 'secret' }, /^unknown property "\?31m"$/],
      [{ email: 'secret@example.com', enrollments: {} }, /^enrollments is not a list$/],
      [{ email: 'secret@example.com', enrollments: ['blue'] }, /^an enrollment is not an object$/],
      [{ email: 'secret@example.com', enrollments: [{}] }, /^partnerId is missing$/],
      [
        { email: 'secret@example.com', enrollments: [{ partnerId: 'secret' }] },
        /^partnerId names a partner that does not exist$/,
      ],
      [
        {
          email: 'secret@example.com',
          enrollments: [{ partnerId: 'blue' }, { partnerId: 'blue' }],
        },
        /^two enrollments name the same partner$/,
      ],
      [
        { email: 'secret@example.com', enrollments: [{ partnerId: 'blue', status: 'secret' }] },
        /^status is neither ACTIVE nor ENDED$/,
      ],
      [
        { email: 'secret@example.com', enrollments: [{ partnerId: 'blue', externalID: 'secret' }] },
        /^unknown property "externalID"$/,
      ],
      [
        {
          email: 'secret@example.com',
          enrollments: [{ partnerId: 'blue', externalId: 'secret'.repeat(43) }],
        },
        /^externalId is longer than 255 characters$/,
      ],
      [
        { memberId: 'secret', email: 'good0@example.com' },
        /^an address belongs to another member$/,
      ],
      [
        { email: 'secret@example.com', enrollments: [{ partnerId: 'blue', externalId: 'g0' }] },
        /^an external ID is active for another member of the partner$/,
      ],
    ];
    const lines = [good(0), ...bad.map(([line]) => line), good(1)];
    const { code, summary, stderr } = await importJson('members', lines);
    expect({ code, summary }).toEqual({
      code: 1,
      summary: { added: 2, changed: 0, unchanged: 0, bad: bad.length },
    });
    for (const [index, [, reason]] of bad.entries()) {
      const [, number, text] = /^line (\d+): (.*)$/.exec(stderr[index] ?? '') ?? [];
      expect([number, text]).toEqual([String(index + 2), expect.stringMatching(reason)]);
      expect(text).not.toContain('secret');
    }
    expect(stderr.slice(bad.length)).toEqual([`loyalty: ${bad.length} bad lines were left out`]);
  });

  test('activities are counted in the membership year of their partner; again, nothing changes', async () => {
    const activity = (
      activityId: string,
      points: number,
      occurredAt: string,
      partnerId = 'blue',
    ) => ({
      activityId,
      partnerId,
      memberId: 'm1',
      points,
      occurredAt,
    });
    const lines = [
      activity('a1', 100, '2025-06-30T11:59:59Z'),
      activity('a2', 20, '2025-06-30T12:00:00Z'),
      { ...activity('a3', 3, '2026-01-01T01:00:00+02:00'), stays: 2 },
      activity('a4', -1, '2026-01-01T00:00:00Z', 'green'),
    ];
    expect(await importJson('activities', lines)).toEqual({
      code: 0,
      summary: { added: 4, changed: 0, unchanged: 0, bad: 0 },
      stderr: [],
    });
    const sums = () =>
      withStandings(env, async (store) => [
        await store.standing('blue', 'm1', '2024-07-01'),
        await store.standing('blue', 'm1', '2025-07-01'),
        await store.standing('green', 'm1', '2026-01-01'),
      ]);
    const expected = [
      { points: 100, stays: 0 },
      { points: 23, stays: 2 },
      { points: -1, stays: 0 },
    ];
    expect(await sums()).toEqual(expected);
    expect(await importJson('activities', lines)).toMatchObject({
      code: 0,
      summary: { added: 0, unchanged: 4, bad: 0 },
    });
    expect(await sums()).toEqual(expected);
  });

  test('bad activity lines are named with the reason, never with a value; the rest goes in', async () => {
    const good = {
      activityId: 'a1',
      partnerId: 'blue',
      memberId: 'm1',
      points: 10,
      occurredAt: '2026-01-01T00:00:00Z',
    };
    const bad: [object | string, RegExp][] = [
      [{ ...good, activityId: undefined }, /activityId is not/],
      [{ ...good, activityId: 'secret'.repeat(22) }, /activityId is not/],
      [
        { ...good, activityId: 'a2', partnerId: 'secret' },
        /^partnerId names a partner that does not exist$/,
      ],
      [{ ...good, activityId: 'a2', memberId: 7777 }, /memberId is not/],
      [{ ...good, activityId: 'a2', points: '7777' }, /points is not/],
      [{ ...good, activityId: 'a2', points: 7777.5 }, /points is not/],
      [{ ...good, activityId: 'a2', points: 1_000_000_001 }, /points is not/],
      [{ ...good, activityId: 'a2', stays: 'secret' }, /stays is not/],
      [{ ...good, activityId: 'a2', occurredAt: '7777-01-01T00:00:00Z' }, /occurredAt is not/],
      [
        { ...good, activityId: 'a2', occurredAt: new Date(Date.now() + 25 * 3_600_000) },
        /occurredAt is not/,
      ],
      [{ ...good, activityId: 'a2', occurredAt: '2026-01-01' }, /occurredAt is not/],
      [{ ...good, activityId: 'a2', note: 'secret' }, /"note"/],
      [{ ...good, points: 7777 }, /^the activity is in with other content$/],
    ];
    const { code, summary, stderr } = await importJson('activities', [
      good,
      ...bad.map(([line]) => line),
      { ...good, activityId: 'a3' },
    ]);
    expect({ code, summary }).toEqual({
      code: 1,
      summary: { added: 2, changed: 0, unchanged: 0, bad: bad.length },
    });
    for (const [index, [, reason]] of bad.entries()) {
      const [, number, text] = /^line (\d+): (.*)$/.exec(stderr[index] ?? '') ?? [];
      expect([number, text]).toEqual([String(index + 2), expect.stringMatching(reason)]);
      expect(text).not.toMatch(/secret|7777/);
    }
    expect(await withStandings(env, (store) => store.standing('blue', 'm1', '2025-07-01'))).toEqual(
      { points: 20, stays: 0 },
    );
  });

  test('killed in the middle and repeated, an import counts every line once', async () => {
    const count = 4_000;
    const text = linesOf(
      Array.from({ length: count }, (_, n) => ({
        activityId: `a${n}`,
        partnerId: 'blue',
        memberId: `m${n % 200}`,
        points: 1,
        occurredAt: '2026-01-01T00:00:00Z',
      })),
    );
    const { child, ran } = spawnLoyalty(env, 'activities', 'import', '-');
    child.stdin.on('error', () => undefined); // It is killed while it reads.
    await new Promise((resolve) => child.stdin.write(text.repeat(2), resolve));
    child.kill('SIGKILL');
    expect((await ran).code).toBeNull();
    const { stdout } = await loyalty(
      env,
      'activities',
      'import',
      fileOf([text.trimEnd()]),
      '--json',
    );
    const { added, unchanged, bad } = JSON.parse(stdout);
    expect({ all: added + unchanged, bad }).toEqual({ all: count, bad: 0 });
    const points = await withStandings(env, async (store) =>
      Promise.all(
        Array.from(
          { length: 200 },
          async (_, n) => (await store.standing('blue', `m${n}`, '2025-07-01'))?.points ?? 0,
        ),
      ),
    );
    expect(points.reduce((sum, each) => sum + each)).toBe(count);
  });
});

describe('as a process', () => {
  let env: Env;
  let remove: () => unknown;
  beforeEach(async () => {
    ({ env, remove } = embedded());
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
  });
  afterEach(() => remove());

  const activities = (count: number) =>
    linesOf(
      Array.from({ length: count }, (_, n) => ({
        activityId: `a${n}`,
        partnerId: 'blue',
        memberId: 'm',
        points: 1,
        occurredAt: '2026-01-01T00:00:00Z',
      })),
    );

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends an import after the current batch, and says where',
    async (signal) => {
      const { child, ran } = spawnLoyalty(env, '--json', 'activities', 'import', '-');
      // Written out means read by the command, but for the last of it; stdin stays open.
      await new Promise((resolve) => child.stdin.write(activities(20_000), resolve));
      child.kill(signal);
      const { code, stdout, stderr } = await ran;
      const { added } = JSON.parse(stdout);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `loyalty: interrupted after line ${added}, import the file again to go on\n`,
      });
      expect(
        await withStandings(env, (store) => store.standing('blue', 'm', '2026-01-01')),
      ).toEqual(added > 0 ? { points: added, stays: 0 } : undefined);
    },
  );

  test('stdin is imported to its end', async () => {
    const { child, ran } = spawnLoyalty(env, '--json', 'activities', 'import', '-');
    child.stdin.end(activities(1_000));
    expect(await ran).toEqual({
      code: 0,
      stdout: '{"added":1000,"changed":0,"unchanged":0,"bad":0}\n',
      stderr: '',
    } satisfies Ran);
  });

  test('a file larger than the heap may get goes in', async () => {
    const path = join(folder.path, 'large.ndjson');
    const line = {
      activityId: 'a'.repeat(128),
      partnerId: 'blue',
      memberId: 'm'.repeat(128),
      points: 1,
      occurredAt: '2026-01-01T00:00:00Z',
    };
    writeFileSync(path, linesOf([line]).repeat(400_000));
    const { code, stdout, stderr } = await spawnLoyalty(
      { ...env, NODE_OPTIONS: '--max-old-space-size=110' },
      '--json',
      'activities',
      'import',
      path,
    ).ran;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ added: 1, changed: 0, unchanged: 399_999, bad: 0 });
  });
});

test('for people there is a summary, and how long it took', async () => {
  const { env, remove } = embedded();
  await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
  const { code, stdout, stderr } = await loyalty(
    env,
    'members',
    'import',
    fileOf([{ email: 'a@example.com' }, '', { email: 'b' }]),
  );
  expect(code).toBe(1);
  expect(stdout).toBe('added      1\nchanged    0\nunchanged  0\nbad        1\n');
  expect(stderr).toMatch(
    /^line 3: email is not an email address\n3 lines in \d+\.\d s\nloyalty: 1 bad line was left out\n$/,
  );
  remove();
});
