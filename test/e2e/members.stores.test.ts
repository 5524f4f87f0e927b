// Which members a partner finds and enrolls, and what it reads of them (docs/callers/members.md).
import { ENGINES } from '../support/engines.ts';
import {
  BY_EMAIL,
  BY_EXTERNAL_ID,
  type Calls,
  NOON,
  PROFILE,
  type Read,
  startWithCalls,
} from '../support/service/calls.ts';
import type { InProcessService } from '../support/service/inprocess.ts';
import { activity } from '../support/service/testdata.ts';
import { listsAreSettled } from '../support/until.ts';

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

  test('enrolling creates a member with names, without points, in the lowest tier', async () => {
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

  test('an ended enrollment that is renewed has its former standing', async () => {
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

  describe('a standing', () => {
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

  test('a member reads their own profile: names, totals, and the standing with each partner', async () => {
    const token = await service.provider.issue('m-both');
    expect(await calls.execute(PROFILE, { id: 'm-both' }, { token })).toEqual({
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
});
