// Recording activities as a partner (docs/callers/standing.md, Activities), on each engine.
import { ENGINES } from '../support/engines.ts';
import { type Calls, NOON, startWithCalls } from '../support/service/calls.ts';
import type { ApiRequest, Client } from '../support/service/client.ts';
import type { InProcessService } from '../support/service/inprocess.ts';
import type { PartnerId } from '../support/service/testdata.ts';

const RECORD = `mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { activityId outcome } }`;
const DAY_MS = 86_400_000;
const BILLION = 1_000_000_000;

type Input = Record<string, unknown>;

const input = (activityId: string, points: number, more: Input = {}): Input => ({
  activityId,
  memberId: 'm-both',
  points,
  occurredAt: NOON.toISOString(),
  ...more,
});

/** Records with alpha's key, and resolves with the outcomes, or with the code of the error. */
async function record(
  send: Client,
  activities: unknown,
  as: Pick<ApiRequest, 'key'> = {},
): Promise<unknown> {
  const { body, code } = await send({ query: RECORD, variables: { activities }, ...as });
  // Cast: the schema guarantees it if there is no error.
  const recorded = body.data?.recordActivities as { outcome: string }[] | undefined;
  return code ?? recorded?.map(({ outcome }) => outcome);
}

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
  afterAll(() => service.close());

  const as = (partner: PartnerId) => calls.as(partner);
  const outcomes = (activities: unknown, partner: PartnerId = 'alpha') =>
    record(service.send, activities, as(partner));

  /** A member newly enrolled with a partner. */
  async function member(partner: PartnerId = 'alpha') {
    const email = `${calls.freshName()}@example.com`;
    const { memberId = '' } = await calls.enroll({ email }, partner);
    const points = async () => {
      const read = await calls.byEmail(email, partner);
      return typeof read === 'string' ? read : read.points;
    };
    return { memberId, email, points };
  }

  test('counts at once, and once, however often it is repeated', async () => {
    const { memberId, email, points } = await member();
    const one = input('once', 120, { memberId, stays: 2 });
    expect(await outcomes([one])).toEqual(['RECORDED']);
    expect(await points()).toBe(120);
    expect(await outcomes([one, one])).toEqual(['ALREADY_RECORDED', 'ALREADY_RECORDED']);
    expect(await points()).toBe(120);
    const query = `query ($email: String!) { read: memberByEmail(email: $email) {
      standing { stays } activities { edges { node { activityId points stays occurredAt membershipYear } } } } }`;
    expect(await calls.execute(query, { email })).toEqual({
      standing: { stays: 2 },
      activities: {
        edges: [
          {
            node: {
              activityId: 'once',
              points: 120,
              stays: 2,
              occurredAt: NOON.toISOString(),
              membershipYear: '2026-01-01',
            },
          },
        ],
      },
    });
  });

  test('the outcomes are in the order of the activities', async () => {
    const { memberId, points } = await member();
    const own = (activityId: string, more: Input = {}) =>
      input(activityId, 5, { memberId, ...more });
    const { body } = await service.send({
      query: RECORD,
      variables: {
        activities: [
          own('order-1'),
          own('order-2', { memberId: 'm-unknown' }),
          own('order-1'),
          own('order-1', { points: 6 }),
          own('order-3', { points: BILLION + 1 }),
          own(' order-4 '),
        ],
      },
    });
    expect(body).toEqual({
      data: {
        recordActivities: [
          { activityId: 'order-1', outcome: 'RECORDED' },
          { activityId: 'order-2', outcome: 'NOT_ENROLLED' },
          { activityId: 'order-1', outcome: 'ALREADY_RECORDED' },
          { activityId: 'order-1', outcome: 'CONFLICT' },
          { activityId: 'order-3', outcome: 'OUT_OF_RANGE' },
          { activityId: 'order-4', outcome: 'RECORDED' },
        ],
      },
    });
    expect(await points()).toBe(10);
  });

  test('the ID of another partner neither conflicts nor shows', async () => {
    const { memberId, points } = await member('beta');
    const one = input('shared', 30, { memberId });
    expect(await outcomes([input('shared', 1, { memberId: 'm-both' })])).toEqual(['RECORDED']);
    expect(await outcomes([one], 'beta')).toEqual(['RECORDED']);
    expect(await outcomes([one], 'beta')).toEqual(['ALREADY_RECORDED']);
    expect(await points()).toBe(30);
    // Alpha records nothing of a member of beta, even under an ID that is beta's.
    expect(await outcomes([one, input('other', 5, { memberId })])).toEqual([
      'NOT_ENROLLED',
      'NOT_ENROLLED',
    ]);
    expect(await points()).toBe(30);
  });

  test('what is out of range is refused, and the rest is recorded', async () => {
    const { memberId, points } = await member();
    const own = (activityId: string, more: Input) => input(activityId, 0, { memberId, ...more });
    expect(
      await outcomes([
        own('range-1', { points: BILLION }),
        own('range-2', { points: BILLION }),
        own('range-3', { points: 147_483_648 }),
        own('range-4', { points: 147_483_647 }),
        own('range-5', { points: -BILLION - 1 }),
        own('range-6', { stays: BILLION + 1 }),
        own('range-7', { occurredAt: new Date(NOON.getTime() + DAY_MS).toISOString() }),
        own('range-8', { occurredAt: new Date(NOON.getTime() + DAY_MS + 1).toISOString() }),
        own('range-9', { occurredAt: '1899-12-31T23:59:59Z' }),
      ]),
    ).toEqual([
      'RECORDED',
      'RECORDED',
      'OUT_OF_RANGE',
      'RECORDED',
      'OUT_OF_RANGE',
      'OUT_OF_RANGE',
      'RECORDED',
      'OUT_OF_RANGE',
      'OUT_OF_RANGE',
    ]);
    expect(await points()).toBe(2_147_483_647);
  });

  test('a member who is unknown, erased or of another partner is the same to the caller', async () => {
    const erased = await member();
    await service.stores.members.rights.erase(erased.memberId);
    await service.stores.standings.eraseMember(erased.memberId);
    const responses = await Promise.all(
      ['m-unknown', 'm-beta', 'm-nobody', erased.memberId].map((memberId) =>
        service.send({
          query: RECORD,
          variables: { activities: [input('nobody', 5, { memberId })] },
          requestId: 'r',
        }),
      ),
    );
    expect(new Set(responses.map(({ text }) => text))).toEqual(
      new Set(['{"data":{"recordActivities":[{"activityId":"nobody","outcome":"NOT_ENROLLED"}]}}']),
    );
  });

  test('an ended enrollment still records', async () => {
    const { memberId, points, email } = await member();
    await calls.end(memberId);
    expect(await outcomes([input('after the end', 40, { memberId })])).toEqual(['RECORDED']);
    expect(await points()).toBe('MEMBER_NOT_FOUND');
    await calls.enroll({ email });
    expect(await points()).toBe(40);
  });

  test('an activity counts in the year that the program says', async () => {
    const { memberId, points } = await member('beta');
    // In Auckland, the year has begun already.
    const lastYear = input('last year', 500, { memberId, occurredAt: '2025-06-30T11:59:59.999Z' });
    const thisYear = input('this year', 60, { memberId, occurredAt: '2025-06-30T12:00:00Z' });
    expect(await outcomes([lastYear, thisYear], 'beta')).toEqual(['RECORDED', 'RECORDED']);
    expect(await points()).toBe(60);
  });

  test('members are asked once, however many activities there are', async () => {
    const before = service.calls.length;
    const activities = Array.from({ length: 100 }, (_, index) => input(`many-${index}`, 1));
    expect(new Set(Object.values(Object(await outcomes(activities))))).toEqual(
      new Set(['RECORDED']),
    );
    expect(service.calls.slice(before)).toEqual([
      'members.lookUp',
      'standings.program',
      'standings.record',
    ]);
  });

  const INVALID: [what: string, fault: Input, field: string][] = [
    ['an empty ID', { activityId: ' ' }, 'activityId'],
    ['an empty member', { memberId: '' }, 'memberId'],
    ['no time at all', { occurredAt: '' }, 'occurredAt'],
    ['a number', { occurredAt: 5 }, 'occurredAt'],
    ['a list', { occurredAt: ['2026-05-15T12:00:00Z'] }, 'occurredAt'],
    ['an endless time', { occurredAt: '9'.repeat(9_999) }, 'occurredAt'],
    ['two faults, the first of which counts', { memberId: '', occurredAt: '' }, 'memberId'],
    ['a member nobody knows', { memberId: 'm-unknown', occurredAt: '' }, 'occurredAt'],
  ];
  const SELECTION = '{ activityId outcome argument }';
  /** A value as a literal of GraphQL. */
  const literal = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map(literal).join(' ')}]`;
    return `{ ${Object.entries(value).map(([name, one]) => `${name}: ${literal(one)}`)} }`;
  };

  test.each(INVALID)(
    'an activity with %s is INVALID, names the argument, and the rest is recorded',
    async (_, fault, field) => {
      const { memberId, points } = await member();
      const first = calls.freshName();
      const given = [
        input(first, 1, { memberId }),
        { ...input('invalid', 4, { memberId }), ...fault },
        input(`${first}-next`, 2, { memberId }),
      ];
      const answer = (outcome: string) => [
        { activityId: first, outcome, argument: null },
        {
          activityId: fault.activityId ?? 'invalid',
          outcome: 'INVALID',
          argument: `activities.1.${field}`,
        },
        { activityId: `${first}-next`, outcome, argument: null },
      ];
      const query = `mutation ($activities: [ActivityInput!]!) { recordActivities(activities: $activities) ${SELECTION} }`;
      const { status, body } = await service.send({ query, variables: { activities: given } });
      expect([status, body]).toEqual([200, { data: { recordActivities: answer('RECORDED') } }]);
      expect(await points()).toBe(3);
      const inText = await service.send({
        query: `mutation { recordActivities(activities: ${literal(given)}) ${SELECTION} }`,
      });
      expect([inText.status, inText.body]).toEqual([
        200,
        { data: { recordActivities: answer('ALREADY_RECORDED') } },
      ]);
      expect(await points()).toBe(3);
    },
  );

  test('an ID with a lone surrogate is INVALID, and comes back as it was sent', async () => {
    const query = `mutation ($activities: [ActivityInput!]!) { recordActivities(activities: $activities) ${SELECTION} }`;
    const activities = [input('\ud800', 1)];
    const { body } = await service.send({ query, variables: { activities } });
    expect(body.data?.recordActivities).toEqual([
      { activityId: '\ud800', outcome: 'INVALID', argument: 'activities.0.activityId' },
    ]);
  });

  test('an activity whose fault is a variable in a literal is INVALID', async () => {
    const query = `mutation ($id: ID!, $at: DateTime!) { recordActivities(activities: [
      { activityId: $id, memberId: "m-both", points: 1, occurredAt: "2026-05-15T12:00:00Z" }
      { activityId: "b", memberId: "m-both", points: 1, occurredAt: $at }]) { outcome argument } }`;
    const { body } = await service.send({ query, variables: { id: '', at: 'noon' } });
    expect(body.data?.recordActivities).toEqual([
      { outcome: 'INVALID', argument: 'activities.0.activityId' },
      { outcome: 'INVALID', argument: 'activities.1.occurredAt' },
    ]);
  });

  test('an invalid activity takes no ID from a valid one, and every other outcome stays', async () => {
    const { memberId, points } = await member();
    const own = (activityId: string, more: Input = {}) =>
      input(activityId, 5, { memberId, ...more });
    expect(
      await outcomes([
        own('mixed', { occurredAt: 'noon' }),
        own('mixed'),
        own('mixed', { memberId: 'm-unknown' }),
        own('mixed', { memberId: '\u0000' }),
        own('mixed'),
        own('mixed', { points: 6 }),
        own('mixed-2', { points: BILLION + 1 }),
      ]),
    ).toEqual([
      'INVALID',
      'RECORDED',
      'NOT_ENROLLED',
      'INVALID',
      'ALREADY_RECORDED',
      'CONFLICT',
      'OUT_OF_RANGE',
    ]);
    expect(await points()).toBe(5);
  });

  test.each<[string, unknown, number]>([
    ['no activity', [], 200],
    ['a missing time', [input('a', 1), { ...input('b', 1), occurredAt: undefined }], 400],
    ['a time that is null', [input('a', 1), { ...input('b', 1), occurredAt: null }], 400],
    ['half a point', [input('a', 1), input('b', 1.5)], 400],
    ['an ID that is a list', [input('a', 1), input('b', 1, { activityId: ['b'] })], 400],
  ])('%s fails the request, and nothing is recorded', async (_, given, expected) => {
    const before = service.calls.length;
    const { status, code } = await service.send({
      query: RECORD,
      variables: { activities: given },
    });
    expect([status, code]).toEqual([expected, 'BAD_USER_INPUT']);
    expect(service.calls.slice(before)).toEqual([]);
  });
});
