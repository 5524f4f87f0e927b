// Which members a partner finds and enrolls, and what it reads of them (docs/callers/members.md).
import { ENGINES } from '../support/engines.ts';
import {
  BY_EMAIL,
  BY_EXTERNAL_ID,
  type Calls,
  ENROLL,
  memberIdOf,
  NOON,
  PROFILE,
  type Read,
  startWithCalls,
} from '../support/service/calls.ts';
import type { InProcessService } from '../support/service/inprocess.ts';
import {
  activity,
  addKey,
  addPartner,
  address,
  type PartnerId,
} from '../support/service/testdata.ts';
import { listsAreSettled } from '../support/until.ts';

const DAY_MS = 86_400_000;

describe.each(ENGINES)('on %s', (engine) => {
  let calls: Calls;
  let service: InProcessService;
  beforeAll(async () => {
    calls = await startWithCalls(engine);
    service = calls.service;
    await listsAreSettled();
  });
  beforeEach(() => {
    calls.at.now = NOON;
  });
  afterAll(() => calls.service.close());

  describe('an email address', () => {
    test.each([
      ['in another case', 'BOTH@EXAMPLE.COM'],
      ['with spaces around it', '  both@example.com '],
      ['if it is an earlier one, in another case', 'Both.Earlier@EXAMPLE.net'],
    ])('resolves %s', async (_, email) => {
      expect(await calls.byEmail(email)).toMatchObject({
        memberId: 'm-both',
        email: 'Both@Example.com',
      });
    });

    test('resolves in both Unicode normal forms, and with its domain in Unicode or ASCII', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}-é@bücher.example` });
      expect(memberId).toEqual(expect.any(String));
      for (const email of [
        `${local}-e\u0301@bücher.example`,
        `${local}-é@xn--bcher-kva.example`,
        `${local}-É@BU\u0308CHER.example`,
        `${local}-é@XN--BCHER-KVA.EXAMPLE`,
      ]) {
        expect(memberIdOf(await calls.byEmail(email))).toBe(memberId);
      }
    });

    test('is not folded further: dots and tags distinguish addresses', async () => {
      const [one, other] = [calls.freshName(), calls.freshName()];
      await calls.enroll({ email: `${one}.${other}@example.com` });
      for (const local of [
        `${one}${other}`,
        `${one}.${other}+tag`,
        `${one}..${other}`,
        `"${one}.${other}"`,
      ]) {
        expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      }
    });

    test('is shown as it was typed, without the spaces around it', async () => {
      const local = calls.freshName();
      await calls.enroll({ email: ` Typed.${local}@Example.COM ` });
      expect(await calls.byEmail(`typed.${local}@example.com`)).toMatchObject({
        email: `Typed.${local}@Example.COM`,
      });
    });

    test('leads to the same member in every spelling that enrolls it', async () => {
      const local = calls.freshName();
      const first = await calls.enroll({ email: `${local}@example.com` });
      expect(await calls.enroll({ email: `${local.toUpperCase()}@Example.com` })).toEqual({
        ...first,
        created: false,
      });
      expect(await calls.enroll({ email: `${local}@example.com` }, 'beta')).toMatchObject({
        created: true,
        memberId: first.memberId,
      });
    });

    test('that a member had earlier finds that member on enrollment and remains an earlier one', async () => {
      const enrolled = await calls.enroll({ email: 'beta.earlier@example.com' }, 'gamma');
      expect(enrolled).toMatchObject({
        created: true,
        memberId: 'm-beta',
        email: 'beta.earlier@example.com',
      });
      expect(await calls.byEmail('beta.earlier@example.com', 'gamma')).toMatchObject({
        email: 'beta.earlier@example.com',
      });
      expect(await calls.byEmail('beta.only@example.com', 'gamma')).toBe('MEMBER_NOT_FOUND');
      expect(await calls.byEmail('beta.earlier@example.com', 'beta')).toMatchObject({
        email: 'beta.only@example.com',
      });
      await calls.end('m-beta', 'gamma');
    });

    test('that a member had earlier moves to another member who is imported with it, and leads only there', async () => {
      const [former, earlier, next] = [calls.freshName(), calls.freshName(), calls.freshName()];
      const enrollments = [{ partnerId: 'alpha' }];
      const members = [
        {
          memberId: former,
          address: address(`${former}@example.com`),
          previousAddresses: [address(`${earlier}@example.com`)],
          enrollments,
        },
        {
          memberId: next,
          address: address(`${earlier}@example.com`),
          previousAddresses: [],
          enrollments,
        },
      ];
      expect(await service.stores.members.importMembers(members)).toEqual(['added', 'added']);
      expect(memberIdOf(await calls.byEmail(`${earlier}@example.com`))).toBe(next);
      expect(memberIdOf(await calls.byEmail(`${former}@example.com`))).toBe(former);
    });
  });

  describe('an external ID', () => {
    test('belongs to one partner: the same string is another member with another partner', async () => {
      expect(memberIdOf(await calls.byExternalId('shared-1', 'alpha'))).toBe('m-both');
      expect(memberIdOf(await calls.byExternalId('shared-1', 'beta'))).toBe('m-beta');
      expect(await calls.byExternalId('shared-1', 'gamma')).toBe('MEMBER_NOT_FOUND');
    });

    test('is matched exactly, without the spaces around it', async () => {
      expect(memberIdOf(await calls.byExternalId(' shared-1 '))).toBe('m-both');
      for (const externalId of [
        'SHARED-1',
        'shared',
        'shared-1*',
        'shared%',
        '.*',
        'shared-1 x',
        '{"$gt":""}',
      ]) {
        expect(await calls.byExternalId(externalId)).toBe('MEMBER_NOT_FOUND');
      }
    });

    test('may be any text', async () => {
      for (const externalId of [
        'ü 漢字 😀',
        '$where',
        'a.b',
        '__proto__',
        'constructor',
        '"quoted"',
        '\\',
        'x'.repeat(255),
      ]) {
        const { memberId } = await calls.enroll({
          email: `${calls.freshName()}@example.com`,
          externalId,
        });
        expect(memberIdOf(await calls.byExternalId(externalId))).toBe(memberId);
      }
    });
  });

  describe('MEMBER_NOT_FOUND', () => {
    const LOOK_UPS: [reason: string, query: string, variables: Record<string, string>][] = [
      ['an unknown address', BY_EMAIL, { email: 'unknown@example.com' }],
      ['a member of another partner', BY_EMAIL, { email: 'beta.only@example.com' }],
      [
        'a member of another partner by an earlier address',
        BY_EMAIL,
        { email: 'beta.earlier@example.com' },
      ],
      ['an ended enrollment', BY_EMAIL, { email: 'ended@example.com' }],
      [
        'an ended enrollment by an earlier address',
        BY_EMAIL,
        { email: 'ended.earlier@example.com' },
      ],
      ['a member without enrollments', BY_EMAIL, { email: 'nobody@example.com' }],
      ['a string that is not an address', BY_EMAIL, { email: 'nobody' }],
      ['an unknown external ID', BY_EXTERNAL_ID, { externalId: 'unknown' }],
      ['an external ID of another partner', BY_EXTERNAL_ID, { externalId: 'beta-7' }],
    ];

    test('is the same response, byte for byte, whatever the reason', async () => {
      const responses: string[] = [];
      for (const [, query, variables] of LOOK_UPS) {
        const { status, text, headers } = await service.send({ query, variables, requestId: 'r' });
        responses.push(`${status} ${text} ${[...headers.keys()]}`);
      }
      expect(new Set(responses).size).toBe(1);
      expect(responses[0]).toContain('{"errors":[{"message":"member not found","path":["read"],');
    });

    test.each(LOOK_UPS)(
      'takes the same single store read and reads no standing: %s',
      async (_, query, variables) => {
        service.calls.length = 0;
        await service.send({ query, variables });
        expect(service.calls).toEqual([
          query === BY_EMAIL ? 'members.memberByEmail' : 'members.memberByExternalId',
        ]);
      },
    );

    test('of one aliased look-up does not affect the others', async () => {
      const query = `{ a: memberByEmail(email: "unknown@example.com") { tier } b: memberByEmail(email: "both@example.com") { tier } }`;
      const { body } = await service.send({ query });
      expect(body.data).toEqual({ a: null, b: { tier: 'Silver' } });
      expect(body.errors?.map(({ path }) => path)).toEqual([['a']]);
    });
  });

  test('a look-up reads one member and one standing', async () => {
    service.calls.length = 0;
    await calls.byEmail('both@example.com');
    expect(service.calls.sort()).toEqual([
      'members.memberByEmail',
      'standings.program',
      'standings.standing',
    ]);
  });

  test('each key of a partner reads the same as soon as it is created', async () => {
    const read = await calls.byEmail('both@example.com');
    const key = await addKey(service.stores.keys, 'alpha');
    expect(await calls.execute(BY_EMAIL, { email: 'both@example.com' }, { key })).toEqual(read);
  });

  describe('enrolling', () => {
    test('creates a member with names, without points, in the lowest tier', async () => {
      const local = calls.freshName();
      const input = {
        email: `${local}@example.com`,
        externalId: `x-${local}`,
        firstName: ' Lilac ',
        lastName: 'Dunlin',
      };
      const { created, ...member } = await calls.enroll(input, 'beta');
      expect(created).toBe(true);
      expect(member).toEqual({
        memberId: expect.stringMatching(/^\S{8,}$/),
        email: input.email,
        firstName: 'Lilac',
        lastName: 'Dunlin',
        tier: 'Plus',
        points: 0,
      });
      expect(await calls.byEmail(input.email, 'beta')).toEqual(member);
      expect(await calls.byExternalId(input.externalId, 'beta')).toEqual(member);
    });

    test('a member again, with the same external ID or without one, changes nothing', async () => {
      const local = calls.freshName();
      const first = await calls.enroll({
        email: `${local}@example.com`,
        externalId: `x-${local}`,
        firstName: 'Lilac',
      });
      const again = { ...first, created: false };
      expect(
        await calls.enroll({
          email: `${local}@example.com`,
          externalId: `x-${local}`,
          firstName: 'Other',
        }),
      ).toEqual(again);
      expect(await calls.enroll({ email: `${local}@example.com`, firstName: 'Other' })).toEqual(
        again,
      );
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: null, firstName: null }),
      ).toEqual(again);
      expect(memberIdOf(await calls.byExternalId(`x-${local}`))).toBe(first.memberId);
    });

    test('fills in a name that was missing', async () => {
      const email = `${calls.freshName()}@example.com`;
      await calls.enroll({ email });
      expect(await calls.enroll({ email, lastName: 'Lilac' })).toMatchObject({
        created: false,
        lastName: 'Lilac',
      });
    });

    test('an existing member shows what this partner wrote, and changes for no other', async () => {
      const enrolled = await calls.enroll(
        { email: 'ALPHA.only@example.com', firstName: 'Other', lastName: 'Other' },
        'gamma',
      );
      expect(enrolled).toMatchObject({
        created: true,
        memberId: 'm-alpha',
        email: 'ALPHA.only@example.com',
        firstName: 'Other',
        lastName: 'Other',
      });
      expect(await calls.byEmail('alpha.only@example.com')).toMatchObject({
        email: 'alpha.only@example.com',
        firstName: 'Ochre',
        lastName: null,
      });
      await calls.end('m-alpha', 'gamma');
    });

    test('reports whether the enrollment is new, never whether the member is', async () => {
      const known = await calls.enroll({ email: 'nobody@example.com' }, 'gamma');
      const unknown = await calls.enroll({ email: `${calls.freshName()}@example.com` }, 'gamma');
      expect(Object.keys(known)).toEqual(Object.keys(unknown));
      expect(known.created).toBe(unknown.created);
      await calls.end('m-nobody', 'gamma');
    });

    test('may add an external ID later; a different one is a conflict and changes nothing', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
      ).toMatchObject({ created: false, memberId });
      expect(memberIdOf(await calls.byExternalId(`x-${local}`))).toBe(memberId);
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `y-${local}` }),
      ).toEqual({ code: 'EXTERNAL_ID_CONFLICT' });
      expect(memberIdOf(await calls.byExternalId(`x-${local}`))).toBe(memberId);
      expect(await calls.byExternalId(`y-${local}`)).toBe('MEMBER_NOT_FOUND');
    });

    test('with the external ID of another member is a conflict and enrolls nobody', async () => {
      const local = calls.freshName();
      expect(await calls.enroll({ email: `${local}@example.com`, externalId: 'alpha-2' })).toEqual({
        code: 'EXTERNAL_ID_CONFLICT',
      });
      expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(
        await calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
      ).toMatchObject({ created: true });
    });

    test('the same address 20 times at once creates one member and one enrollment', async () => {
      const local = calls.freshName();
      const all = await Promise.all(
        Array.from({ length: 20 }, () =>
          calls.enroll({ email: `${local}@example.com`, externalId: `x-${local}` }),
        ),
      );
      expect(new Set(all.map(({ memberId }) => memberId)).size).toBe(1);
      expect(all.filter(({ created }) => created)).toHaveLength(1);
    });

    test('two members at once with one external ID enrolls one of them', async () => {
      const [one, other] = [calls.freshName(), calls.freshName()];
      const all = await Promise.all(
        [one, other].map((local) =>
          calls.enroll({ email: `${local}@example.com`, externalId: `x-${one}` }),
        ),
      );
      expect(all.map(({ code }) => code ?? 'enrolled').sort()).toEqual([
        'EXTERNAL_ID_CONFLICT',
        'enrolled',
      ]);
    });
  });

  describe('correcting names 30 times', () => {
    test.each([
      ['leaves alone a name whose variable has no value', {}, 'Lilac'],
      ['clears a name whose variable is null', { last: null }, null],
    ])('%s', async (_, last, lastName) => {
      const email = `${calls.freshName()}@example.com`;
      const { memberId } = await calls.enroll({ email, firstName: 'Ochre', lastName: 'Lilac' });
      const update = `mutation ($id: ID!, $first: String, $last: String) {
        read: updateMember(memberId: $id, input: { firstName: $first, lastName: $last }) {
          firstName lastName } }`;
      for (let time = 1; time <= 30; time += 1) {
        const variables = { id: memberId, first: `Ochre ${time}`, ...last };
        const names = { firstName: `Ochre ${time}`, lastName };
        expect(await calls.execute(update, variables, calls.as('alpha'))).toEqual(names);
      }
      expect(await calls.byEmail(email)).toMatchObject({ firstName: 'Ochre 30', lastName });
    });
  });

  test('BAD_USER_INPUT for an ID that is a number beyond 2^53, by POST and by GET', async () => {
    const query = 'query ($id: ID!) { memberById(memberId: $id) { memberId } }';
    const variables = '{ "id": 9007199254740993 }';
    const parameters = new URLSearchParams({ query, variables });
    for (const request of [
      { body: `{ "query": ${JSON.stringify(query)}, "variables": ${variables} }` },
      { method: 'GET', path: `/graphql?${parameters}` },
    ]) {
      const { code, body } = await calls.service.send({ ...request, ...calls.as('alpha') });
      expect(code).toBe('BAD_USER_INPUT');
      expect(body.errors?.[0]?.extensions).toMatchObject({ argument: 'memberId' });
    }
  });

  describe('an ended enrollment', () => {
    test('resolves by neither address nor external ID, and cannot end again', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({
        email: `${local}@example.com`,
        externalId: `x-${local}`,
      });
      expect(await calls.end(String(memberId))).toEqual({ memberId });
      expect(await calls.byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(await calls.byExternalId(`x-${local}`)).toBe('MEMBER_NOT_FOUND');
      expect(await calls.end(String(memberId))).toEqual({ memberId });
    });

    test('frees its external ID for another member', async () => {
      const [one, other] = [calls.freshName(), calls.freshName()];
      const { memberId } = await calls.enroll({
        email: `${one}@example.com`,
        externalId: `x-${one}`,
      });
      await calls.end(String(memberId));
      const { memberId: successor } = await calls.enroll({
        email: `${other}@example.com`,
        externalId: `x-${one}`,
      });
      expect(memberIdOf(await calls.byExternalId(`x-${one}`))).toBe(successor);
      expect(await calls.enroll({ email: `${one}@example.com`, externalId: `x-${one}` })).toEqual({
        code: 'EXTERNAL_ID_CONFLICT',
      });
      expect(await calls.enroll({ email: `${one}@example.com` })).toMatchObject({
        created: true,
        memberId,
      });
      expect(memberIdOf(await calls.byExternalId(`x-${one}`))).toBe(successor);
    });

    test('that is renewed has its former standing', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      await service.stores.standings.record([
        activity(local, ['alpha', String(memberId), 120, 1], NOON),
      ]);
      await calls.end(String(memberId));
      expect(await calls.enroll({ email: `${local}@example.com` })).toMatchObject({
        created: true,
        points: 120,
        tier: 'Silver',
      });
    });

    test('of one partner does not affect those of others', async () => {
      const local = calls.freshName();
      const { memberId } = await calls.enroll({ email: `${local}@example.com` });
      await calls.enroll({ email: `${local}@example.com` }, 'beta');
      await calls.end(String(memberId));
      expect(memberIdOf(await calls.byEmail(`${local}@example.com`, 'beta'))).toBe(memberId);
    });

    test('that belongs to another partner cannot be ended', async () => {
      expect(await calls.end('m-beta')).toBe('MEMBER_NOT_FOUND');
      expect(memberIdOf(await calls.byEmail('beta.only@example.com', 'beta'))).toBe('m-beta');
    });
  });

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

    test('has a tier that holds to the end of the next year, as the program says', async () => {
      const partnerId = `lasting-${calls.freshName()}`;
      const tiers = [
        { name: 'Blue', points: 0 },
        { name: 'Gold', points: 100 },
      ];
      const membershipYear = { start: '10-01', timeZone: 'America/Asuncion' };
      const key = await addPartner(service.stores.keys, { partnerId });
      const program = { membershipYear, tiers, tierValidity: 'nextYear' } as const;
      await service.stores.standings.putProgram(partnerId, program);
      const email = `${calls.freshName()}@example.com`;
      const enrolled = await calls.execute<{ member: Read }>(ENROLL, { input: { email } }, { key });
      const { memberId } = typeof enrolled === 'string' ? { memberId: '' } : enrolled.member;
      const occurredAt = new Date('2022-10-02T12:00:00Z');
      const earned = { activityId: 'a', partnerId, memberId, points: 120, stays: 1, occurredAt };
      await service.stores.standings.record([{ ...earned, year: '2022-10-01' }]);
      const query = `query ($email: String!) { read: memberByEmail(email: $email) { tier points standing {
        tierFrom tierValidUntil previousYear { tier points stays yearStart yearEnd } } } }`;
      const at = (time: string) => {
        calls.at.now = new Date(time);
        return calls.execute(query, { email }, { key });
      };
      // The clocks skip midnight in 2023, and in 2022 and 2024 the change is not on that day.
      const [y2022, y2023, y2024] = ['2022-10-01', '2023-10-01', '2024-10-01'].map(
        (day) => `${day}T04:00:00.000Z`,
      );
      const previousYear = {
        tier: 'Gold',
        points: 120,
        stays: 1,
        yearStart: y2022,
        yearEnd: y2023,
      };
      expect(await at('2024-10-01T03:59:59.999Z')).toEqual({
        tier: 'Gold',
        points: 0,
        standing: { tierFrom: y2022, tierValidUntil: y2024, previousYear },
      });
      expect(await at('2024-10-01T04:00:00Z')).toMatchObject({
        tier: 'Blue',
        standing: { tierFrom: y2024, previousYear: null },
      });
      expect(
        await calls.execute(
          '{ read: program { membershipYearStart timeZone tierValidity tiers { name points } } }',
          {},
          { key },
        ),
      ).toEqual({
        membershipYearStart: '10-01',
        timeZone: 'America/Asuncion',
        tierValidity: 'NEXT_YEAR',
        tiers,
      });
    });

    test('without a program uses the calendar year in UTC and the single tier MEMBER', async () => {
      expect(await calls.byEmail('ended@example.com', 'gamma')).toMatchObject({
        points: 9,
        tier: 'MEMBER',
      });
    });

    test('of a list of members is read with one call of the members subgraph', async () => {
      const page = `query ($after: String) { read: members(first: 2, after: $after, status: null) {
        edges { memberId status node { id tier points standing { partnerId } } } pageInfo { hasNextPage endCursor } } }`;
      type Edge = { memberId: string; status: string; node: Record<string, unknown> | null };
      const found: Edge[] = [];
      for (let after: string | undefined; ; ) {
        service.calls.length = 0;
        const read = await calls.execute<{
          edges: Edge[];
          pageInfo: { hasNextPage: boolean; endCursor: string };
        }>(page, { after });
        if (typeof read === 'string') throw new Error(read);
        found.push(...read.edges);
        const ofMembers = service.calls.filter((call) => call.startsWith('members.'));
        expect(ofMembers).toEqual(['members.list', 'members.list']);
        after = read.pageInfo.endCursor;
        if (!read.pageInfo.hasNextPage) break;
      }
      expect(found.find(({ memberId }) => memberId === 'm-both')).toEqual({
        memberId: 'm-both',
        status: 'ACTIVE',
        node: { id: 'm-both', tier: 'Silver', points: 250, standing: { partnerId: 'alpha' } },
      });
      const ids = found.map(({ memberId }) => memberId);
      expect(ids).toContain('m-ended');
      expect(ids).not.toContain('m-beta');
      for (const { status, node } of found) expect(node === null).toBe(status === 'ENDED');
    });

    test.each(['m-beta', 'm-ended', 'm-nobody', 'm-none'])(
      'is not asked for if %s is not enrolled: node is null, member is null',
      async (id) => {
        const query = `query ($id: ID!) { node(id: $id) { id ... on PartnerMemberRead { points standing { tier } } } }`;
        service.calls.length = 0;
        const read = { key: service.keys.alpha, query, variables: { id } };
        expect((await service.send(read)).body).toEqual({ data: { node: null } });
        const lookUps = `query ($id: ID!) { memberLookups(keys: [{ memberId: $id }]) { member { points } } }`;
        const { body } = await service.send({ ...read, query: lookUps });
        expect(body).toEqual({ data: { memberLookups: [{ member: null }] } });
        expect(service.calls.filter((call) => call.startsWith('standings.'))).toEqual([]);
      },
    );

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
