// Standings by membership year, for partners and in profiles (docs/api.md, Standing).
import {
  BY_EMAIL,
  type Calls,
  ENROLL,
  NOON,
  PROFILE,
  type Read,
  startWithCalls,
} from '../support/service/calls.ts';
import { ENGINES, type InProcessService } from '../support/service/inprocess.ts';
import { activity, addPartner, type PartnerId } from '../support/service/testdata.ts';

const DAY_MS = 86_400_000;

describe.each(ENGINES)('on %s', (engine) => {
  let calls: Calls;
  let service: InProcessService;
  beforeAll(async () => {
    calls = await startWithCalls(engine);
    service = calls.service;
  });
  beforeEach(() => {
    calls.at.now = NOON;
  });
  afterAll(() => calls.service.close());

  describe('a standing', () => {
    /** A newly enrolled member. */
    async function member(partner: PartnerId) {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` }, partner);
      const earn = (points: number, at: Date, stays = 0) =>
        service.stores.standings.record([
          activity(`earned-${calls.freshName()}`, [partner, String(memberId), points, stays], at),
        ]);
      const standing = async () => {
        const read = await calls.byEmail(`${local}@example.com`, partner);
        return typeof read === 'string' ? read : [read.points, read.tier];
      };
      return { memberId: String(memberId), earn, standing };
    }

    test('is the sum of the activities and the highest tier that it reaches', async () => {
      const { earn, standing } = await member('alpha');
      expect(await standing()).toEqual([0, 'Blue']);
      for (const [points, sum, tier] of [
        [99, 99, 'Blue'],
        [1, 100, 'Silver'],
        [899, 999, 'Silver'],
        [5_000, 5_999, 'Gold'],
        [-5_999, 0, 'Blue'],
        [-10, -10, 'Blue'],
      ] as const) {
        await earn(points, NOON);
        expect(await standing()).toEqual([sum, tier]);
      }
    });

    test('below the points of the lowest tier has the lowest tier', async () => {
      const { earn, standing } = await member('beta');
      expect(await standing()).toEqual([0, 'Plus']);
      await earn(-1, NOON);
      expect(await standing()).toEqual([-1, 'Plus']);
    });

    test('counts activities from before the enrollment, and each id once', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` }, 'alpha');
      const early = activity(`early-${local}`, ['beta', String(memberId), 60, 1], NOON);
      expect(await service.stores.standings.record([early])).toEqual(['recorded']);
      expect(await service.stores.standings.record([early, { ...early, points: 61 }])).toEqual([
        'already-recorded',
        'conflict',
      ]);
      expect(await calls.enroll({ email: `${local}@example.com` }, 'beta')).toMatchObject({
        points: 60,
        tier: 'Plus',
      });
    });

    // The first instant of a membership year is midnight in the program's time zone.
    const BORDERS: [partner: PartnerId, first: string][] = [
      ['alpha', '2026-01-01T00:00:00.000Z'],
      ['beta', '2026-06-30T12:00:00.000Z'],
      ['gamma', '2026-01-01T00:00:00.000Z'],
    ];

    test.each(BORDERS)(
      'of %s starts again at the first instant of the membership year',
      async (partner, first) => {
        const start = new Date(first).getTime();
        const { earn, standing } = await member(partner);
        const nextYear = new Date(first).setUTCFullYear(2027);
        await earn(1, new Date(start - 1));
        await earn(10, new Date(start));
        await earn(100, new Date(nextYear - 1));
        await earn(1_000, new Date(nextYear));
        const points = async (at: number) => {
          calls.at.now = new Date(at);
          return (await standing())[0];
        };
        expect(await points(start - 1)).toBe(1);
        expect(await points(start)).toBe(110);
        expect(await points(nextYear - 1)).toBe(110);
        expect(await points(nextYear)).toBe(1_000);
        expect(await points(nextYear + 366 * DAY_MS)).toBe(0);
      },
    );

    test('starts at the first instant of the day if the clocks skip midnight', async () => {
      // In Asunción the clocks went from 00:00 to 01:00 on 2023-10-01, which was 04:00 in UTC.
      const partnerId = `skipping-${calls.freshName()}`;
      const program = {
        membershipYear: { start: '10-01', timeZone: 'America/Asuncion' },
        tiers: [{ name: 'Only', points: 0 }],
      };
      const key = await addPartner(service.stores.keys, { partnerId });
      await service.stores.standings.putProgram(partnerId, program);
      const email = `${calls.freshName()}@example.com`;
      const enrolled = await calls.execute<{ member: Read }>(ENROLL, { input: { email } }, { key });
      const { memberId } = typeof enrolled === 'string' ? { memberId: '' } : enrolled.member;
      for (const [points, at, year] of [
        [1, '2023-10-01T03:59:59.999Z', '2022-10-01'],
        [10, '2023-10-01T04:00:00.000Z', '2023-10-01'],
      ] as const) {
        const occurredAt = new Date(at);
        const activityId = `${partnerId}-${points}`;
        await service.stores.standings.record([
          { activityId, partnerId, memberId, points, stays: 0, occurredAt, year },
        ]);
        calls.at.now = occurredAt;
        expect(await calls.execute(BY_EMAIL, { email }, { key })).toMatchObject({ points });
      }
    });

    test('without a program uses the calendar year in UTC and the single tier MEMBER', async () => {
      expect(await calls.byEmail('ended@example.com', 'gamma')).toMatchObject({
        points: 9,
        tier: 'MEMBER',
      });
    });

    test('of a page of 100 is read with one call for all of the members', async () => {
      const query = `query ($keys: [MemberKey!]!) { read: memberLookups(keys: $keys) { member { points } } }`;
      const keys = Array.from({ length: 100 }, () => ({ email: 'both@example.com' }));
      service.calls.length = 0;
      const page = await calls.execute<{ member: Read }[]>(query, { keys });
      expect(page).toEqual(keys.map(() => ({ member: { points: 250 } })));
      expect(service.calls.filter((call) => call.startsWith('members.'))).toEqual([
        'members.lookUp',
      ]);
      expect(service.calls.filter((call) => call === 'standings.standing')).toHaveLength(100);
    });
  });

  describe('a member', () => {
    const profile = async (memberId: string, claims = {}, id = memberId) =>
      calls.execute<Record<string, unknown>>(
        PROFILE,
        { id },
        { token: await service.provider.issue(memberId, claims) },
      );

    test('reads their own profile: names, totals, and the standing with each partner', async () => {
      expect(await profile('m-both')).toEqual({
        memberId: 'm-both',
        email: 'Both@Example.com',
        firstName: 'Teal',
        lastName: 'Heron',
        membershipYearStats: { akinPoints: 950, totalStays: 3 },
        partnerStandings: [
          { partnerId: 'alpha', tier: 'Silver', points: 250 },
          { partnerId: 'beta', tier: 'Prime', points: 700 },
        ],
      });
    });

    test('sees nothing of a partner with whom the enrollment has ended', async () => {
      expect(await profile('m-ended')).toMatchObject({
        membershipYearStats: { akinPoints: 9, totalStays: 1 },
        partnerStandings: [{ partnerId: 'gamma', tier: 'MEMBER', points: 9 }],
      });
    });

    test('without enrollments has zeros and no standings', async () => {
      expect(await profile('m-nobody')).toMatchObject({
        membershipYearStats: { akinPoints: 0, totalStays: 0 },
        partnerStandings: [],
      });
    });

    test('sees only one partner, in the totals too, with a token that the partner exchanged', async () => {
      expect(await profile('m-both', { azp: 'beta' })).toMatchObject({
        membershipYearStats: { akinPoints: 700, totalStays: 1 },
        partnerStandings: [{ partnerId: 'beta', tier: 'Prime', points: 700 }],
      });
      expect(await profile('m-alpha', { azp: 'beta' })).toMatchObject({
        membershipYearStats: { akinPoints: 0 },
        partnerStandings: [],
      });
    });

    test('gets the same bytes for any other profile, known or not', async () => {
      const token = await service.provider.issue('m-both');
      const responses: string[] = [];
      for (const id of ['m-alpha', 'm-unknown', 'M-BOTH', 'm-both ​', '__proto__']) {
        const { text } = await service.send({
          query: PROFILE,
          variables: { id },
          token,
          requestId: 'r',
        });
        responses.push(text);
      }
      expect(new Set(responses).size).toBe(1);
      expect(responses[0]).toContain('MEMBER_NOT_FOUND');
    });

    test('is not found if the token names an unknown member', async () => {
      expect(await profile('m-unknown')).toBe('MEMBER_NOT_FOUND');
    });

    test('and a partner cannot read from each other’s surface', async () => {
      expect(await profile('m-both', {}, 'm-both')).toMatchObject({ memberId: 'm-both' });
      expect(await calls.execute(PROFILE, { id: 'm-both' }, calls.as('alpha'))).toBe(
        'GRAPHQL_VALIDATION_FAILED',
      );
      expect(
        await calls.execute(
          BY_EMAIL,
          { email: 'both@example.com' },
          { token: await service.provider.issue('m-both') },
        ),
      ).toBe('GRAPHQL_VALIDATION_FAILED');
    });
  });
});
