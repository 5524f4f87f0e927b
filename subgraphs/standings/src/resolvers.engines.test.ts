// What the standings subgraph answers, on each engine.
import {
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

const READ =
  'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PartnerMemberRead { tier points } } }';
const PROFILE = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on MemberProfile {
  membershipYearStats { akinPoints totalStays } partnerStandings { partnerId tier points } } } }`;

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
  /** What was read of the store. */
  let asked: string[];

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
    asked = [];
    const watched: StandingsStore = {
      ...store,
      program: (partnerId) => {
        asked.push(`program ${partnerId}`);
        return store.program(partnerId);
      },
      standing: (...key) => {
        asked.push(`standing ${key.join(' ')}`);
        return store.standing(...key);
      },
    };
    execute = createExecutor(
      createStandings(watched, () => now),
      createLog('silent'),
    );
  });
  afterAll(() => place.release());

  describe('a partner’s read', () => {
    test('has tier and points with the calling partner, in the current membership year', async () => {
      expect(await entities(ask(READ, reads('ada'), inn))).toEqual([{ tier: 'Basic', points: 35 }]);
      expect(await entities(ask(READ, reads('ada'), spa))).toEqual([
        { tier: 'MEMBER', points: 7_000 },
      ]);
    });

    test('changes at the midnight, in the program’s time zone, in which the year begins', async () => {
      now = new Date('2026-06-30T11:59:59.999Z');
      expect(await entities(ask(READ, reads('ada'), inn))).toEqual([{ tier: 'Plus', points: 150 }]);
      now = new Date('2026-06-30T12:00:00Z');
      expect(await entities(ask(READ, reads('ada'), inn))).toEqual([{ tier: 'Basic', points: 35 }]);
    });

    test('has 0 points and the lowest tier without activity, and the lowest tier for a negative sum', async () => {
      expect(await entities(ask(READ, reads('nobody', 'bob'), inn))).toEqual([
        { tier: 'Basic', points: 0 },
        { tier: 'Basic', points: -50 },
      ]);
    });

    test('reads the standing once for tier and points, and nothing where neither is asked for', async () => {
      await ask(READ, reads('ada'), inn);
      expect(asked).toEqual(['program inn', 'standing inn ada 2026-07-01']);
      asked = [];
      const bare =
        'query ($r: [_Any!]!) { _entities(representations: $r) { __typename ... on PartnerMemberRead { memberId } } }';
      expect(await entities(ask(bare, reads('ada'), inn))).toEqual([
        { __typename: 'PartnerMemberRead', memberId: 'ada' },
      ]);
      expect(asked).toEqual([]);
    });

    test('many members in one request each have their own', async () => {
      const members = ['ada', 'nobody', 'bob', 'ada'];
      const points =
        'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PartnerMemberRead { points } } }';
      expect(await entities(ask(points, reads(...members), inn))).toEqual([
        { points: 35 },
        { points: 0 },
        { points: -50 },
        { points: 35 },
      ]);
    });

    test('requests of one turn on behalf of different partners never see each other’s', async () => {
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
      ['the gateway itself', { kind: 'service' }],
    ])('is refused on behalf of %s, who has no partner', async (_, scope) => {
      const { data, errors } = await ask(READ, reads('ada'), scope);
      expect(data?._entities).toEqual([null]);
      expect(errors?.map(({ extensions }) => extensions.code)).toContain('INTERNAL_SERVER_ERROR');
      expect(asked).toEqual([]);
    });
  });

  describe('a member’s profile', () => {
    test('has the standing with each partner where the member is active, and their sums', async () => {
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
      expect(asked.filter((one) => one.startsWith('standing'))).toHaveLength(3);
    });

    test('leaves out a partner where the member is not active any more', async () => {
      expect(await entities(ask(PROFILE, profile('spa'), ada))).toMatchObject([
        { membershipYearStats: { akinPoints: 7_000 } },
      ]);
    });

    test('without an active enrollment it is empty', async () => {
      const empty = { membershipYearStats: { akinPoints: 0, totalStays: 0 }, partnerStandings: [] };
      expect(await entities(ask(PROFILE, profile(), ada))).toEqual([empty]);
    });

    test('shows a partner that holds the token its own standing alone, in the totals too', async () => {
      const held: Scope = { kind: 'member', memberId: 'ada', partnerId: 'inn' };
      expect(await entities(ask(PROFILE, profile('inn', 'spa'), held))).toEqual([
        {
          membershipYearStats: { akinPoints: 35, totalStays: 1 },
          partnerStandings: [{ partnerId: 'inn', tier: 'Basic', points: 35 }],
        },
      ]);
      expect(asked).not.toContain('program spa');
    });

    test('has totals that stop at the ends of Int', async () => {
      expect(await entities(ask(PROFILE, profile('big-1', 'big-2'), ada))).toMatchObject([
        { membershipYearStats: { akinPoints: 2_147_483_647, totalStays: -2_147_483_648 } },
      ]);
    });

    test.each<[string, Scope]>([
      ['another member', { kind: 'member', memberId: 'bob' }],
      ['a partner', inn],
      ['the gateway itself', { kind: 'service' }],
    ])('is refused on behalf of %s', async (_, scope) => {
      const { data, errors } = await ask(PROFILE, profile('inn'), scope);
      expect(data?._entities).toEqual([null]);
      expect(errors?.map(({ extensions }) => extensions.code)).toContain('INTERNAL_SERVER_ERROR');
      expect(asked).toEqual([]);
    });
  });

  if (engine === 'lmdb') {
    test('the embedded store’s answers come without a promise', () => {
      // The first use of an operation is executed by graphql-js, later ones by graphql-jit.
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
