// `loyalty members merge`: what it prints, refuses and leaves.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyStore } from '@partner-loyalty/gateway';
import { type MembersStore, openMembersStore } from '@partner-loyalty/members';
import { openStandingsStore, type StandingsStore } from '@partner-loyalty/standings';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import {
  type Env,
  loyalty,
  loyaltyJson,
  spawnLoyalty,
} from '../../../test/support/service/loyalty.ts';

// A merge waits 4.5 s for reads that have begun. Here are none.
jest.mock('node:timers/promises', () => {
  const actual = jest.requireActual('node:timers/promises');
  const setTimeout = (ms: number, ...others: unknown[]) =>
    actual.setTimeout(Math.min(ms, 200), ...others);
  return { ...actual, setTimeout };
});

const YEAR = '2026-01-01';

describe('merging', () => {
  let folder: Folder;
  let env: Env;
  async function open() {
    folder = temporaryFolder();
    env = { DATA_DIR: join(folder.path, 'data') };
    mkdirSync(env.DATA_DIR ?? '');
    const keys = await openKeyStore(settings());
    for (const partnerId of ['inn', 'spa', 'bar'])
      await keys.createPartner({ partnerId, name: partnerId, createdAt: new Date() });
    await keys.close();
    await importLines('members', [
      {
        memberId: 'old',
        email: 'old@x.example',
        previousEmails: ['older@x.example'],
        enrollments: [
          { partnerId: 'inn', externalId: 'O-1' },
          { partnerId: 'spa' },
          { partnerId: 'bar', status: 'ENDED' },
        ],
      },
      {
        memberId: 'new',
        email: 'new@x.example',
        enrollments: [{ partnerId: 'inn', externalId: 'N-1' }],
      },
      { memberId: 'third', email: 'third@x.example', enrollments: [{ partnerId: 'inn' }] },
    ]);
    await importLines('activities', [
      activity('a-1', 'old', 5),
      { ...activity('a-2', 'old', 7), partnerId: 'spa' },
      activity('b-1', 'new', 20),
    ]);
  }
  async function close() {
    folder.remove();
  }

  const activity = (activityId: string, memberId: string, points: number) => ({
    activityId,
    partnerId: 'inn',
    memberId,
    points,
    occurredAt: '2026-01-02T03:04:05Z',
  });

  async function importLines(what: 'members' | 'activities', lines: object[]) {
    const file = join(folder.path, 'lines.ndjson');
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return loyalty(env, what, 'import', file);
  }
  const merge = (...args: string[]) => loyaltyJson(env, 'members', 'merge', ...args);
  const refusal = async (...args: string[]) => {
    const { code, stderr } = await loyalty(env, 'members', 'merge', ...args);
    expect(code).toBe(1);
    return stderr.replace('loyalty: ', '').trim();
  };
  const exported = async (memberId: string) =>
    (await loyaltyJson(env, 'members', 'export', memberId))[0] as Record<string, unknown>;
  const settings = () => ({
    environment: 'sandbox' as const,
    dataDir: env.DATA_DIR ?? '',
    mongodbUrl: undefined,
    keyEncryptionKey: undefined,
  });
  async function withStores<T>(
    work: (stores: { members: MembersStore; standings: StandingsStore }) => Promise<T>,
  ): Promise<T> {
    const [members, standings] = [
      await openMembersStore(settings()),
      await openStandingsStore(settings()),
    ];
    try {
      return await work({ members, standings });
    } finally {
      await members.close();
      await standings.close();
    }
  }
  const faults = async () =>
    (await loyalty(env, 'verify')).stdout.split('\n').filter((line) => line.includes(': '));

  describe('once two are merged', () => {
    let printed: Awaited<ReturnType<typeof merge>>;
    beforeAll(async () => {
      await open();
      await withStores(async ({ members: { access, payloads, tokens } }) => {
        const agreed = { clientId: 'app-1', scopes: ['openid', 'email'], agreedAt: 1 };
        await access.begin('old', { sessionId: 'b1', usedAt: Date.now(), browser: '' });
        await access.grant('old', agreed, { sid: 's1', sessionId: 'b1' }, true);
        await payloads.put('RefreshToken:s1', { accountId: 'old' }, Date.now() + 3_600_000);
        await tokens.confirmSignIn('old', { partnerId: 'inn', clientId: 'app-1' });
      });
      printed = await merge('old', 'new');
    });
    afterAll(close);

    test("prints FROM's export, and INTO has what both had", async () => {
      const [before, done] = printed;
      expect(before).toMatchObject({
        memberId: 'old',
        member: { email: 'old@x.example', earlier: ['older@x.example'] },
        standings: expect.arrayContaining([{ partnerId: 'inn', year: YEAR, points: 5, stays: 0 }]),
        activities: [{ activityId: 'a-1' }, { activityId: 'a-2' }],
      });
      expect(done).toEqual({ from: 'old', into: 'new', state: 'merged' });
      expect(await exported('new')).toMatchObject({
        member: {
          memberId: 'new',
          email: 'new@x.example',
          earlier: ['older@x.example', 'old@x.example'],
          enrollments: [
            { partnerId: 'inn', status: 'ACTIVE', externalId: 'N-1', otherExternalIds: ['O-1'] },
            { partnerId: 'spa', status: 'ACTIVE' },
            { partnerId: 'bar', status: 'ENDED' },
          ],
        },
        merged: ['old'],
        standings: expect.arrayContaining([
          { partnerId: 'inn', year: YEAR, points: 25, stays: 0 },
          { partnerId: 'spa', year: YEAR, points: 7, stays: 0 },
        ]),
      });
      expect((await exported('new')).activities).toHaveLength(3);
      expect(await exported('old')).toEqual(await exported('new'));
      expect(await faults()).toEqual([]);
    });

    test('nothing is left of the apps and sessions of FROM, which nobody could revoke', async () => {
      await withStores(async ({ members: { access, payloads, member } }) => {
        expect([await access.find('old'), await payloads.select(() => true)]).toEqual([
          undefined,
          [],
        ]);
        const { enrollments } = (await member('new')) ?? {};
        expect(enrollments?.flatMap(({ confirmedBy = [] }) => confirmedBy)).toEqual([]);
      });
    });

    test('the same pair again exits with 0 and says so', async () => {
      expect(await merge('old', 'new')).toEqual([{ from: 'old', into: 'new', state: 'merged' }]);
      const again = await loyalty(env, 'members', 'merge', 'old', 'new');
      expect(again).toMatchObject({ code: 0, stderr: 'member "old" is part of "new" already\n' });
      expect(await exported('new')).toMatchObject({ standings: [{ points: 25 }, { points: 7 }] });
    });

    test.each([[[]], [['--dry-run']]])('refuses chains, with %j', async (options) => {
      expect(await refusal('old', 'third', ...options)).toContain('was merged into another one');
      expect(await refusal('new', 'third', ...options)).toContain('merge it the other way round');
      expect(await refusal('third', 'old', ...options)).toContain('second member was merged');
      expect(await refusal('third', 'third', ...options)).toContain('are the same');
      expect(await refusal('nobody', 'third', ...options)).toBe('there is no member "nobody"');
    });

    test('an import does not bring FROM back, nor take its addresses', async () => {
      const { code, stderr } = await importLines('members', [
        { memberId: 'old', email: 'old@x.example', enrollments: [{ partnerId: 'inn' }] },
      ]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('merged into another one')]);
      expect(await exported('old')).toMatchObject({ member: { email: 'new@x.example' } });
    });
  });

  describe('before and while they are merged', () => {
    beforeEach(open);
    afterEach(close);

    test.each(['old', 'new'])('erasing %s erases both', async (erased) => {
      await merge('old', 'new');
      await withStores(async ({ members }) => {
        expect(await members.lookUp('spa', [{ by: 'memberId', value: 'old' }])).toMatchObject([
          { status: 'FOUND', member: { memberId: 'new' } },
        ]);
      });
      const printed = await loyaltyJson(env, 'members', 'erase', erased);
      expect(printed).toEqual(
        ['new', 'old'].map((memberId) => {
          return { memberId, state: 'erased', activities: expect.any(Number) };
        }),
      );
      expect(printed.reduce((sum, { activities }) => sum + Number(activities), 0)).toBe(3);
      for (const memberId of ['old', 'new'])
        expect((await loyalty(env, 'members', 'export', memberId)).stderr).toContain('no member');
      await withStores(async ({ members, standings }) => {
        const keys = ['old', 'new'].map((value) => ({ by: 'memberId' as const, value }));
        for (const partnerId of ['inn', 'spa', 'bar'])
          expect(await members.lookUp(partnerId, keys)).toEqual([
            { status: 'ERASED' },
            { status: 'ERASED' },
          ]);
        const [sent] = await standings.record([
          { ...activity('a-9', 'old', 1), stays: 0, occurredAt: new Date(), year: YEAR },
        ]);
        expect([sent, await standings.merges.idsOf('new')]).toEqual(['erased', ['new']]);
      });
      expect(await faults()).toEqual([]);
    });

    test.each(['old', 'new'])(
      'erasing %s erases both if their merge was killed in the standings',
      async (erased) => {
        await withStores(async ({ standings }) => {
          expect(await standings.merges.begin('old', 'new')).toBeUndefined();
        });
        await loyaltyJson(env, 'members', 'erase', erased);
        await withStores(async ({ members, standings }) => {
          for (const memberId of ['old', 'new']) {
            expect(await members.rights.isErased(memberId)).toBe(true);
            expect(await members.rights.find(memberId)).toBeUndefined();
            expect(await standings.standingsOf(memberId)).toEqual([]);
          }
        });
        expect(await faults()).toEqual([]);
      },
    );

    test('a merge beside an erasure of one of the two leaves nothing that is of both', async () => {
      // Two processes: of one, the second opener of a lock would block the first.
      const merging = spawnLoyalty(env, 'members', 'merge', 'old', 'new').ran;
      await loyaltyJson(env, 'members', 'erase', 'old');
      const { code } = await merging;
      await withStores(async ({ members, standings }) => {
        expect(await standings.standingsOf('old')).toEqual([]);
        expect(await members.rights.find('old')).toBeUndefined();
        const sums = (await members.rights.isErased('new')) ? [] : [{ points: 20 }];
        expect(await standings.standingsOf('new')).toMatchObject(sums);
        expect([code, sums.length]).not.toEqual([0, 1]);
      });
      expect(await faults()).toEqual([]);
    });

    test('without --json, the export is all of stdout', async () => {
      const { stdout, stderr } = await loyalty(env, 'members', 'merge', 'old', 'new');
      expect(JSON.parse(stdout)).toMatchObject({ memberId: 'old' });
      expect(stderr).toBe('member "old" is part of "new" now\n');
    });

    test('a dry run says what would become of it and changes nothing', async () => {
      const before = [await exported('old'), await exported('new')];
      const [dry] = await merge('old', 'new', '--dry-run');
      expect(dry).toMatchObject({
        state: 'ready',
        partnerIds: ['inn', 'spa', 'bar'],
        standings: expect.arrayContaining([{ partnerId: 'inn', year: YEAR, points: 25, stays: 0 }]),
      });
      expect([await exported('old'), await exported('new')]).toEqual(before);
    });

    test('refuses a locked and an erased member, in the dry run too', async () => {
      await loyaltyJson(env, 'members', 'lock', 'older@x.example');
      expect(await refusal('old', 'new')).toContain('is locked');
      expect(await refusal('new', 'old', '--dry-run')).toContain('is locked');
      await loyaltyJson(env, 'members', 'erase', 'third');
      expect(await refusal('third', 'new', '--dry-run')).toBe('member "third" was erased');
      expect(await refusal('new', 'third')).toBe('member "third" was erased');
    });

    test("refuses a year's sum beyond Int, in the dry run too, and the two can be merged later", async () => {
      const most = Array.from({ length: 3 }, (_, index) =>
        activity(`most-${index}`, index === 0 ? 'old' : 'new', 1_000_000_000),
      );
      await importLines('activities', most);
      expect(await refusal('old', 'new', '--dry-run')).toContain('range of Int');
      expect(await refusal('old', 'new')).toContain('range of Int');
      await withStores(async ({ standings }) => {
        expect(await standings.merges.begin('old', 'new')).toBe('out-of-range');
      });
      await importLines('activities', [activity('less', 'old', -1_000_000_000)]);
      expect((await merge('third', 'old')).at(-1)).toMatchObject({ state: 'merged' });
    });
  });
});
