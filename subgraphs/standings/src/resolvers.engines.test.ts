// What the standings subgraph answers, on each engine.
import {
  createCaches,
  createExecutor,
  createLog,
  type Execute,
  type Scope,
  type SubgraphReply,
} from '@partner-loyalty/runtime';
import { activity, ENGINES, newPlace, type Place } from '../test/engine.ts';
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
const BILLION = 1_000_000_000;
const inn: Scope = { kind: 'partner', partnerId: 'inn' };
const spa: Scope = { kind: 'partner', partnerId: 'spa' };
const ada: Scope = { kind: 'member', memberId: 'ada' };

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

describe.each(ENGINES)('the standings subgraph on %s', (engine) => {
  let place: Place;
  let store: StandingsStore;
  let now: Date;
  let execute: Execute;
  /** The reads of the store, in their order. */
  let storeReads: string[];

  const ask = (query: string, r: unknown[], scope: Scope) =>
    execute({ query, variables: { r }, scope, requestId: 'request' });
  const entities = async (reply: SubgraphReply | Promise<SubgraphReply>) =>
    (await reply).data?._entities;

  beforeAll(async () => {
    place = newPlace(engine);
    store = await place.open();
    await store.putProgram('inn', INN);
    const inYear = (id: string, points: number, year: string, stays = 1) =>
      activity(id, points, { year, stays, occurredAt: new Date(`${year}T12:00:00Z`) });
    await store.record([
      inYear('inn-1', 150, '2025-07-01'),
      inYear('inn-2', 40, '2026-07-01', 2),
      inYear('inn-3', -5, '2026-07-01', -1),
      { ...inYear('inn-4', -50, '2026-07-01'), memberId: 'bob' },
      { ...inYear('spa-1', 7_000, '2026-01-01', 3), partnerId: 'spa' },
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
      createStandings(watched, () => now),
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

    test('has the lowest tier without activity and for a negative sum', async () => {
      expect(await entities(ask(READ, reads('nobody', 'bob'), inn))).toEqual([
        { tier: 'Basic', points: 0 },
        { tier: 'Basic', points: -50 },
      ]);
    });

    test('reads the standing once for tier and points, and not at all without them', async () => {
      await ask(READ, reads('ada'), inn);
      expect(storeReads).toEqual(['program inn', 'standing inn ada 2026-07-01']);
      storeReads = [];
      const bare = entitiesQuery('__typename ... on PartnerMemberRead { memberId }');
      expect(await entities(ask(bare, reads('ada'), inn))).toEqual([
        { __typename: 'PartnerMemberRead', memberId: 'ada' },
      ]);
      expect(storeReads).toEqual([]);
    });

    test('has the values of each of many members in one request', async () => {
      const members = ['ada', 'nobody', 'bob', 'ada'];
      const points = entitiesQuery('... on PartnerMemberRead { points }');
      expect(await entities(ask(points, reads(...members), inn))).toEqual([
        { points: 35 },
        { points: 0 },
        { points: -50 },
        { points: 35 },
      ]);
    });

    test('never shows a partner the values of another one in the same tick', async () => {
      const scopes = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? spa : inn));
      const answers = await Promise.all(
        scopes.map((scope) => entities(ask(READ, reads('ada', 'bob'), scope))),
      );
      const expected = { inn: [35, -50], spa: [7_000, 0] };
      expect(answers).toMatchObject(
        scopes.map((scope) =>
          expected[scope === spa ? 'spa' : 'inn'].map((points) => ({ points })),
        ),
      );
    });

    test.each<[string, Scope]>([
      ['a member', ada],
      ['the gateway', { kind: 'service' }],
    ])('is refused to %s, which has no partner', async (_, scope) => {
      const { data, errors } = await ask(READ, reads('ada'), scope);
      expect(data?._entities).toEqual([null]);
      expect(errors?.map(({ extensions }) => extensions.code)).toContain('INTERNAL_SERVER_ERROR');
      expect(storeReads).toEqual([]);
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

    test('leaves out a partner with which the member is no longer active', async () => {
      expect(await entities(ask(PROFILE, profile('spa'), ada))).toMatchObject([
        { membershipYearStats: { akinPoints: 7_000 } },
      ]);
    });

    test('is empty without an active enrollment', async () => {
      const empty = { membershipYearStats: { akinPoints: 0, totalStays: 0 }, partnerStandings: [] };
      expect(await entities(ask(PROFILE, profile(), ada))).toEqual([empty]);
    });

    test('shows a partner that holds the token only its standing, even in totals', async () => {
      const held: Scope = { kind: 'member', memberId: 'ada', partnerId: 'inn' };
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

    test.each<[string, Scope]>([
      ['another member', { kind: 'member', memberId: 'bob' }],
      ['a partner', inn],
      ['the gateway', { kind: 'service' }],
    ])('is refused to %s', async (_, scope) => {
      const { data, errors } = await ask(PROFILE, profile('inn'), scope);
      expect(data?._entities).toEqual([null]);
      expect(errors?.map(({ extensions }) => extensions.code)).toContain('INTERNAL_SERVER_ERROR');
      expect(storeReads).toEqual([]);
    });
  });

  if (engine === 'lmdb') {
    test('on the embedded store, resolving takes no promise', () => {
      // graphql-js executes an operation the first time, graphql-jit after that.
      for (const _ of [1, 2, 3]) {
        expect(ask(READ, reads('ada', 'nobody'), inn)).toMatchObject({
          data: { _entities: [{ points: 35 }, { points: 0 }] },
        });
        expect(ask(PROFILE, profile('inn'), ada)).toMatchObject({
          data: { _entities: [{ membershipYearStats: { akinPoints: 35 } }] },
        });
      }
    });
  }
});
