// The rules of the contract's section 4, through the front, on both engines.
import type { Ask } from './cases/client.ts';
import { ENGINES, type Stage, startInProcess } from './cases/inprocess.ts';
import { activity, addKey, addPartner, address, type PartnerId } from './cases/world.ts';

type Read = { memberId: string; email: string; firstName: string | null; lastName: string | null; tier: string; points: number };

type Enrolled = Partial<Read> & { created?: boolean; code?: string };

const READ = '{ memberId email firstName lastName tier points }';
const BY_EMAIL = `query ($email: String!) { read: memberByEmail(email: $email) ${READ} }`;
const BY_EXTERNAL_ID = `query ($externalId: String!) { read: memberByExternalId(externalId: $externalId) ${READ} }`;
const ENROLL = `mutation ($input: EnrollMemberInput!) { read: enrollMember(input: $input) { created member ${READ} } }`;
const END = 'mutation ($memberId: ID!) { read: endEnrollment(memberId: $memberId) { memberId } }';
const PROFILE = `query ($id: ID!) { read: memberProfile(id: $id) {
  memberId email firstName lastName membershipYearStats { akinPoints totalStays } partnerStandings { partnerId tier points } } }`;

// Noon in the middle of the year, unless a test says otherwise.
const NOON = new Date('2026-05-15T12:00:00Z');
const DAY_MS = 86_400_000;

describe.each(ENGINES)('on %s', (engine) => {
  let stage: Stage;
  let clock = NOON;
  let count = 0;

  beforeAll(async () => {
    stage = await startInProcess({ engine, now: () => clock, env: { RATE_LIMIT_BUDGET: '100000' } });
  });
  beforeEach(() => {
    clock = NOON;
  });
  afterAll(() => stage.close());

  /** What an operation gave, or the code of its error. */
  async function ask<T>(query: string, variables: Record<string, unknown>, as: Pick<Ask, 'key' | 'token'> = {}): Promise<T | string> {
    const { body, code } = await stage.ask({ query, variables, ...as });
    // Cast: the schema promises it where there is no error.
    return code ?? (body.data?.read as T);
  }

  const as = (partner: PartnerId) => ({ key: stage.keys[partner] });
  const byEmail = (email: string, partner: PartnerId = 'alpha') => ask<Read>(BY_EMAIL, { email }, as(partner));
  const byExternalId = (externalId: string, partner: PartnerId = 'alpha') => ask<Read>(BY_EXTERNAL_ID, { externalId }, as(partner));
  const end = (memberId: string, partner: PartnerId = 'alpha') => ask<{ memberId: string }>(END, { memberId }, as(partner));
  const idOf = (read: Read | string) => (typeof read === 'string' ? read : read.memberId);

  async function enroll(input: Record<string, unknown>, partner: PartnerId = 'alpha'): Promise<Enrolled> {
    const enrolled = await ask<{ created: boolean; member: Read }>(ENROLL, { input }, as(partner));
    return typeof enrolled === 'string' ? { code: enrolled } : { created: enrolled.created, ...enrolled.member };
  }

  /** A local part that no other test uses. */
  function fresh(): string {
    count += 1;
    return `fresh${count}`;
  }

  describe('an email address', () => {
    test.each([
      ['in other case', 'BOTH@EXAMPLE.COM'],
      ['with spaces around it', '  both@example.com '],
      ['in other case, historical', 'Both.Earlier@EXAMPLE.net'],
    ])('resolves %s', async (_, email) => {
      expect(await byEmail(email)).toMatchObject({ memberId: 'm-both', email: 'Both@Example.com' });
    });

    test('resolves in either of two Unicode forms, and with its domain in Unicode or ASCII', async () => {
      const local = fresh();
      const { memberId } = await enroll({ email: `${local}-é@bücher.example` });
      expect(memberId).toEqual(expect.any(String));
      for (const email of [
        `${local}-e\u0301@bücher.example`,
        `${local}-é@xn--bcher-kva.example`,
        `${local}-É@BU\u0308CHER.example`,
        `${local}-é@XN--BCHER-KVA.EXAMPLE`,
      ]) {
        expect(idOf(await byEmail(email))).toBe(memberId);
      }
    });

    test('is not folded any further: dots and tags tell addresses apart', async () => {
      const [one, other] = [fresh(), fresh()];
      await enroll({ email: `${one}.${other}@example.com` });
      for (const local of [`${one}${other}`, `${one}.${other}+tag`, `${one}..${other}`, `"${one}.${other}"`]) {
        expect(await byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      }
    });

    test('is shown as it was typed, but for the spaces around it', async () => {
      const local = fresh();
      await enroll({ email: ` Typed.${local}@Example.COM ` });
      expect(await byEmail(`typed.${local}@example.com`)).toMatchObject({ email: `Typed.${local}@Example.COM` });
    });

    test('leads to one member, in whatever spelling it is enrolled', async () => {
      const local = fresh();
      const first = await enroll({ email: `${local}@example.com` });
      expect(await enroll({ email: `${local.toUpperCase()}@Example.com` })).toEqual({ ...first, created: false });
      expect(await enroll({ email: `${local}@example.com` }, 'beta')).toMatchObject({ created: true, memberId: first.memberId });
    });

    test('that is historical finds the member when it is enrolled, and stays what it is', async () => {
      const enrolled = await enroll({ email: 'beta.earlier@example.com' }, 'gamma');
      expect(enrolled).toMatchObject({ created: true, memberId: 'm-beta', email: 'beta.only@example.com' });
      expect(await byEmail('beta.earlier@example.com', 'gamma')).toMatchObject({ email: 'beta.only@example.com' });
      expect(await byEmail('beta.only@example.com', 'gamma')).toMatchObject({ memberId: 'm-beta' });
      await end('m-beta', 'gamma');
    });

    test('that is historical goes over to the member who is imported with it, and resolves to that one alone', async () => {
      const [former, earlier, next] = [fresh(), fresh(), fresh()];
      const enrollments = [{ partnerId: 'alpha' }];
      const members = [
        {
          memberId: former,
          address: address(`${former}@example.com`),
          previousAddresses: [address(`${earlier}@example.com`)],
          enrollments,
        },
        { memberId: next, address: address(`${earlier}@example.com`), previousAddresses: [], enrollments },
      ];
      expect(await stage.stores.members.importMembers(members)).toEqual(['added', 'added']);
      expect(idOf(await byEmail(`${earlier}@example.com`))).toBe(next);
      expect(idOf(await byEmail(`${former}@example.com`))).toBe(former);
    });
  });

  describe('enrolling', () => {
    test('makes a member with names, without points and with the lowest tier', async () => {
      const local = fresh();
      const input = { email: `${local}@example.com`, externalId: `x-${local}`, firstName: ' Lilac ', lastName: 'Dunlin' };
      const { created, ...member } = await enroll(input, 'beta');
      expect(created).toBe(true);
      expect(member).toEqual({
        memberId: expect.stringMatching(/^\S{8,}$/),
        email: input.email,
        firstName: 'Lilac',
        lastName: 'Dunlin',
        tier: 'Plus',
        points: 0,
      });
      expect(await byEmail(input.email, 'beta')).toEqual(member);
      expect(await byExternalId(input.externalId, 'beta')).toEqual(member);
    });

    test('again, with the same external ID or without one, gives the same member and changes nothing', async () => {
      const local = fresh();
      const first = await enroll({ email: `${local}@example.com`, externalId: `x-${local}`, firstName: 'Lilac' });
      const again = { ...first, created: false };
      expect(await enroll({ email: `${local}@example.com`, externalId: `x-${local}`, firstName: 'Other' })).toEqual(again);
      expect(await enroll({ email: `${local}@example.com`, lastName: 'Other' })).toEqual(again);
      expect(await enroll({ email: `${local}@example.com`, externalId: null, firstName: null })).toEqual(again);
      expect(idOf(await byExternalId(`x-${local}`))).toBe(first.memberId);
    });

    test('a member who is there keeps the own names and the own address', async () => {
      const enrolled = await enroll({ email: 'ALPHA.only@example.com', firstName: 'Other', lastName: 'Other' }, 'gamma');
      expect(enrolled).toMatchObject({
        created: true,
        memberId: 'm-alpha',
        email: 'alpha.only@example.com',
        firstName: 'Ochre',
        lastName: null,
      });
      await end('m-alpha', 'gamma');
    });

    test('says only whether the enrollment is new, never whether the member was', async () => {
      const known = await enroll({ email: 'nobody@example.com' }, 'gamma');
      const unknown = await enroll({ email: `${fresh()}@example.com` }, 'gamma');
      expect(Object.keys(known)).toEqual(Object.keys(unknown));
      expect(known.created).toBe(unknown.created);
      await end('m-nobody', 'gamma');
    });

    test('may add an external ID later; another one is a conflict and changes nothing', async () => {
      const local = fresh();
      const { memberId } = await enroll({ email: `${local}@example.com` });
      expect(await enroll({ email: `${local}@example.com`, externalId: `x-${local}` })).toMatchObject({ created: false, memberId });
      expect(idOf(await byExternalId(`x-${local}`))).toBe(memberId);
      expect(await enroll({ email: `${local}@example.com`, externalId: `y-${local}` })).toEqual({ code: 'EXTERNAL_ID_CONFLICT' });
      expect(idOf(await byExternalId(`x-${local}`))).toBe(memberId);
      expect(await byExternalId(`y-${local}`)).toBe('MEMBER_NOT_FOUND');
    });

    test('with an external ID that another member has with this partner is a conflict and enrolls nobody', async () => {
      const local = fresh();
      expect(await enroll({ email: `${local}@example.com`, externalId: 'alpha-2' })).toEqual({ code: 'EXTERNAL_ID_CONFLICT' });
      expect(await byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(await enroll({ email: `${local}@example.com`, externalId: `x-${local}` })).toMatchObject({ created: true });
    });

    test('20 times at once makes one member and one new enrollment', async () => {
      const local = fresh();
      const all = await Promise.all(Array.from({ length: 20 }, () => enroll({ email: `${local}@example.com`, externalId: `x-${local}` })));
      expect(new Set(all.map(({ memberId }) => memberId)).size).toBe(1);
      expect(all.filter(({ created }) => created)).toHaveLength(1);
    });

    test('two members at once with one external ID enrolls one of them', async () => {
      const [one, other] = [fresh(), fresh()];
      const all = await Promise.all([one, other].map((local) => enroll({ email: `${local}@example.com`, externalId: `x-${one}` })));
      expect(all.map(({ code }) => code ?? 'enrolled').sort()).toEqual(['EXTERNAL_ID_CONFLICT', 'enrolled']);
    });
  });

  describe('an external ID', () => {
    test('is the partner’s own: the same string is another member elsewhere', async () => {
      expect(idOf(await byExternalId('shared-1', 'alpha'))).toBe('m-both');
      expect(idOf(await byExternalId('shared-1', 'beta'))).toBe('m-beta');
      expect(await byExternalId('shared-1', 'gamma')).toBe('MEMBER_NOT_FOUND');
    });

    test('is matched as it was given, but for the spaces around it', async () => {
      expect(idOf(await byExternalId(' shared-1 '))).toBe('m-both');
      for (const externalId of ['SHARED-1', 'shared', 'shared-1*', 'shared%', '.*', 'shared-1 x', '{"$gt":""}']) {
        expect(await byExternalId(externalId)).toBe('MEMBER_NOT_FOUND');
      }
    });

    test('may hold any text', async () => {
      for (const externalId of ['ü 漢字 😀', '$where', 'a.b', '__proto__', 'constructor', '"quoted"', '\\', 'x'.repeat(255)]) {
        const { memberId } = await enroll({ email: `${fresh()}@example.com`, externalId });
        expect(idOf(await byExternalId(externalId))).toBe(memberId);
      }
    });
  });

  describe('an ended enrollment', () => {
    test('resolves by neither address nor external ID, and ends but once', async () => {
      const local = fresh();
      const { memberId } = await enroll({ email: `${local}@example.com`, externalId: `x-${local}` });
      expect(await end(String(memberId))).toEqual({ memberId });
      expect(await byEmail(`${local}@example.com`)).toBe('MEMBER_NOT_FOUND');
      expect(await byExternalId(`x-${local}`)).toBe('MEMBER_NOT_FOUND');
      expect(await end(String(memberId))).toBe('MEMBER_NOT_FOUND');
    });

    test('frees its external ID for another member', async () => {
      const [one, other] = [fresh(), fresh()];
      const { memberId } = await enroll({ email: `${one}@example.com`, externalId: `x-${one}` });
      await end(String(memberId));
      const { memberId: heir } = await enroll({ email: `${other}@example.com`, externalId: `x-${one}` });
      expect(idOf(await byExternalId(`x-${one}`))).toBe(heir);
      expect(await enroll({ email: `${one}@example.com`, externalId: `x-${one}` })).toEqual({ code: 'EXTERNAL_ID_CONFLICT' });
      expect(await enroll({ email: `${one}@example.com` })).toMatchObject({ created: true, memberId });
      expect(idOf(await byExternalId(`x-${one}`))).toBe(heir);
    });

    test('that begins again has the standing of before', async () => {
      const local = fresh();
      const { memberId } = await enroll({ email: `${local}@example.com` });
      await stage.stores.standings.record([activity(local, ['alpha', String(memberId), 120, 1], NOON)]);
      await end(String(memberId));
      expect(await enroll({ email: `${local}@example.com` })).toMatchObject({ created: true, points: 120, tier: 'Silver' });
    });

    test('of one partner leaves those of others alone', async () => {
      const local = fresh();
      const { memberId } = await enroll({ email: `${local}@example.com` });
      await enroll({ email: `${local}@example.com` }, 'beta');
      await end(String(memberId));
      expect(idOf(await byEmail(`${local}@example.com`, 'beta'))).toBe(memberId);
    });

    test('of another partner cannot be ended, and stays', async () => {
      expect(await end('m-beta')).toBe('MEMBER_NOT_FOUND');
      expect(idOf(await byEmail('beta.only@example.com', 'beta'))).toBe('m-beta');
    });
  });

  describe('MEMBER_NOT_FOUND', () => {
    const LOOK_UPS: [why: string, query: string, variables: Record<string, string>][] = [
      ['an unknown address', BY_EMAIL, { email: 'unknown@example.com' }],
      ['a member of another partner', BY_EMAIL, { email: 'beta.only@example.com' }],
      ["another partner's member by an earlier address", BY_EMAIL, { email: 'beta.earlier@example.com' }],
      ['an ended enrollment', BY_EMAIL, { email: 'ended@example.com' }],
      ['an ended enrollment by an earlier address', BY_EMAIL, { email: 'ended.earlier@example.com' }],
      ['a member enrolled nowhere', BY_EMAIL, { email: 'nobody@example.com' }],
      ['what is no address', BY_EMAIL, { email: 'nobody' }],
      ['an unknown external ID', BY_EXTERNAL_ID, { externalId: 'unknown' }],
      ["another partner's external ID", BY_EXTERNAL_ID, { externalId: 'beta-7' }],
    ];

    test('has the same bytes, whatever the reason', async () => {
      const answers: string[] = [];
      for (const [, query, variables] of LOOK_UPS) {
        const { status, text, headers } = await stage.ask({ query, variables, requestId: 'r' });
        answers.push(`${status} ${text} ${[...headers.keys()]}`);
      }
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toContain('{"errors":[{"message":"member not found","path":["read"],');
    });

    test.each(LOOK_UPS)('takes one and the same store read and none of a standing: %s', async (_, query, variables) => {
      stage.calls.length = 0;
      await stage.ask({ query, variables });
      expect(stage.calls).toEqual([query === BY_EMAIL ? 'members.memberByEmail' : 'members.memberByExternalId']);
    });

    test('of one aliased look-up leaves the others standing', async () => {
      const query = `{ a: memberByEmail(email: "unknown@example.com") { tier } b: memberByEmail(email: "both@example.com") { tier } }`;
      const { body } = await stage.ask({ query });
      expect(body.data).toEqual({ a: null, b: { tier: 'Silver' } });
      expect(body.errors?.map(({ path }) => path)).toEqual([['a']]);
    });
  });

  describe('a standing', () => {
    /** A newly enrolled member. */
    async function member(partner: PartnerId) {
      const local = fresh();
      const { memberId } = await enroll({ email: `${local}@example.com` }, partner);
      const earn = (points: number, at: Date, stays = 0) => {
        count += 1;
        return stage.stores.standings.record([activity(`earned-${count}`, [partner, String(memberId), points, stays], at)]);
      };
      const standing = async () => {
        const read = await byEmail(`${local}@example.com`, partner);
        return typeof read === 'string' ? read : [read.points, read.tier];
      };
      return { memberId: String(memberId), earn, standing };
    }

    test('is the sum of the activities, and the highest tier it reaches', async () => {
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

    test('below what the lowest tier takes has the lowest tier', async () => {
      const { earn, standing } = await member('beta');
      expect(await standing()).toEqual([0, 'Plus']);
      await earn(-1, NOON);
      expect(await standing()).toEqual([-1, 'Plus']);
    });

    test('counts an activity of before the enrollment, and each id once', async () => {
      const local = fresh();
      const { memberId } = await enroll({ email: `${local}@example.com` }, 'alpha');
      const early = activity(`early-${local}`, ['beta', String(memberId), 60, 1], NOON);
      expect(await stage.stores.standings.record([early])).toEqual(['counted']);
      expect(await stage.stores.standings.record([early, { ...early, points: 61 }])).toEqual(['known', 'other-content']);
      expect(await enroll({ email: `${local}@example.com` }, 'beta')).toMatchObject({ points: 60, tier: 'Plus' });
    });

    // The first instant of a membership year: at midnight in the program's time zone.
    const BORDERS: [partner: PartnerId, first: string][] = [
      ['alpha', '2026-01-01T00:00:00.000Z'],
      ['beta', '2026-06-30T12:00:00.000Z'],
      ['gamma', '2026-01-01T00:00:00.000Z'],
    ];

    test.each(BORDERS)('of %s begins anew at the first instant of the membership year', async (partner, first) => {
      const begin = new Date(first).getTime();
      const { earn, standing } = await member(partner);
      const nextYear = new Date(first).setUTCFullYear(2027);
      await earn(1, new Date(begin - 1));
      await earn(10, new Date(begin));
      await earn(100, new Date(nextYear - 1));
      await earn(1_000, new Date(nextYear));
      const points = async (at: number) => {
        clock = new Date(at);
        return (await standing())[0];
      };
      expect(await points(begin - 1)).toBe(1);
      expect(await points(begin)).toBe(110);
      expect(await points(nextYear - 1)).toBe(110);
      expect(await points(nextYear)).toBe(1_000);
      expect(await points(nextYear + 366 * DAY_MS)).toBe(0);
    });

    test('begins where the clocks skip midnight at the first instant of the day', async () => {
      // In Asunción the clocks went from 00:00 to 01:00 on 2023-10-01, which was 04:00 in UTC.
      const partnerId = `skipping-${fresh()}`;
      const program = { membershipYear: { start: '10-01', timeZone: 'America/Asuncion' }, tiers: [{ name: 'Only', points: 0 }] };
      const key = await addPartner(stage.stores.keys, { partnerId });
      await stage.stores.standings.putProgram(partnerId, program);
      const email = `${fresh()}@example.com`;
      const enrolled = await ask<{ member: Read }>(ENROLL, { input: { email } }, { key });
      const { memberId } = typeof enrolled === 'string' ? { memberId: '' } : enrolled.member;
      for (const [points, at, year] of [
        [1, '2023-10-01T03:59:59.999Z', '2022-10-01'],
        [10, '2023-10-01T04:00:00.000Z', '2023-10-01'],
      ] as const) {
        const occurredAt = new Date(at);
        const activityId = `${partnerId}-${points}`;
        await stage.stores.standings.record([{ activityId, partnerId, memberId, points, stays: 0, occurredAt, year }]);
        clock = occurredAt;
        expect(await ask(BY_EMAIL, { email }, { key })).toMatchObject({ points });
      }
    });

    test('without a program goes by the calendar year in UTC, in the one tier MEMBER', async () => {
      expect(await byEmail('ended@example.com', 'gamma')).toMatchObject({ points: 9, tier: 'MEMBER' });
    });
  });

  describe('a member', () => {
    const profile = async (memberId: string, claims = {}, id = memberId) =>
      ask<Record<string, unknown>>(PROFILE, { id }, { token: await stage.provider.issue(memberId, claims) });

    test('reads the own profile: names, totals, and the standing with each partner where active', async () => {
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

    test('sees nothing of a partner where the enrollment has ended', async () => {
      expect(await profile('m-ended')).toMatchObject({
        membershipYearStats: { akinPoints: 9, totalStays: 1 },
        partnerStandings: [{ partnerId: 'gamma', tier: 'MEMBER', points: 9 }],
      });
    });

    test('who is enrolled nowhere has zeros and no standings', async () => {
      expect(await profile('m-nobody')).toMatchObject({ membershipYearStats: { akinPoints: 0, totalStays: 0 }, partnerStandings: [] });
    });

    test('with a token that a partner holds sees that partner alone, in the totals too', async () => {
      expect(await profile('m-both', { azp: 'beta' })).toMatchObject({
        membershipYearStats: { akinPoints: 700, totalStays: 1 },
        partnerStandings: [{ partnerId: 'beta', tier: 'Prime', points: 700 }],
      });
      expect(await profile('m-alpha', { azp: 'beta' })).toMatchObject({ membershipYearStats: { akinPoints: 0 }, partnerStandings: [] });
    });

    test('reads no other profile, known or not, with the same bytes', async () => {
      const token = await stage.provider.issue('m-both');
      const answers: string[] = [];
      for (const id of ['m-alpha', 'm-unknown', 'M-BOTH', 'm-both ​', '__proto__']) {
        const { text } = await stage.ask({ query: PROFILE, variables: { id }, token, requestId: 'r' });
        answers.push(text);
      }
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toContain('MEMBER_NOT_FOUND');
    });

    test('whom the token names and nobody knows is not found', async () => {
      expect(await profile('m-unknown')).toBe('MEMBER_NOT_FOUND');
    });

    test('and a partner read nothing of each other’s surface', async () => {
      expect(await profile('m-both', {}, 'm-both')).toMatchObject({ memberId: 'm-both' });
      expect(await ask(PROFILE, { id: 'm-both' }, as('alpha'))).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(await ask(BY_EMAIL, { email: 'both@example.com' }, { token: await stage.provider.issue('m-both') })).toBe(
        'GRAPHQL_VALIDATION_FAILED',
      );
    });
  });

  test('a read takes one look-up and one standing', async () => {
    stage.calls.length = 0;
    await byEmail('both@example.com');
    expect(stage.calls.sort()).toEqual(['members.memberByEmail', 'standings.program', 'standings.standing']);
  });

  test('each of a partner’s keys reads the same, from the moment it is made', async () => {
    const read = await byEmail('both@example.com');
    const key = await addKey(stage.stores.keys, 'alpha');
    expect(await ask(BY_EMAIL, { email: 'both@example.com' }, { key })).toEqual(read);
  });
});
