// `members import` and `activities import`: bad lines, interruption, repetition.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MembersStore, openMembersStore } from '@partner-loyalty/members';
import { openStandingsStore, type StandingsStore } from '@partner-loyalty/standings';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { emptyStores } from '../../../test/support/service/emptystores.ts';
import {
  type Env,
  loyalty,
  loyaltyJson,
  type Ran,
  spawnLoyalty,
} from '../../../test/support/service/loyalty.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

/** Writes a file of these lines, objects as JSON. */
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

const settingsOf = (env: Env) => ({
  environment: 'sandbox' as const,
  dataDir: env.DATA_DIR ?? '',
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

describe('on the embedded store', () => {
  let env: Env;
  let remove: () => unknown;
  beforeEach(async () => {
    ({ env, remove } = emptyStores());
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

  test('members are imported with names, address history and enrollments, once', async () => {
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

  test('activities count in the membership year of their partner, once', async () => {
    const activity = (activityId: string, points: number, occurredAt: string, by = 'blue') => ({
      ...{ activityId, partnerId: by, memberId: 'm1', points, occurredAt },
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

  test('an import that is killed and repeated counts every line once', async () => {
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
    await withStandings(env, async (store) => {
      for (let n = 0; n < 200; n += 1)
        expect(await store.standing('blue', `m${n}`, '2025-07-01')).toMatchObject({ points: 20 });
    });
  });

  test('bad member lines are reported without values, and the others imported', async () => {
    const good = (n: number) => ({
      email: `good${n}@example.com`,
      enrollments: [{ partnerId: 'blue', externalId: `g${n}` }],
    });
    const secret = (more: object) => ({ email: 'secret@example.com', ...more });
    const bad: [object | string, RegExp][] = [
      ['{"email":"secret@example.com"', /^must be JSON$/],
      ['["secret@example.com"]', /^must be a JSON object$/],
      [
        '{"email":"secret@example.com","email":"secret@example.org"}',
        /^property "email" is repeated$/,
      ],
      [{ firstName: 'secret' }, /^email is missing$/],
      [{ email: 7 }, /^email must be a string$/],
      [{ email: 'secret' }, /^email must be an email address$/],
      [{ email: `${'secret'.repeat(50)}@example.com` }, /^email must have at most 254 characters$/],
      [secret({ previousEmails: 'secret@example.org' }), /^previousEmails must be a list$/],
      [secret({ previousEmails: ['secret'] }), /^previousEmails\[0\] must be an email address$/],
      [secret({ firstName: 'secret'.repeat(17) }), /^firstName must have at most 100 characters$/],
      [secret({ firstName: '' }), /^firstName must not be empty$/],
      [secret({ lastName: 'secret\u0007' }), /^lastName must not contain control characters$/],
      [
        '{"email":"secret@example.com","lastName":"\\ud800"}',
        /^lastName must not contain lone surrogates$/,
      ],
      [secret({ memberId: 1 }), /^memberId must be a string$/],
      [secret({ memberId: 'secret'.repeat(22) }), /^memberId must have at most 128 characters$/],
      [secret({ nickName: 'secret' }), /^unknown property "nickName"$/],
      [
        '{"email":"secret@example.com","__proto__":{"firstName":"secret"}}',
        /^unknown property "__proto__"$/,
      ],
      [secret({ '\u009b31m': 'secret' }), /^unknown property "\?31m"$/],
      [secret({ enrollments: {} }), /^enrollments must be a list$/],
      [secret({ enrollments: ['blue'] }), /^enrollments\[0\] must be an object$/],
      [secret({ enrollments: [{}] }), /^enrollments\[0\]\.partnerId is missing$/],
      [
        secret({ enrollments: [{ partnerId: 'secret' }] }),
        /^enrollments\[0\]\.partnerId must be that of an existing partner$/,
      ],
      [
        secret({
          enrollments: [{ partnerId: 'blue' }, { partnerId: 'blue' }],
        }),
        /^enrollments\[1\]\.partnerId must not be that of another enrollment$/,
      ],
      [
        secret({ enrollments: [{ partnerId: 'blue', status: 'secret' }] }),
        /^enrollments\[0\]\.status must be ACTIVE or ENDED$/,
      ],
      [
        secret({ enrollments: [{ partnerId: 'blue', externalID: 'secret' }] }),
        /^unknown property "externalID" in enrollments\[0\]$/,
      ],
      [
        secret({
          enrollments: [{ partnerId: 'blue', externalId: 'secret'.repeat(43) }],
        }),
        /^enrollments\[0\]\.externalId must have at most 255 characters$/,
      ],
      [
        { memberId: 'secret', email: 'good0@example.com' },
        /^an address belongs to another member$/,
      ],
      [
        secret({ enrollments: [{ partnerId: 'blue', externalId: 'g0' }] }),
        /^an external ID belongs to another member of the partner$/,
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
    expect(stderr.slice(bad.length)).toEqual([`loyalty: ${bad.length} bad lines were skipped`]);
  });

  test('bad activity lines are reported without values, and the others imported', async () => {
    const good = {
      activityId: 'a1',
      partnerId: 'blue',
      memberId: 'm1',
      points: 10,
      occurredAt: '2026-01-01T00:00:00Z',
    };
    const bad: [object | string, RegExp][] = [
      [{ ...good, partnerId: 'secret' }, /^partnerId must be that of an existing partner$/],
      [{ ...good, points: '7777' }, /^points must be an integer from -1,000,000,000 to 1,/],
      [{ ...good, occurredAt: '7777-01-01T00:00:00Z' }, /^occurredAt must be between 1900 and/],
      [{ ...good, note: 'secret' }, /^unknown property "note"$/],
      [
        { ...good, points: 7777 },
        /^activityId must not be that of an activity with other content$/,
      ],
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
});

describe('as a process', () => {
  let env: Env;
  let remove: () => unknown;
  beforeEach(async () => {
    ({ env, remove } = emptyStores());
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
    '%s ends an import after the current batch and reports the last line',
    async (signal) => {
      const { child, ran } = spawnLoyalty(env, '--json', 'activities', 'import', '-');
      // Once it is written, the command has read all but the last of it; stdin stays open.
      await new Promise((resolve) => child.stdin.write(activities(20_000), resolve));
      child.kill(signal);
      const { code, stdout, stderr } = await ran;
      const { added } = JSON.parse(stdout);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `loyalty: interrupted after line ${added}; import the file again to continue\n`,
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

  test('a file larger than the heap is imported', async () => {
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

test('people get a summary and the duration', async () => {
  const { env, remove } = emptyStores();
  await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
  const { code, stdout, stderr } = await loyalty(
    env,
    'members',
    'import',
    fileOf([{ email: 'a@example.com' }, '', { email: 'b' }]),
  );
  expect(code).toBe(1);
  expect(stdout).toBe('added      1\nchanged    0\nunchanged  0\nbad        1\n');
  expect(stderr.split('\n')).toEqual([
    'line 3: email must be an email address',
    expect.stringMatching(/^3 lines in \d+\.\d s$/),
    'loyalty: 1 bad line was skipped',
    '',
  ]);
  remove();
});
