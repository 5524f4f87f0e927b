// The operator's command on partners and keys: its output, refusals, and effect on the stores.

import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashKey, openKeyStore, parseKey } from '@partner-loyalty/gateway';
import { openMembersStore } from '@partner-loyalty/members';
import { openStandingsStore } from '@partner-loyalty/standings';
import { openUsageStore } from '@partner-loyalty/usage/tables.ts';
import { temporaryFolder } from '../../test/support/folder.ts';
import { emptyStores } from '../../test/support/service/emptystores.ts';
import {
  bareEnv,
  type Env,
  loyalty,
  loyaltyJson,
  spawnLoyalty,
} from '../../test/support/service/loyalty.ts';

const PROGRAM = {
  membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
  tiers: [
    { name: 'Blue', points: 0 },
    { name: 'Gold', points: 500 },
  ],
};

describe('on the embedded store', () => {
  let env: Env;
  let remove: () => unknown;
  beforeEach(() => {
    ({ env, remove } = emptyStores());
  });
  afterEach(() => remove());

  const settings = () => ({
    environment: 'sandbox' as const,
    dataDir: env.DATA_DIR ?? '',
  });

  test('a partner is created with its program and listed', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'program.json');
    writeFileSync(file, JSON.stringify(PROGRAM, null, 2));
    const page = 'https://blue.example/links';
    const options = ['--name', 'Blue Hotels', '--program', file, '--budget', '1000'];
    options.push('--magic-link-url', page);
    const expected = { partnerId: 'blue', name: 'Blue Hotels', budget: 1000, magicLinkUrl: page };
    expect(await loyaltyJson(env, 'partners', 'create', 'blue', ...options)).toEqual([
      { ...expected, createdAt: expect.any(String) },
    ]);
    await loyaltyJson(env, 'partners', 'create', 'amber', '--name', 'Amber Trains');
    expect(await loyaltyJson(env, 'partners', 'list')).toEqual([
      { partnerId: 'amber', name: 'Amber Trains', createdAt: expect.any(String) },
      { ...expected, createdAt: expect.any(String) },
    ]);
    const standings = await openStandingsStore(settings());
    expect(await standings.program('blue')).toEqual(PROGRAM);
    expect(await standings.program('amber')).toBeUndefined();
    await standings.close();
    const members = await openMembersStore(settings());
    const { budget: _, ...known } = expected;
    expect(await members.partners.get('blue')).toEqual(known);
    await members.close();
    folder.remove();
  });

  test('a partner is changed, suspended, resumed and shown', async () => {
    const folder = temporaryFolder();
    const programFile = (program: object) => {
      const file = join(folder.path, `${Math.random()}.json`);
      writeFileSync(file, JSON.stringify(program));
      return file;
    };
    const run = (command: string, ...options: string[]) =>
      loyaltyJson(env, 'partners', command, 'blue', ...options);
    const page = 'https://blue.example/links';
    const [created] = await run('create', '--name', 'Blue', '--budget', '7');
    expect(await run('show')).toEqual([{ ...created, state: 'active', activeKeys: 0 }]);

    const options = ['--name', 'Blue Inns', '--magic-link-url', page, '--budget', '9'];
    const changed = { ...created, name: 'Blue Inns', magicLinkUrl: page, budget: 9 };
    expect(await run('update', ...options, '--program', programFile(PROGRAM))).toEqual([changed]);
    const [suspended] = await run('suspend');
    expect(suspended).toEqual({ ...changed, suspendedAt: expect.any(String) });
    expect(await run('suspend')).toEqual([suspended]);
    const [key] = await loyaltyJson(env, 'keys', 'create', 'blue');
    await loyaltyJson(env, 'keys', 'revoke', String(key?.keyId));
    await loyaltyJson(env, 'keys', 'create', 'blue');
    expect(await run('update', '--budget', 'default', '--magic-link-url', 'none')).toEqual([
      {
        partnerId: 'blue',
        name: 'Blue Inns',
        createdAt: created?.createdAt,
        suspendedAt: suspended?.suspendedAt,
      },
    ]);
    expect(await run('show')).toMatchObject([
      { state: 'suspended', program: PROGRAM, activeKeys: 1 },
    ]);
    const resumed = { partnerId: 'blue', name: 'Blue Inns', createdAt: created?.createdAt };
    expect(await run('resume')).toEqual([resumed]);
    const members = await openMembersStore(settings());
    expect(await members.partners.get('blue')).toEqual({ partnerId: 'blue', name: 'Blue Inns' });
    await members.close();

    // Points are kept by membership year: with some, its first day stays.
    const standings = await openStandingsStore(settings());
    const occurredAt = new Date('2026-05-04T00:00:00Z');
    const activity = { activityId: 'a', partnerId: 'blue', memberId: 'm', points: 1, stays: 0 };
    await standings.record([{ ...activity, occurredAt, year: '2025-07-01' }]);
    await standings.close();
    const tiers = [{ name: 'Opal', points: 3 }];
    const moved = { tiers, membershipYear: { start: '01-01', timeZone: 'UTC' } };
    const again = ['partners', 'update', 'blue', '--program', programFile(moved)];
    expect((await loyalty(env, ...again)).stderr).toMatch(
      /^loyalty: --program: .* so only its tiers can change\n$/,
    );
    const lasting = { ...PROGRAM, tiers, tierValidity: 'nextYear' };
    await run('update', '--program', programFile(lasting));
    expect(await run('show')).toMatchObject([{ program: lasting }]);
    folder.remove();
  });

  test('--version is the version and the commit, also if a setting is wrong', async () => {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
    const printed = { code: 0, stdout: `0.9.0 ${commit}\n`, stderr: '' };
    expect(await loyalty(env, '--version')).toEqual(printed);
    const { stdout } = await spawnLoyalty({ COMMIT: '0123abc', PORT: 'x' }, '--version').ran;
    expect(stdout).toBe('0.9.0 0123abc\n');
  });

  test('the partners with the most requests come first, by full hours', async () => {
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
    await loyaltyJson(env, 'partners', 'create', 'amber', '--name', 'Amber');
    await loyaltyJson(env, 'partners', 'create', 'quiet', '--name', 'Quiet');
    const keyIds: string[] = [];
    for (const partner of ['blue', 'blue', 'amber', 'quiet'])
      keyIds.push(String((await loyaltyJson(env, 'keys', 'create', partner))[0]?.keyId));
    const [calm, busy, other] = keyIds as [string, string, string];
    const { stderr } = await loyalty(env, 'partners', 'top');
    expect(stderr).toMatch(/^no requests since \S+ \d\d:\d\d UTC\n$/);

    const use = (keyId: string, hoursAgo: number, requests: number) => {
      const lastUsedAt = new Date(Date.now() - hoursAgo * 3_600_000);
      const hour = lastUsedAt.toISOString().slice(0, 13);
      return { keyId, hour, requests, refusals: 2, errors: 1, lastUsedAt };
    };
    const usage = await openUsageStore(settings());
    await usage.addKeyUses([use(calm, 30, 1_000), use(calm, 2, 10), use(calm, 0, 10)]);
    await usage.addKeyUses([use(busy, 1, 50), use(other, 1, 60), use('key_unknown', 1, 9)]);
    const recorded = (hoursAgo: number, counts: Record<string, number>) => ({
      ...{ partnerId: 'amber', counts, budget: 0 },
      hour: new Date(Date.now() - hoursAgo * 3_600_000).toISOString().slice(0, 13),
    });
    const hours = [
      recorded(1, { requests: 60, partial: 3, refused: 2, l8: 58, l48: 2 }),
      recorded(30, { requests: 40, partial: 40, l48: 40 }),
    ];
    await usage.addRequests({ at: new Date(), hours, chunks: [] });
    await usage.close();
    const blue = { partnerId: 'blue', requests: 70, refusals: 6, errors: 3, keys: 2 };
    const amber = { partnerId: 'amber', requests: 60, refusals: 2, errors: 1, keys: 1 };
    expect(await loyaltyJson(env, 'partners', 'top')).toEqual([
      { ...blue, busiestKey: busy, keyRequests: 50 },
      { ...amber, busiestKey: other, keyRequests: 60, partial: 3, p50: 0.92, p99: 940 },
    ]);
    const { stdout } = await loyalty(env, 'partners', 'top');
    expect(stdout).toMatch(/ keyRequests +partial +p50 +p99\nblue .* - +- +-\namber /);
    expect(await loyaltyJson(env, 'partners', 'top', '--since', '40h')).toMatchObject([
      { requests: 1_070, busiestKey: calm },
      { requests: 60, partial: 43, p50: 0.92, p99: 940 },
    ]);
    const oldest = new Date(Date.now() - 48 * 3_600_000);
    oldest.setUTCMinutes(0, 0, 0);
    const sinceOldest = ['--since', oldest.toISOString()];
    expect(await loyaltyJson(env, 'partners', 'top', ...sinceOldest)).toHaveLength(2);
    expect((await loyalty(env, 'partners', 'top', '--since', '49h')).stderr).toBe(
      'loyalty: --since must be in the last 48 hours, which are kept\n',
    );
  });

  test('a key is printed once, stored as its hash, and works until it is revoked', async () => {
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
    const expires = new Date(Date.now() + 60_000).toISOString();
    const [made] = await loyaltyJson(env, 'keys', 'create', 'blue', '--expires', expires);
    expect(made).toEqual({
      keyId: expect.any(String),
      key: expect.stringMatching(/^pk_test_[0-9A-Za-z]{36}$/),
    });
    const { keyId, key } = made as { keyId: string; key: string };
    expect(parseKey(key)).toEqual({ environment: 'sandbox' });
    const listed = await loyalty(env, 'keys', 'list', 'blue', '--json');
    expect(JSON.parse(listed.stdout)).toEqual({
      keyId,
      partnerId: 'blue',
      lastFour: key.slice(-4),
      state: 'active',
      scopes: ['read', 'enroll', 'sign-in'],
      createdAt: expect.any(String),
      expiresAt: expires,
      requests: 0,
      refusals: 0,
    });
    expect(listed.stdout).not.toContain(hashKey(key));
    expect(await loyaltyJson(env, 'keys', 'revoke', keyId)).toEqual([{ keyId, state: 'revoked' }]);
    const keys = await openKeyStore(settings());
    expect((await keys.keyByHash(hashKey(key)))?.key.revokedAt).toBeInstanceOf(Date);
    expect(await keys.origin()).toBe('operator');
    await keys.close();
    expect(await loyaltyJson(env, 'keys', 'list', 'blue')).toMatchObject([
      { state: 'revoked', revokedAt: expect.any(String) },
    ]);
  });

  test('a key is rotated into one with the same rights, and ends after the overlap', async () => {
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
    const rights = ['--scopes', 'read', '--allow', '10.0.0.0/8', '--expires', '30d'];
    const [old] = await loyaltyJson(env, 'keys', 'create', 'blue', ...rights);
    const rotate = (...options: string[]) =>
      loyaltyJson(env, 'keys', 'rotate', String(old?.keyId), ...options);
    const [next] = await rotate();
    expect(next).toMatchObject({
      key: expect.stringMatching(/^pk_test_/),
      formerKeyId: old?.keyId,
      formerExpiresAt: expect.any(String),
    });
    const [before, after] = await loyaltyJson(env, 'keys', 'list', 'blue');
    expect(after).toMatchObject({ keyId: next?.keyId, scopes: ['read'], allow: ['10.0.0.0/8'] });
    const days = (from: unknown, to: unknown) =>
      Math.round((Date.parse(String(to)) - Date.parse(String(from))) / 86_400_000);
    expect(days(after?.createdAt, after?.expiresAt)).toBe(30);
    expect(days(after?.createdAt, before?.expiresAt)).toBe(7);
    expect(before?.expiresAt).toBe(next?.formerExpiresAt);

    // An earlier end stays.
    const [third] = await rotate('--overlap', '20d', '--expires', '90d');
    expect(third?.formerExpiresAt).toBe(before?.expiresAt);
    const listed = await loyaltyJson(env, 'keys', 'list', 'blue');
    expect(listed[0]?.expiresAt).toBe(before?.expiresAt);
    expect(days(listed[2]?.createdAt, listed[2]?.expiresAt)).toBe(90);

    await loyaltyJson(env, 'keys', 'revoke', String(old?.keyId));
    expect(await loyalty(env, 'keys', 'rotate', String(old?.keyId))).toEqual({
      code: 1,
      stdout: '',
      stderr: `loyalty: key ${old?.keyId} is revoked: loyalty keys create blue\n`,
    });
  });

  test('a partner is made to invite its members, and allowed to enroll them again', async () => {
    const stored = async () => {
      const members = await openMembersStore(settings());
      const partner = await members.partners.get('blue');
      await members.close();
      return partner;
    };
    const page = 'https://blue.example/links';
    const blue = { partnerId: 'blue', name: 'Blue', magicLinkUrl: page };
    const careful = ['--consent', 'required', '--invitations', '50'];
    const create = ['blue', '--name', 'Blue', '--magic-link-url', page, ...careful];
    const [created] = await loyaltyJson(env, 'partners', 'create', ...create);
    expect(created).toMatchObject({ ...blue, consent: 'required', invitations: 50 });
    expect(await stored()).toEqual({ ...blue, consent: 'required', invitations: 50 });
    const [key] = await loyaltyJson(env, 'keys', 'create', 'blue');

    const update = (...options: string[]) =>
      loyaltyJson(env, 'partners', 'update', 'blue', ...options);
    const { consent: _, ...allowed } = { ...created, invitations: 60 } as Record<string, unknown>;
    expect(await update('--consent', 'none', '--invitations', '60')).toEqual([allowed]);
    expect(await loyaltyJson(env, 'partners', 'list')).toEqual([allowed]);
    expect(await stored()).toEqual({ ...blue, invitations: 60 });
    expect(await update('--consent', 'required')).toEqual([{ ...allowed, consent: 'required' }]);
    expect(await stored()).toEqual({ ...blue, consent: 'required', invitations: 60 });
    expect(await loyaltyJson(env, 'keys', 'list', 'blue')).toMatchObject([{ keyId: key?.keyId }]);
  });

  test('a key is limited to scopes, addresses and a time', async () => {
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
    const options = ['--scopes', 'ingest,read', '--allow', '192.0.2.7, fd00::/8', '--expires'];
    const before = Date.now();
    await loyaltyJson(env, 'keys', 'create', 'blue', ...options, '90d');
    const [listed] = await loyaltyJson(env, 'keys', 'list', 'blue');
    expect(listed).toMatchObject({
      scopes: ['read', 'ingest'],
      allow: ['192.0.2.7/32', 'fd00::/8'],
      expiresAt: expect.any(String),
    });
    const lifetimeMs = Date.parse(String(listed?.expiresAt)) - before;
    expect(Math.floor(lifetimeMs / 86_400_000)).toBe(90);
    const { stdout } = await loyalty(env, 'keys', 'list', 'blue');
    expect(stdout).toContain('  read,ingest  192.0.2.7/32,fd00::/8  ');
  });

  test('a key for mcp reads, is listed as such, and is rotated into another one', async () => {
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
    const [made] = await loyaltyJson(env, 'keys', 'create', 'blue', '--for', 'mcp');
    expect(made?.key).toMatch(/^mk_test_[0-9A-Za-z]{36}$/);
    const [next] = await loyaltyJson(env, 'keys', 'rotate', String(made?.keyId));
    expect(next?.key).toMatch(/^mk_test_[0-9A-Za-z]{36}$/);
    expect(await loyaltyJson(env, 'keys', 'list', 'blue')).toMatchObject([
      { keyId: made?.keyId, for: 'mcp', scopes: ['read'], expiresAt: expect.any(String) },
      { keyId: next?.keyId, for: 'mcp', scopes: ['read'] },
    ]);
    expect((await loyalty(env, 'keys', 'create', 'blue', '--for', 'other')).code).toBe(1);
  });
});

describe('on an empty store', () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder.path };
  const file = (text: string) => {
    const path = join(folder.path, 'program.json');
    writeFileSync(path, text);
    return path;
  };
  afterAll(folder.remove);

  const create = (...options: string[]) => [
    ...['partners', 'create', 'blue', '--name', 'Blue'],
    ...options,
  ];
  const named = (id: string, name: string) => ['partners', 'create', id, '--name', name];
  const key = (...options: string[]) => ['keys', 'create', 'blue', ...options];
  test.each<[RegExp, ...(string | string[])[]]>([
    [/a command is missing/, '', 'partners'],
    [/unknown command 'partner'/, 'partner'],
    [/unknown command 'drop'/, 'partners drop blue'],
    [/unknown option '--budgt'/, create('--budgt', '3')],
    [/missing required argument 'id'/, 'partners create --name Blue'],
    [/--name <name>' not specified/, 'partners create blue'],
    [/too many arguments/, 'partners create blue green --name Blue'],
    [
      /there is no partner "blue"/,
      ...['partners suspend blue', 'partners resume blue', 'partners show blue', key()],
      ...['keys list blue', 'partners update blue --consent required'],
    ],
    [/there is no key "key_1"/, 'keys rotate key_1', 'keys revoke key_1'],
    [/there is nothing to change/, 'partners update blue'],
    [/--consent must be "required" or "none"/, create('--consent', 'yes')],
    [/--invitations must be an integer from 1 to 10,000/, create('--invitations', '0')],
    [
      /the partner ID must have/,
      ...['blue hotels', 'b'.repeat(65), ''].map((id) => named(id, 'B')),
    ],
    [/--name must not be empty/, named('blue', ' ')],
    [/--name must not contain control characters/, named('blue', 'Blue\nHotels')],
    [/--name must have at most 100 characters/, named('blue', 'b'.repeat(101))],
    [
      /--budget must be an integer from 1 to 1,000,000,000/,
      ...['0', '1.5', 'ten'].map((budget) => create('--budget', budget)),
    ],
    [
      /--magic-link-url must be an absolute http or https URL/,
      ...['/sign-in', 'javascript:alert(1)'].map((url) => create('--magic-link-url', url)),
    ],
    [/--program: .*no such file/, create('--program', join(folder.path, 'none.json'))],
    [/--expires must be in the future/, key('--expires', '2020-01-01T00:00:00Z')],
    [
      /--expires must be a duration such as 90d, or an ISO 8601 time/,
      ...['2099-01-01T00:00:00', '0d', '365000d'].map((at) => key('--expires', at)),
    ],
    [/--scopes must be a list of read, enroll, sign-in, ingest/, key('--scopes', 'read,write')],
    [/--scopes must name a scope/, key('--scopes', ',')],
    [/--overlap must be a duration such as/, 'keys rotate key_1 --overlap 7'],
    [/--allow must be a list of addresses and ranges/, key('--allow', '10.0.0.0/8,example.com')],
    [/--allow must name an address/, key('--allow', '')],
    [/no such file/, ['members', 'import', join(folder.path, 'none.ndjson')]],
    [/directory/, ['activities', 'import', folder.path]],
  ])('refused in one line: %s', async (message, ...commands) => {
    for (const command of commands) {
      const args = typeof command === 'string' ? command.split(' ').filter(Boolean) : command;
      const { code, stdout, stderr } = await loyalty(env, ...args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(/^loyalty: [^\n]+\n$/);
      expect(stderr).toMatch(message);
    }
  });

  test.each([
    ['that is not JSON', 'tiers:'],
    ['with a property given twice', '{"tiers":[],"tiers":[]}'],
    ['that is empty', '{}'],
    [
      'that starts on 02-29',
      JSON.stringify({ ...PROGRAM, membershipYear: { start: '02-29', timeZone: 'UTC' } }),
    ],
  ])('a program %s is refused in one line, and no partner is made', async (_name, text) => {
    const { code, stdout, stderr } = await loyalty(env, ...create('--program', file(text)));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^loyalty: --program: [^\n]+\n$/);
    expect((await loyalty(env, 'partners', 'list', '--json')).stdout).toBe('');
  });

  test('a program that Notepad saved, with a byte order mark, is read; one in another encoding is not', async () => {
    const text = JSON.stringify(PROGRAM);
    const path = file(text);
    writeFileSync(path, `\uFEFF${text}`, 'utf16le');
    const refused = await loyalty(env, ...create('--program', path));
    expect(refused).toMatchObject({
      code: 1,
      stderr: `loyalty: --program: ${path}: must be UTF-8\n`,
    });
    expect((await loyalty(env, ...create('--program', file(`\uFEFF${text}`)))).code).toBe(0);
  });

  test('all wrong settings are named in one line', async () => {
    const wrong = { PORT: 'many', ENVIRONMENT: 'test' };
    const { code, stderr } = await loyalty(wrong, 'partners', 'list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^loyalty: [^\n]+\n$/);
    expect(stderr).toMatch(/PORT/);
    expect(stderr).toMatch(/ENVIRONMENT/);
  });

  test('--help prints to stdout and exits with 0', async () => {
    const { code, stdout, stderr } = await loyalty(env, 'keys', 'create', '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('--expires');
    expect(stdout).toContain('--json');
  });
});

test('what only reads makes no store, and finds none', async () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: join(folder.path, 'data') };
  const schema = join(import.meta.dirname, '../../examples/offers-apollo/schema.graphql');
  for (const [args, code] of [
    ['partners list', 0],
    ['partners show blue', 1],
    ['partners top', 0],
    ['keys list blue', 1],
    ['apps list blue', 1],
    ['staff list blue', 1],
    ['webhooks list blue', 1],
    ['webhooks deliveries wh_1', 1],
    ['members export m1', 1],
    ['requests blue', 1],
    ['usage', 0],
    ['supergraph list', 0],
    ['supergraph list --pending', 0],
    ['supergraph show', 0],
    ['supergraph fetch members', 0],
    ['supergraph changelog', 0],
    ['supergraph token list', 0],
    [`supergraph check offers ${schema}`, 1],
  ] as const)
    expect([args, (await loyalty(env, ...args.split(' '))).code]).toEqual([args, code]);
  expect(readdirSync(folder.path)).toEqual([]);
  folder.remove();
});

test('for people, lists are aligned and a new key comes with a note', async () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder.path };
  expect(await loyalty(env, 'partners', 'list')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('no partners yet'),
  });
  await loyalty(env, 'partners', 'create', 'blue', '--name', 'Blue', '--budget', '10');
  await loyalty(env, 'partners', 'create', 'ultramarine', '--name', 'Ultramarine Hotels');
  const lines = (await loyalty(env, 'partners', 'list')).stdout.split('\n');
  expect(lines[0]).toMatch(/^partnerId {4}name {16}budget {2}createdAt$/);
  expect(lines[1]).toMatch(/^blue {9}Blue {16}10 {6}\d{4}-/);
  expect(lines[2]).toMatch(/^ultramarine {2}Ultramarine Hotels {2}- {7}\d{4}-/);
  const key = await loyalty(env, 'keys', 'create', 'blue');
  expect(key.stdout).toMatch(/^keyId {2}key_\w+\nkey {4}pk_test_\w+\n$/);
  expect(key.stderr).toContain('it cannot be shown again');
  folder.remove();
});

test('supergraph compose --check confirms that the committed graph is up to date', async () => {
  expect(await loyaltyJson({}, 'supergraph', 'compose', '--check')).toEqual([
    { file: 'gateway/supergraph.graphql', changed: false },
  ]);
});

test('as a process: results on stdout, exit codes, and a reader that closes the pipe', async () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder.path };
  const created = await spawnLoyalty(env, '--json', 'partners', 'create', 'blue', '--name', 'Blue')
    .ran;
  expect(created).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^.* no program: .*\n$/),
  });
  expect(JSON.parse(created.stdout)).toMatchObject({ partnerId: 'blue' });
  // npx starts this file.
  const loyaltyJs = join(import.meta.dirname, '../loyalty.js');
  const options = { encoding: 'utf8', env: { ...bareEnv(), ...env } } as const;
  const again = ['partners', 'create', 'blue', '--name', 'Blue'];
  expect(spawnSync(process.execPath, [loyaltyJs, ...again], options)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'loyalty: partner blue already exists\n',
  });
  const line = `'${process.execPath}' '${loyaltyJs}' partners list | true`;
  expect(spawnSync('sh', ['-c', line], options).stderr).toBe('');
  folder.remove();
});
