// What a partner finds of members, records for them, and how few reads that takes.
import type { ApiRequest } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { listsAreSettled } from '../support/until.ts';

const NOON = new Date('2026-05-15T12:00:00Z');
const DAY_MS = 86_400_000;
const BILLION = 1_000_000_000;
const BY_EMAIL =
  'query ($email: String!) { read: memberByEmail(email: $email) { memberId tier points } }';
const BY_EXTERNAL_ID =
  'query ($externalId: String!) { read: memberByExternalId(externalId: $externalId) { memberId tier points } }';
const ENROLL = `mutation ($input: EnrollMemberInput!) {
  read: enrollMember(input: $input) { created member { memberId firstName lastName tier points } } }`;
const END = 'mutation ($id: ID!) { read: endEnrollment(memberId: $id) { memberId } }';
const RECORD = `mutation ($activities: [ActivityInput!]!) {
  read: recordActivities(activities: $activities) { activityId outcome argument } }`;

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess({ now: () => NOON, env: { RATE_LIMIT_BUDGET: '100000' } });
  await listsAreSettled();
});
afterAll(() => service.close());

type Input = Record<string, unknown>;

/** What a request reads, or the code of its error. */
async function read<T>(query: string, variables: Input, as: ApiRequest = {}): Promise<T> {
  const { body, code } = await service.send({ query, variables, ...as });
  // Cast: the schema guarantees it if there is no error.
  return (code ?? body.data?.read) as T;
}

/** The calls of stores while something runs. */
async function callsDuring(act: () => Promise<unknown>): Promise<string[]> {
  service.calls.length = 0;
  await act();
  return service.calls.slice();
}

test('MEMBER_NOT_FOUND is the same response by the same read, byte for byte, whatever the reason', async () => {
  const responses: string[] = [];
  for (const variables of [
    { email: 'unknown@example.com' },
    { email: 'beta.only@example.com' },
    { email: 'beta.earlier@example.com' },
    { email: 'ended@example.com' },
    { email: 'ended.earlier@example.com' },
    { email: 'nobody@example.com' },
    { email: 'nobody' },
    { externalId: 'unknown' },
    { externalId: 'beta-7' },
  ]) {
    const query = 'email' in variables ? BY_EMAIL : BY_EXTERNAL_ID;
    const calls = await callsDuring(async () => {
      const { status, text, headers } = await service.send({ query, variables, requestId: 'r' });
      responses.push(`${status} ${text} ${[...headers.keys()]}`);
    });
    const by = 'email' in variables ? 'Email' : 'ExternalId';
    expect(calls).toEqual([`members.memberBy${by}`]);
  }
  expect(new Set(responses).size).toBe(1);
  expect(responses[0]).toContain('{"errors":[{"message":"member not found","path":["read"],');
});

test('a look-up reads one member and one standing, a page of 100 the members with one call', async () => {
  const one = await callsDuring(() => read(BY_EMAIL, { email: 'both@example.com' }));
  expect(one.sort()).toEqual(['members.memberByEmail', 'standings.program', 'standings.standing']);
  const keys = Array(100).fill({ email: 'both@example.com' });
  const query = `query ($keys: [MemberKey!]!) { read: memberLookups(keys: $keys) { member { points } } }`;
  const page = await callsDuring(async () =>
    expect(await read(query, { keys })).toEqual(Array(100).fill({ member: { points: 250 } })),
  );
  expect(page.filter((call) => call.startsWith('members.'))).toEqual(['members.lookUp']);
});

test('a list reads members once a page, and no standing of those that are not enrolled', async () => {
  const query = `{ read: members(status: null) { edges { memberId status node { id points standing { partnerId } } } } }`;
  type Edge = { memberId: string; status: string; node: object | null };
  let edges: Edge[] = [];
  const calls = await callsDuring(async () => {
    ({ edges } = await read<{ edges: Edge[] }>(query, {}));
  });
  expect(calls.filter((call) => call.startsWith('members.'))).toEqual(
    Array(2).fill('members.list'),
  );
  const byId = Object.fromEntries(edges.map(({ memberId, node }) => [memberId, node]));
  expect(byId).toMatchObject({
    'm-both': { id: 'm-both', points: 250, standing: { partnerId: 'alpha' } },
    'm-ended': null,
  });
  expect(byId).not.toHaveProperty('m-beta');
});

test.each(['m-beta', 'm-ended', 'm-nobody', 'm-none'])(
  'no standing is asked for if %s is not enrolled: node is null, member is null',
  async (id) => {
    const query = `query ($id: ID!) { node(id: $id) { id ... on PartnerMemberRead { points } }
      memberLookups(keys: [{ memberId: $id }]) { member { points } } }`;
    const calls = await callsDuring(async () =>
      expect((await service.send({ query, variables: { id } })).body).toEqual({
        data: { node: null, memberLookups: [{ member: null }] },
      }),
    );
    expect(calls.filter((call) => call.startsWith('standings.'))).toEqual([]);
  },
);

test('BAD_USER_INPUT for an ID that is a number beyond 2^53, by POST and by GET', async () => {
  const query = 'query ($id: ID!) { memberById(memberId: $id) { memberId } }';
  const variables = '{ "id": 9007199254740993 }';
  for (const request of [
    { body: `{ "query": ${JSON.stringify(query)}, "variables": ${variables} }` },
    { method: 'GET', path: `/graphql?${new URLSearchParams({ query, variables })}` },
  ]) {
    const { body } = await service.send(request);
    const extensions = { code: 'BAD_USER_INPUT', argument: 'memberId' };
    expect(body.errors).toMatchObject([{ extensions }]);
  }
});

test('a name whose variable has no value stays, and one whose variable is null is cleared', async () => {
  const { member } = await enroll({ firstName: ' Ochre ', lastName: 'Lilac' });
  expect(member).toMatchObject({ firstName: 'Ochre', lastName: 'Lilac', tier: 'Blue', points: 0 });
  const update = `mutation ($id: ID!, $first: String, $last: String) {
    read: updateMember(memberId: $id, input: { firstName: $first, lastName: $last }) { firstName lastName } }`;
  // A known operation takes another path.
  for (const last of [{}, {}, {}, { last: null }]) {
    const variables = { id: member.memberId, first: 'Umber', ...last };
    const lastName = 'last' in last ? null : 'Lilac';
    expect(await read(update, variables)).toEqual({ firstName: 'Umber', lastName });
  }
});

let people = 0;
/** A member newly enrolled with a partner. */
async function enroll(input: Input = {}, as: ApiRequest = {}) {
  people += 1;
  const email = `fresh-${people}@example.com`;
  type Enrolled = { created: boolean; member: { memberId: string; points: number } };
  const { member } = await read<Enrolled>(ENROLL, { input: { email, ...input } }, as);
  const points = async () => Object(await read(BY_EMAIL, { email }, as)).points;
  return { member, email, memberId: member.memberId, points };
}

const activity = (activityId: string, points: number, more: Input = {}): Input => ({
  activityId,
  memberId: 'm-both',
  points,
  occurredAt: NOON.toISOString(),
  ...more,
});

type Recorded = { activityId: string; outcome: string; argument: string | null };
const record = (activities: Input[], as: ApiRequest = {}) =>
  read<Recorded[]>(RECORD, { activities }, as);
const outcomes = async (activities: Input[], as: ApiRequest = {}) =>
  (await record(activities, as)).map(({ outcome }) => outcome);

describe('recording', () => {
  test('counts once, after the end of an enrollment too, and shows again when it is renewed', async () => {
    const { memberId, email, points } = await enroll();
    const one = activity('once', 120, { memberId });
    expect(await outcomes([one, one])).toEqual(['RECORDED', 'ALREADY_RECORDED']);
    expect(await points()).toBe(120);
    await read(END, { id: memberId });
    expect(await outcomes([activity('after the end', 40, { memberId })])).toEqual(['RECORDED']);
    expect(await points()).toBeUndefined();
    expect(await read(ENROLL, { input: { email } })).toMatchObject({
      created: true,
      member: { points: 160, tier: 'Silver' },
    });
  });

  test('each outcome is at its place, and an invalid activity takes no ID from a valid one', async () => {
    const { memberId, points } = await enroll();
    const own = (activityId: string, more: Input = {}) =>
      activity(activityId, 5, { memberId, ...more });
    const recorded = await record([
      own('a', { occurredAt: 'noon' }),
      own('a'),
      own('a', { memberId: 'm-unknown' }),
      own('a', { memberId: '\u0000' }),
      own(' a '),
      own('a', { points: 6 }),
      own('b', { points: BILLION + 1 }),
      own('c', { stays: BILLION + 1 }),
      own('d', { occurredAt: new Date(NOON.getTime() + DAY_MS).toISOString() }),
      own('e', { occurredAt: new Date(NOON.getTime() + DAY_MS + 1).toISOString() }),
      own('\ud800'),
    ]);
    expect(recorded.map(({ activityId, ...rest }) => [activityId, ...Object.values(rest)])).toEqual(
      [
        ['a', 'INVALID', 'activities.0.occurredAt'],
        ['a', 'RECORDED', null],
        ['a', 'NOT_ENROLLED', null],
        ['a', 'INVALID', 'activities.3.memberId'],
        ['a', 'ALREADY_RECORDED', null],
        ['a', 'CONFLICT', null],
        ['b', 'OUT_OF_RANGE', null],
        ['c', 'OUT_OF_RANGE', null],
        ['d', 'RECORDED', null],
        ['e', 'OUT_OF_RANGE', null],
        ['\ud800', 'INVALID', 'activities.10.activityId'],
      ],
    );
    expect(await points()).toBe(10);
  });

  test('a sum stays within Int, and the rest is recorded', async () => {
    const { memberId, points } = await enroll();
    const sums = [BILLION, BILLION, 147_483_648, 147_483_647];
    const own = sums.map((sum, index) => activity(`range-${index}`, sum, { memberId }));
    expect(await outcomes(own)).toEqual(['RECORDED', 'RECORDED', 'OUT_OF_RANGE', 'RECORDED']);
    expect(await points()).toBe(2_147_483_647);
  });

  test('the ID of another partner neither conflicts nor shows', async () => {
    const beta = { key: service.keys.beta };
    const { memberId, points } = await enroll({}, beta);
    const one = activity('shared', 30, { memberId });
    expect(await outcomes([activity('shared', 1)])).toEqual(['RECORDED']);
    expect(await outcomes([one, one], beta)).toEqual(['RECORDED', 'ALREADY_RECORDED']);
    expect(await outcomes([one])).toEqual(['NOT_ENROLLED']);
    // In Auckland, the year has begun already at noon of 30 June.
    const lastYear = activity('last', 500, { memberId, occurredAt: '2025-06-30T11:59:59.999Z' });
    const thisYear = activity('this', 60, { memberId, occurredAt: '2025-06-30T12:00:00Z' });
    expect(await outcomes([lastYear, thisYear], beta)).toEqual(['RECORDED', 'RECORDED']);
    expect(await points()).toBe(90);
  });

  test('a member who is unknown, erased or of another partner is the same to the caller', async () => {
    const erased = await enroll();
    await service.stores.members.rights.erase(erased.memberId);
    await service.stores.standings.eraseMember(erased.memberId);
    const responses = new Set<string>();
    for (const memberId of ['m-unknown', 'm-beta', 'm-nobody', erased.memberId]) {
      const variables = { activities: [activity('nobody', 5, { memberId })] };
      responses.add((await service.send({ query: RECORD, variables, requestId: 'r' })).text);
    }
    expect([...responses]).toEqual([
      '{"data":{"read":[{"activityId":"nobody","outcome":"NOT_ENROLLED","argument":null}]}}',
    ]);
  });

  test('members are asked once, however many activities there are', async () => {
    const activities = Array.from({ length: 100 }, (_, index) => activity(`many-${index}`, 1));
    const calls = await callsDuring(() => record(activities));
    expect(calls).toEqual(['members.lookUp', 'standings.program', 'standings.record']);
  });

  test('a fault of a literal, or of a variable in one, is INVALID at its place', async () => {
    const query = `mutation ($id: ID!, $at: DateTime!) { read: recordActivities(activities: [
      { activityId: $id, memberId: "m-both", points: 1, occurredAt: "2026-05-15T12:00:00Z" }
      { activityId: "b", memberId: "m-both", points: 1, occurredAt: $at }
      { activityId: "c", memberId: "", points: 1, occurredAt: 5 }]) { outcome argument } }`;
    expect(await read(query, { id: '', at: 'noon' })).toEqual([
      { outcome: 'INVALID', argument: 'activities.0.activityId' },
      { outcome: 'INVALID', argument: 'activities.1.occurredAt' },
      { outcome: 'INVALID', argument: 'activities.2.memberId' },
    ]);
  });

  test.each<[string, Input[], number]>([
    ['no activity', [], 200],
    ['a time that is null', [activity('a', 1), activity('b', 1, { occurredAt: null })], 400],
    ['half a point', [activity('a', 1), activity('b', 1.5)], 400],
    ['an ID that is a list', [activity('a', 1), activity('b', 1, { activityId: ['b'] })], 400],
  ])('%s fails the request, and nothing is recorded', async (_, activities, expected) => {
    const calls = await callsDuring(async () => {
      const { status, code } = await service.send({ query: RECORD, variables: { activities } });
      expect([status, code]).toEqual([expected, 'BAD_USER_INPUT']);
    });
    expect(calls).toEqual([]);
  });
});
