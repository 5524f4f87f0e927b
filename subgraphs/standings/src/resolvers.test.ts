// What the standings subgraph answers.

import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import type { Execute } from '@partner-loyalty/runtime/transport/deadline.ts';
import type { Caller, SubgraphResponse } from '@partner-loyalty/runtime/transport/types.ts';
import { activity, newPlace, type Place } from '../test/engine.ts';
import { createStandings } from './index.ts';
import type { Program } from './rules/program.ts';
import type { StandingsStore } from './store/store.ts';

const INN: Program = {
  membershipYear: { start: '07-01', timeZone: 'Pacific/Auckland' },
  tiers: [
    { name: 'Basic', points: 0 },
    { name: 'Plus', points: 100 },
  ],
};
/** The same, but tiers hold to the end of the next year. */
const CLUB: Program = { ...INN, tierValidity: 'nextYear' };
const BILLION = 1_000_000_000;
const inn: Caller = { kind: 'partner', partnerId: 'inn' };
const club: Caller = { kind: 'partner', partnerId: 'club' };
const spa: Caller = { kind: 'partner', partnerId: 'spa' };
const ada: Caller = { kind: 'member', memberId: 'ada' };

const entitiesQuery = (selection: string) =>
  `query ($r: [_Any!]!) { _entities(representations: $r) { ${selection} } }`;
const READ = entitiesQuery('... on PartnerMemberRead { tier points }');
const PROFILE = entitiesQuery(`... on MemberProfile {
  membershipYearStats { akinPoints totalStays } partnerStandings { partnerId tier points } }`);

const reads = (...memberIds: string[]) =>
  memberIds.map((memberId) => ({ __typename: 'PartnerMemberRead', memberId }));
const profile = (...activePartnerIds: string[]) => [
  { __typename: 'MemberProfile', memberId: 'ada', activePartnerIds },
];

describe('the standings subgraph', () => {
  let place: Place;
  let store: StandingsStore;
  let now: Date;
  let execute: Execute;
  /** The reads of the store, in their order. */
  let storeReads: string[];
  let warned: unknown[];

  const ask = (query: string, r: unknown[], caller: Caller) =>
    execute({ query, variables: { r }, caller, requestId: 'request' });
  const entities = async (reply: SubgraphResponse | Promise<SubgraphResponse>) =>
    (await reply).data?._entities;

  beforeAll(async () => {
    place = newPlace();
    store = await place.open();
    await store.putProgram('inn', INN);
    await store.putProgram('club', CLUB);
    const inYear = (id: string, points: number, year: string, stays = 1) =>
      activity(id, points, { year, stays, occurredAt: new Date(`${year}T12:00:00Z`) });
    await store.record([
      inYear('inn-1', 150, '2025-07-01'),
      inYear('inn-2', 40, '2026-07-01', 2),
      inYear('inn-3', -5, '2026-07-01', -1),
      { ...inYear('inn-4', -50, '2026-07-01'), memberId: 'bob' },
      { ...inYear('spa-1', 7_000, '2026-01-01', 3), partnerId: 'spa' },
      { ...inYear('club-1', 150, '2025-07-01', 3), partnerId: 'club' },
      { ...inYear('club-2', 40, '2026-07-01', 2), partnerId: 'club' },
      { ...inYear('club-3', 100, '2026-07-01'), partnerId: 'club', memberId: 'eve' },
      { ...inYear('club-4', -7, '2026-07-01'), partnerId: 'club', memberId: 'bob' },
      ...['big-1', 'big-2'].flatMap((partnerId) =>
        [1, 2].map((part) => ({
          ...inYear(`${partnerId}-${part}`, BILLION, '2026-01-01', -BILLION),
          partnerId,
        })),
      ),
    ]);
  });
  beforeEach(() => {
    now = new Date('2026-08-01T00:00:00Z');
    storeReads = [];
    warned = [];
    const log = { warn: (...line: unknown[]) => void warned.push(line) };
    const watched: StandingsStore = {
      ...store,
      program: (partnerId) => {
        storeReads.push(`program ${partnerId}`);
        return store.program(partnerId);
      },
      standing: (...key) => {
        storeReads.push(`standing ${key.join(' ')}`);
        return store.standing(...key);
      },
    };
    execute = createExecutor(
      createStandings(watched, { now: () => now, log }),
      createLog('silent'),
      createCaches(),
    );
  });
  afterAll(() => place.release());

  describe('PartnerMemberRead', () => {
    test('has tier and points with the calling partner in the current year', async () => {
      expect(await entities(ask(READ, reads('ada'), inn))).toEqual([{ tier: 'Basic', points: 35 }]);
      expect(await entities(ask(READ, reads('ada'), spa))).toEqual([
        { tier: 'MEMBER', points: 7_000 },
      ]);
    });

    test('changes at midnight in the program’s time zone, when the year begins', async () => {
      now = new Date('2026-06-30T11:59:59.999Z');
      expect(await entities(ask(READ, reads('ada'), inn))).toEqual([{ tier: 'Plus', points: 150 }]);
      now = new Date('2026-06-30T12:00:00Z');
      expect(await entities(ask(READ, reads('ada'), inn))).toEqual([{ tier: 'Basic', points: 35 }]);
    });

    test('never shows a partner the values of another one in the same tick', async () => {
      const scopes = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? spa : inn));
      const answers = await Promise.all(
        scopes.map((caller) => entities(ask(READ, reads('ada', 'bob'), caller))),
      );
      const expected = { inn: [35, -50], spa: [7_000, 0] };
      expect(answers).toMatchObject(
        scopes.map((caller) =>
          expected[caller === spa ? 'spa' : 'inn'].map((points) => ({ points })),
        ),
      );
    });
  });

  describe('MemberProfile', () => {
    test('has the standing with each active partner, and their sums', async () => {
      expect(await entities(ask(PROFILE, profile('inn', 'spa', 'rail'), ada))).toEqual([
        {
          membershipYearStats: { akinPoints: 7_035, totalStays: 4 },
          partnerStandings: [
            { partnerId: 'inn', tier: 'Basic', points: 35 },
            { partnerId: 'spa', tier: 'MEMBER', points: 7_000 },
            { partnerId: 'rail', tier: 'MEMBER', points: 0 },
          ],
        },
      ]);
      expect(storeReads.filter((one) => one.startsWith('standing'))).toHaveLength(3);
    });

    test('shows a partner that holds the token only its standing, even in totals', async () => {
      const held: Caller = { kind: 'member', memberId: 'ada', partnerId: 'inn' };
      expect(await entities(ask(PROFILE, profile('inn', 'spa'), held))).toEqual([
        {
          membershipYearStats: { akinPoints: 35, totalStays: 1 },
          partnerStandings: [{ partnerId: 'inn', tier: 'Basic', points: 35 }],
        },
      ]);
      expect(storeReads).not.toContain('program spa');
    });

    test('has totals that are clamped to Int', async () => {
      expect(await entities(ask(PROFILE, profile('big-1', 'big-2'), ada))).toMatchObject([
        { membershipYearStats: { akinPoints: 2_147_483_647, totalStays: -2_147_483_648 } },
      ]);
    });
  });

  const STANDING = `partnerId tier points stays nextTier pointsToNextTier yearStart yearEnd asOf`;

  describe('a standing', () => {
    test('has the next tier and the bounds of the year', async () => {
      const query = entitiesQuery(`... on PartnerMemberRead { standing { ${STANDING} } }`);
      expect(await entities(ask(query, reads('ada', 'bob'), inn))).toEqual(
        [
          { points: 35, stays: 1, pointsToNextTier: 65 },
          { points: -50, stays: 1, pointsToNextTier: 150 },
        ].map((own) => ({
          standing: {
            partnerId: 'inn',
            tier: 'Basic',
            nextTier: 'Plus',
            yearStart: '2026-06-30T12:00:00.000Z',
            yearEnd: '2027-06-30T12:00:00.000Z',
            asOf: '2026-08-01T00:00:00.000Z',
            ...own,
          },
        })),
      );
    });

    test('of a profile is there for each active partner that the token shows', async () => {
      const query = entitiesQuery('... on MemberProfile { standings { partnerId points } }');
      const shown = async (caller: Caller) => entities(ask(query, profile('inn', 'spa'), caller));
      const [of, spaOnly] = [await shown(ada), await shown({ ...ada, partnerId: 'spa' })];
      const standings = [35, 7_000].map((points, at) => ({
        partnerId: ['inn', 'spa'][at],
        points,
      }));
      expect([of, spaOnly]).toEqual([[{ standings }], [{ standings: standings.slice(1) }]]);
    });
  });

  describe('a tier that holds to the end of the next year', () => {
    const TIER = 'tier points tierFrom tierValidUntil nextTier pointsToNextTier';
    const query = entitiesQuery(`... on PartnerMemberRead { standing { ${TIER} } }`);
    const standingsAt = async (at: string, caller: Caller, ...memberIds: string[]) => {
      now = new Date(at);
      const found = (await entities(ask(query, reads(...memberIds), caller))) as {
        standing: unknown;
      }[];
      return found.map(({ standing }) => standing);
    };
    const [START_2025, START_2027] = [2025, 2027].map((year) => `${year}-06-30T12:00:00.000Z`);

    test('is the higher of those that this and last year’s points reach', async () => {
      const earned = { tier: 'Plus', tierFrom: START_2025, tierValidUntil: START_2027 };
      const top = { nextTier: null, pointsToNextTier: null };
      // Midnight in Auckland, when the next membership year begins.
      expect(await standingsAt('2026-06-30T12:00:00Z', club, 'ada')).toEqual([
        { ...earned, ...top, points: 40 },
      ]);
      expect(await standingsAt('2027-06-30T11:59:59.999Z', club, 'ada')).toEqual([
        { ...earned, ...top, points: 40 },
      ]);
      expect(await standingsAt('2027-06-30T12:00:00Z', club, 'ada')).toEqual([
        {
          tier: 'Basic',
          points: 0,
          tierFrom: START_2027,
          tierValidUntil: '2029-06-30T12:00:00.000Z',
          nextTier: 'Plus',
          pointsToNextTier: 100,
        },
      ]);
    });
  });

  describe('the year before', () => {
    const YEARS = `points previousYear { tier points stays yearStart yearEnd }`;
    const query = entitiesQuery(`... on PartnerMemberRead { tier standing { ${YEARS} } }`);

    test('has what its points alone reached, or is null without activity in it', async () => {
      const previousYear = {
        tier: 'Plus',
        points: 150,
        yearStart: '2025-06-30T12:00:00.000Z',
        yearEnd: '2026-06-30T12:00:00.000Z',
      };
      expect(await entities(ask(query, reads('ada', 'bob'), inn))).toEqual([
        { tier: 'Basic', standing: { points: 35, previousYear: { ...previousYear, stays: 1 } } },
        { tier: 'Basic', standing: { points: -50, previousYear: null } },
      ]);
      now = new Date('2027-08-01T00:00:00Z');
      expect(await entities(ask(query, reads('ada'), club))).toMatchObject([
        { tier: 'Basic', standing: { points: 0, previousYear: { tier: 'Basic', points: 40 } } },
      ]);
    });

    test('has no activity if it was recorded by a year with another first day', async () => {
      await store.record([
        activity('moved', 500, {
          partnerId: 'moved',
          year: '2025-01-01',
          occurredAt: new Date('2025-09-01T00:00:00Z'),
        }),
      ]);
      await store.putProgram('moved', CLUB);
      const caller: Caller = { kind: 'partner', partnerId: 'moved' };
      expect(await entities(ask(query, reads('ada'), caller))).toEqual([
        { tier: 'Basic', standing: { points: 0, previousYear: null } },
      ]);
    });
  });

  describe('program', () => {
    const query = '{ program { membershipYearStart timeZone tierValidity tiers { name points } } }';
    const programFor = async (caller: Caller) =>
      (await execute({ query, caller, requestId: 'request' })).data?.program;

    test('is the calling partner’s membership year and tiers', async () => {
      const year = { membershipYearStart: '07-01', timeZone: 'Pacific/Auckland' };
      expect(await programFor(inn)).toEqual({ ...year, tierValidity: 'YEAR', tiers: INN.tiers });
      expect(await programFor(club)).toEqual({
        ...year,
        tierValidity: 'NEXT_YEAR',
        tiers: INN.tiers,
      });
    });

    test('is the default program if the partner has none', async () => {
      expect(await programFor(spa)).toEqual({
        membershipYearStart: '01-01',
        timeZone: 'UTC',
        tierValidity: 'YEAR',
        tiers: [{ name: 'MEMBER', points: 0 }],
      });
    });
  });

  describe('activities', () => {
    type Page = {
      edges: { node: { activityId: string }; cursor: string }[];
      pageInfo: {
        hasNextPage: boolean;
        hasPreviousPage: boolean;
        startCursor: string;
        endCursor: string;
      };
    };
    const EDGES = `edges { node { activityId partnerId points stays occurredAt membershipYear } cursor }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`;
    const query = (type: string) =>
      `query ($r: [_Any!]!, $first: Int, $after: String) { _entities(representations: $r) {
        ... on ${type} { activities(first: $first, after: $after) { ${EDGES} } } } }`;
    const pageOf = async (
      caller: Caller,
      r: unknown[],
      page: { first?: number; after?: string },
    ) => {
      const type = caller.kind === 'partner' ? 'PartnerMemberRead' : 'MemberProfile';
      const reply = await execute({
        query: query(type),
        variables: { r, ...page },
        caller,
        requestId: 'r',
      });
      const [entity] = (reply.data?._entities ?? []) as ({ activities: Page } | null)[];
      return { page: entity?.activities, errors: reply.errors };
    };
    const idsIn = (page: Page | undefined) => page?.edges.map(({ node }) => node.activityId);
    /** The IDs of all pages, each of `first`. */
    const walk = async (caller: Caller, r: unknown[], first: number, between = async () => {}) => {
      const ids: (string[] | undefined)[] = [];
      for (let after: string | undefined; ; ) {
        const { page, errors } = await pageOf(caller, r, { first, ...(after && { after }) });
        expect(errors).toBeUndefined();
        ids.push(idsIn(page));
        expect(page?.pageInfo.hasPreviousPage).toBe(after !== undefined);
        if (!page?.pageInfo.hasNextPage) return ids;
        after = page.pageInfo.endCursor;
        await between();
      }
    };
    const carl: Caller = { kind: 'member', memberId: 'carl' };
    const ofCarl = (...activePartnerIds: string[]) => [
      { __typename: 'MemberProfile', memberId: 'carl', activePartnerIds },
    ];

    beforeAll(async () => {
      const at = (id: string, partnerId: string, occurredAt: string) =>
        activity(id, 5, { memberId: 'carl', partnerId, occurredAt: new Date(occurredAt) });
      await store.record([
        at('i-1', 'inn', '2024-02-03T00:00:00Z'),
        at('i-2', 'inn', '2026-07-05T00:00:00Z'),
        at('i-4', 'inn', '2026-07-05T00:00:00Z'),
        at('i-3', 'inn', '2026-07-05T00:00:00Z'),
        at('s-1', 'spa', '2026-07-05T00:00:00Z'),
        at('s-2', 'spa', '2026-07-06T00:00:00Z'),
        at('b-1', 'bar', '2026-07-05T00:00:00Z'),
        ...Array.from({ length: 3 }, (_, n) =>
          at(`o-${n}`, 'other', `2026-07-0${n + 4}T00:00:00Z`),
        ),
      ]);
    });

    test('are newest first, of this and earlier years, with the calling partner alone', async () => {
      const { page } = await pageOf(inn, reads('carl'), {});
      expect(idsIn(page)).toEqual(['i-4', 'i-3', 'i-2', 'i-1']);
      expect(page?.edges.at(-1)?.node).toEqual({
        activityId: 'i-1',
        partnerId: 'inn',
        points: 5,
        stays: 0,
        occurredAt: '2024-02-03T00:00:00.000Z',
        membershipYear: '2023-07-01',
      });
      expect(page?.pageInfo).toEqual({
        hasNextPage: false,
        hasPreviousPage: false,
        startCursor: page?.edges[0]?.cursor,
        endCursor: page?.edges.at(-1)?.cursor,
      });
    });

    test('come in pages of any size, each activity once', async () => {
      expect(await walk(inn, reads('carl'), 1)).toEqual([['i-4'], ['i-3'], ['i-2'], ['i-1']]);
      expect(await walk(inn, reads('carl'), 3)).toEqual([['i-4', 'i-3', 'i-2'], ['i-1']]);
      expect(await walk(inn, reads('nobody'), 2)).toEqual([[]]);
    });

    test('of a profile are merged over the active partners that the token shows', async () => {
      const all = ['s-2', 's-1', 'i-4', 'i-3', 'i-2', 'b-1', 'i-1'];
      const partners = ofCarl('inn', 'spa', 'bar');
      for (const first of [1, 2, 3, 100])
        expect((await walk(carl, partners, first)).flat()).toEqual(all);
      expect((await walk({ ...carl, partnerId: 'spa' }, partners, 1)).flat()).toEqual([
        's-2',
        's-1',
      ]);
      expect((await walk(carl, ofCarl('bar'), 2)).flat()).toEqual(['b-1']);
    });

    test('stay in their places while others arrive', async () => {
      const arriving = (n: number, occurredAt: string) =>
        activity(`late-${n}`, 1, { memberId: 'dora', occurredAt: new Date(occurredAt) });
      await store.record(
        Array.from({ length: 5 }, (_, n) => arriving(n, `2026-07-1${n}T00:00:00Z`)),
      );
      let n = 5;
      const pages = await walk(inn, reads('dora'), 2, async () => {
        // One before all that was read, one at the very end.
        await store.record([
          arriving(n++, '2026-07-20T00:00:00Z'),
          arriving(n++, '2026-07-01T00:00:00Z'),
        ]);
      });
      expect(pages.flat().slice(0, 5)).toEqual([4, 3, 2, 1, 0].map((one) => `late-${one}`));
      expect(new Set(pages.flat()).size).toBe(pages.flat().length);
    });

    test('refuse a cursor of another partner, member or kind of token', async () => {
      const { page } = await pageOf(inn, reads('carl'), { first: 1 });
      const after = page?.pageInfo.endCursor ?? '';
      expect(idsIn((await pageOf(inn, reads('carl'), { after })).page)).toEqual([
        'i-3',
        'i-2',
        'i-1',
      ]);
      for (const [caller, r, given] of [
        [spa, reads('carl'), after],
        [inn, reads('ada'), after],
        [carl, ofCarl('inn'), after],
        [{ ...carl, partnerId: 'inn' }, ofCarl('inn'), after],
        [inn, reads('carl'), ''],
      ] as const)
        expect(await pageOf(caller, [...r], { after: given })).toMatchObject({
          page: undefined,
          errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'after' } }],
        });
    });

    test('are 1 to 100 a page, and 2,000 an operation', async () => {
      for (const first of [0, -1, 101])
        expect((await pageOf(inn, reads('carl'), { first })).errors).toMatchObject([
          { extensions: { code: 'BAD_USER_INPUT', argument: 'first' } },
        ]);
      const many = (count: number) =>
        pageOf(inn, Array(count).fill(reads('carl')[0]), { first: 100 });
      expect((await many(20)).errors).toBeUndefined();
      expect((await many(21)).errors).toMatchObject([
        { extensions: { code: 'BAD_USER_INPUT', argument: 'first' } },
      ]);
    });

    test('of a profile count once for each partner that they are read of', async () => {
      const partners = (count: number) =>
        ofCarl('inn', ...Array.from({ length: count - 1 }, (_, n) => `partner-${n}`));
      const page = { first: 100 };
      expect((await pageOf(carl, partners(20), page)).errors).toBeUndefined();
      expect((await pageOf(carl, partners(21), page)).errors).toMatchObject([
        { extensions: { code: 'BAD_USER_INPUT', argument: 'first' } },
      ]);
      const held: Caller = { ...carl, partnerId: 'inn' };
      expect((await pageOf(held, partners(21), page)).errors).toBeUndefined();
    });
  });

  test('on the embedded store, resolving takes no promise', () => {
    // The first use prepares the operation.
    for (const _ of [1, 2, 3])
      expect(ask(READ, reads('ada', 'nobody'), inn)).toMatchObject({
        data: { _entities: [{ points: 35 }, { points: 0 }] },
      });
  });

  const RECORD = `mutation { recordActivities(activities: [
    { activityId: "r-1", memberId: "ada", points: 1, occurredAt: "2026-05-01T00:00:00Z" }]) { outcome } }`;
  const PROGRAM = '{ program { timeZone } }';
  const service: Caller = { kind: 'service' };

  test.each<[what: string, query: string, r: unknown[], callers: Caller[]]>([
    ['PartnerMemberRead', READ, reads('ada'), [ada, service]],
    ['MemberProfile', PROFILE, profile('inn'), [{ ...ada, memberId: 'bob' }, inn, service]],
    ['program', PROGRAM, [], [ada, service]],
    ['recordActivities', RECORD, [], [ada, service]],
  ])('%s is refused to other callers, and nothing is read', async (_, query, r, callers) => {
    for (const caller of callers) {
      const { errors } = await ask(query, r, caller);
      expect(errors?.map(({ extensions }) => extensions.code)).toContain('INTERNAL_SERVER_ERROR');
    }
    expect(storeReads).toEqual([]);
  });

  test('without a way to members, recordActivities is SERVICE_UNAVAILABLE and records nothing', async () => {
    for (let call = 0; call < 2; call += 1)
      expect(await ask(RECORD, [], inn)).toMatchObject({
        data: { recordActivities: null },
        errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
      });
    expect(warned).toEqual([
      [{ reason: 'MEMBERS_URL is not set' }, 'activities cannot be recorded by partners'],
    ]);
    expect(await store.latestActivities('inn', 'ada', 5)).not.toContainEqual(
      expect.objectContaining({ activityId: 'r-1' }),
    );
  });
});
