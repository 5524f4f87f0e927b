// The client against the running service, with a server in front that fails as networks do.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { issueKey } from '@partner-loyalty/gateway';
import { type Failure, type Front, startFront } from '../../test/support/client/front.ts';
import { type InProcessService, startInProcess } from '../../test/support/service/inprocess.ts';
import { addKey } from '../../test/support/service/testdata.ts';
import { until } from '../../test/support/until.ts';
import {
  type CallError,
  createMemberClient,
  createPartnerClient,
  isCallError,
  type PartnerClient,
  type ResponseEvent,
} from './index.ts';
import { PARTNER_MUTATIONS } from './partner.ts';

const EMAIL = 'both@example.com';

let service: InProcessService;
let front: Front;
let events: ResponseEvent[];
let client: PartnerClient;

beforeAll(async () => {
  // A window that tests can wait for.
  service = await startInProcess({ env: { RATE_LIMIT_WINDOW_SECONDS: '2' } });
});
afterAll(() => service.close());
beforeEach(async () => {
  // Random parts of waits, of a second and more, are milliseconds.
  jest.spyOn(Math, 'random').mockReturnValue(0.02);
  events = [];
  // A request of another test may arrive after that test has ended.
  front = await startFront(service.url);
  const onResponse = (event: ResponseEvent) => void events.push(event);
  client = createPartnerClient({ url: front.url, key: service.keys.alpha, onResponse });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await front.close();
});

/** The error that a call rejects with; everything that it shows is free of the key. */
async function failureOf(call: Promise<unknown>): Promise<CallError> {
  const error: unknown = await call.then(
    () => 'it resolved',
    (reason: unknown) => reason,
  );
  if (!isCallError(error)) throw error;
  for (const shown of [inspect(error), JSON.stringify(error), `${error.stack}`])
    expect(shown).not.toContain(service.keys.alpha);
  return error;
}

describe('what the service offers', () => {
  test('a look-up selects all that takes no arguments, and null means not found', async () => {
    const member = await client.memberByEmail({ email: EMAIL });
    expect(member).toMatchObject({
      memberId: 'm-both',
      externalId: 'shared-1',
      tier: 'Silver',
      standing: { points: 250, stays: 2, nextTier: 'Gold', pointsToNextTier: 750 },
    });
    expect(member).not.toHaveProperty('activities');
    expect(await client.memberById({ memberId: 'm-both' })).toMatchObject({ memberId: 'm-both' });
    expect(await client.memberByExternalId({ externalId: 'beta-7' })).toBeNull();
    expect(front.requests).toHaveLength(3);
  });

  test('a selection names the fields, with arguments in any of them', async () => {
    const select = {
      memberId: true,
      activities: { $arguments: { first: 1 }, edges: { node: { points: true } } },
    } as const;
    const member = await client.memberByEmail({ email: EMAIL }, { select });
    expect(member).toEqual({
      memberId: 'm-both',
      activities: { edges: [{ node: { points: expect.any(Number) } }] },
    });
    const [{ query, variables } = { query: '', variables: {} }] = front.requests;
    expect(query).not.toContain(EMAIL);
    expect(Object.values(variables)).toEqual([EMAIL, 1]);
  });

  test.each([
    ['a field that the schema lacks', { memberId: true, 'a } b { c': true }],
    ['a field of Object', { constructor: true }],
    ['no field', {}],
    ['an object without its fields', { standing: true }],
    ['fields of a scalar', { memberId: { length: true } }],
    ['an argument that the schema lacks', { standing: { tier: true, $arguments: { a: 1 } } }],
  ])('a selection with %s sends nothing', async (_, select) => {
    // Cast: the types refuse these too.
    const options = { select: select as { memberId: true } };
    await expect(client.memberByEmail({ email: EMAIL }, options)).rejects.toThrow(/^select: /);
    expect(front.requests).toEqual([]);
  });

  test('activities come page by page, from as many requests as are needed', async () => {
    const all = [];
    for await (const activity of client.activities('m-both', { pageSize: 1 })) all.push(activity);
    expect(all.map(({ points }) => points).sort()).toEqual([-50, 300]);
    expect(front.requests).toHaveLength(2);
    for await (const activity of client.activities('m-both', { pageSize: 1 })) {
      expect(activity.membershipYear).toMatch(/^\d{4}-01-01$/);
      break;
    }
    expect(front.requests).toHaveLength(3);
    const stays = [];
    for await (const each of client.activities('m-both', { select: { stays: true } }))
      stays.push(each);
    expect(stays).toEqual([{ stays: expect.any(Number) }, { stays: expect.any(Number) }]);
    const wrong = client.activities('m-both', { select: {} }).next();
    await expect(wrong).rejects.toThrow(/^select: /);
    const nobody = client.activities('m-nobody').next();
    expect((await failureOf(nobody)).code).toBe('MEMBER_NOT_FOUND');
  });

  test('any number of keys are looked up in requests of 100, in their order', async () => {
    const keys = Array.from({ length: 101 }, (_, index) => ({ memberId: `no-${index}` }));
    const progress: number[][] = [];
    const entries = await client.lookUpMembers([...keys, { email: EMAIL }], {
      onProgress: (soFar, total) => progress.push([soFar.length, total]),
    });
    expect(entries.slice(0, 101)).toEqual(Array(101).fill({ status: 'NOT_FOUND', member: null }));
    expect(entries[101]).toMatchObject({
      status: 'FOUND',
      member: { id: 'm-both', memberId: 'm-both', standing: { tier: 'Silver' } },
    });
    expect(progress).toEqual([
      [100, 102],
      [102, 102],
    ]);
    expect(front.requests.map(({ variables }) => variables.keys)).toMatchObject([
      { length: 100 },
      { length: 2 },
    ]);
    expect(await client.lookUpMembers([])).toEqual([]);
    const select = { tier: true } as const;
    const mixed = [{ email: EMAIL }, { memberId: 'no' }, { memberId: 'm', email: EMAIL }];
    expect(await client.lookUpMembers(mixed, { select })).toEqual([
      { status: 'FOUND', member: { tier: 'Silver' } },
      { status: 'NOT_FOUND', member: null },
      { status: 'INVALID', member: null },
    ]);
  });

  test('members() yields every member, page by page, and goes on after a cursor', async () => {
    // A list ends a second before now.
    await until(async () => {
      for await (const { memberId } of client.members({ pageSize: 10 }))
        if (memberId === 'm-both') return true;
      return false;
    });
    front.requests.length = 0;
    const seen = [];
    for await (const { memberId, status, node, cursor } of client.members({ pageSize: 1 }))
      seen.push({ memberId, status, id: node?.id, tier: node?.tier, cursor });
    const ids = seen.map(({ memberId }) => memberId);
    expect(ids).toContain('m-both');
    expect(new Set(ids).size).toBe(ids.length);
    expect(front.requests).toHaveLength(ids.length);
    for (const { memberId, status, id, tier } of seen)
      expect([status, id, tier]).toEqual(['ACTIVE', memberId, expect.any(String)]);
    const rest = [];
    const [first] = seen;
    for await (const edge of client.members({ after: first?.cursor, select: { email: true } }))
      rest.push(edge);
    expect(rest.map(({ memberId }) => memberId)).toEqual(ids.slice(1));
    expect(rest[0]?.node).toEqual({ email: expect.any(String) });
    for await (const { node, status } of client.members({ status: 'ENDED' }))
      expect([status, node]).toEqual(['ENDED', null]);
  });

  test('an enrollment from its beginning to its end', async () => {
    const input = { email: 'new@example.com', externalId: 'new-1', firstName: 'Ada' };
    const first = await client.enrollMember({ input });
    expect(first).toMatchObject({ created: true, member: { externalId: 'new-1', tier: 'Blue' } });
    expect(await client.enrollMember({ input }, { select: { created: true } })).toEqual({
      created: false,
    });
    const taken = client.enrollMember({ input: { ...input, email: 'second@example.com' } });
    expect(await failureOf(taken)).toMatchObject({
      code: 'EXTERNAL_ID_CONFLICT',
      reason: 'TAKEN',
      requestId: events.at(-1)?.requestId,
    });
    const { memberId } = first.member;
    expect(await client.changeExternalId({ memberId, externalId: null })).toMatchObject({
      externalId: null,
    });
    const names = { firstName: 'Ada', lastName: null };
    expect(await client.updateMember({ memberId, input: names })).toMatchObject(names);
    for (let time = 0; time < 2; time += 1)
      expect(await client.endEnrollment({ memberId })).toEqual({ memberId });
    expect(await client.memberById({ memberId })).toBeNull();
    const none = client.changeExternalId({ memberId: 'm-nobody', externalId: 'a' });
    expect((await failureOf(none)).code).toBe('MEMBER_NOT_FOUND');
  });

  test('an activity is recorded once, though its first response is lost', async () => {
    const key = await addKey(service.stores.keys, 'alpha', 'sandbox', { scopes: ['ingest'] });
    const ingest = createPartnerClient({ url: front.url, key });
    const occurredAt = new Date().toISOString();
    const stay = { activityId: 'stay-1', memberId: 'm-alpha', points: 40, stays: 1, occurredAt };
    const activities = [
      stay,
      { ...stay, activityId: 'stay-2', memberId: 'm-nobody' },
      { ...stay, activityId: 'stay-3', occurredAt: 'today' },
    ];
    front.failures.push('lose the response');
    expect(await ingest.recordActivities({ activities })).toEqual([
      { activityId: 'stay-1', outcome: 'ALREADY_RECORDED', argument: null },
      { activityId: 'stay-2', outcome: 'NOT_ENROLLED', argument: null },
      { activityId: 'stay-3', outcome: 'INVALID', argument: 'activities.2.occurredAt' },
    ]);
    expect(front.requests).toHaveLength(2);
    expect(await client.memberById({ memberId: 'm-alpha' })).toMatchObject({ points: 40 });
    const read = ingest.memberById({ memberId: 'm-alpha' });
    expect((await failureOf(read)).code).toBe('FORBIDDEN');
  });

  test('an own document gets its data and the errors of its fields', async () => {
    const document = `query ($email: String!) {
      found: memberByEmail(email: $email) { tier }
      not: memberByEmail(email: "nobody@example.com") { tier }
    }`;
    type Found = { found: { tier: string }; not: null };
    const result = await client.request<Found>(document, { email: EMAIL }, { requestId: 'mine' });
    expect(result.data).toEqual({ found: { tier: 'Silver' }, not: null });
    expect(result.errors).toMatchObject([
      { code: 'MEMBER_NOT_FOUND', path: ['not'], requestId: 'mine' },
    ]);
    expect(result.limits?.limit).toBe(600);
    expect(client.limits).toEqual(result.limits);
    expect((await failureOf(client.request('{ nothing }'))).code).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  test('a member reads the own profile and activities, and no other', async () => {
    const token = () => service.provider.issue('m-both');
    const member = createMemberClient({ url: service.url, token });
    const profile = await member.memberProfile({ id: 'm-both' });
    expect(profile?.membershipYearStats).toEqual({ akinPoints: 950, totalStays: 3 });
    expect(profile?.standings.map(({ partnerName }) => partnerName)).toEqual(['alpha', 'beta']);
    const all = [];
    for await (const { points } of member.activities('m-both', { pageSize: 2 })) all.push(points);
    expect(all.sort()).toEqual([-50, 300, 700]);
    const first = await member.activities('m-both', { select: { partnerId: true } }).next();
    expect(first.value).toEqual({ partnerId: expect.stringMatching(/^(alpha|beta)$/) });
    expect(await member.memberProfile({ id: 'm-alpha' })).toBeNull();
  });

  test.each<[string, string, Partial<CallError>]>([
    ['an unknown key', `pk_test_${'0'.repeat(36)}`, { code: 'UNAUTHENTICATED', status: 401 }],
    [
      'a key of the other environment',
      issueKey('production', 'alpha', new Date()).key,
      { code: 'KEY_ENVIRONMENT_MISMATCH', correctEndpoint: 'http://localhost:4001/graphql' },
    ],
  ])('the code for %s', async (_, key, expected) => {
    const other = createPartnerClient({ url: front.url, key });
    expect(await failureOf(other.memberByEmail({ email: EMAIL }))).toMatchObject(expected);
    expect(front.requests).toHaveLength(1);
  });
});

describe('a spent budget', () => {
  test('a call waits for the next window, a mutation too', async () => {
    const frugal = createPartnerClient({
      url: front.url,
      key: service.keys.frugal,
      onResponse: (event) => void events.push(event),
    });
    const waited = () => events.some(({ status, attempt }) => status === 200 && attempt > 1);
    for (let round = 0; !waited() && round < 20; round += 1) {
      // More at once than the budget, which is 5.
      const calls = Array.from({ length: 8 }, () => frugal.memberById({ memberId: 'm-frugal' }));
      expect(await Promise.all(calls)).toMatchObject(Array(8).fill({ points: 0 }));
    }
    expect(events.map(({ status }) => status)).toContain(429);
    front.failures.push({ status: 429, headers: { 'retry-after': '0' } });
    expect(await client.requestMagicLink({ email: 'nobody@example.com' })).toEqual({
      accepted: true,
    });
  });

  const SPENT = {
    status: 429,
    headers: { 'retry-after': '60' },
    body: '{"errors":[{"message":"the budget is used up","extensions":{"code":"RATE_LIMITED"}}]}',
  };

  test('a wait beyond the deadline is not begun, and an abort ends one', async () => {
    front.failures.push(SPENT, SPENT);
    const bounded = client.memberByEmail({ email: EMAIL }, { deadlineMs: 60_000 });
    expect(await failureOf(bounded)).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    const controller = new AbortController();
    const waiting = createPartnerClient({
      url: front.url,
      key: service.keys.alpha,
      onResponse: () => setTimeout(() => controller.abort(new Error('enough')), 10),
    }).memberByEmail({ email: EMAIL }, { signal: controller.signal });
    await expect(waiting).rejects.toThrow('enough');
    expect(front.requests).toHaveLength(2);
  });
});

const AWAY: [string, Failure][] = [
  ['a 503 of the service', { status: 503, headers: { 'retry-after': '0' }, body: unavailable() }],
  ['a 502 of a proxy', { status: 502, body: '<h1>Bad gateway</h1>' }],
  ['a closed connection', 'close'],
  ['a lost response', 'lose the response'],
];

describe.each(AWAY)('%s', (_, failure) => {
  test('a read is sent again', async () => {
    front.failures.push(failure, failure);
    expect(await client.memberByEmail({ email: EMAIL })).toMatchObject({ memberId: 'm-both' });
    expect(front.requests).toHaveLength(3);
    front.failures.push(failure);
    await client.request('{ memberById(memberId: "m-both") { memberId } }');
    expect(front.requests).toHaveLength(5);
  });

  test('a mutation that is idempotent is sent again', async () => {
    front.failures.push(failure);
    const input = { email: EMAIL };
    expect(await client.enrollMember({ input })).toMatchObject({ created: false });
    expect(front.requests).toHaveLength(2);
  });

  test('a mutation that is not idempotent is sent once', async () => {
    const calls = [
      () => client.requestMagicLink({ email: 'unknown@example.com' }),
      () => client.inviteMember({ input: { email: 'guest@example.com' } }),
      () => client.exchangeMagicLink({ token: 'ml_unknown' }),
      () => client.request('mutation { requestMagicLink(email: "a@example.com") { accepted } }'),
    ];
    expect(Object.values(PARTNER_MUTATIONS).filter((repeatable) => !repeatable)).toHaveLength(3);
    for (const [index, call] of calls.entries()) {
      front.failures.push(failure);
      const { code } = await failureOf(call());
      expect(['SERVICE_UNAVAILABLE', 'NETWORK_ERROR']).toContain(code);
      expect(front.requests).toHaveLength(index + 1);
    }
  });
});

test('an outage that lasts ends after maxRetries', async () => {
  front.failures.push('close', 'close', 'close');
  const failed = client.memberByEmail({ email: EMAIL }, { maxRetries: 1 });
  expect((await failureOf(failed)).code).toBe('NETWORK_ERROR');
  expect(front.requests).toHaveLength(2);
});

test('look-ups of which a part of the service is away are sent again, and never half an answer', async () => {
  const half = `{"data":{"memberLookups":[{"member":null}]},"errors":[
    {"message":"away","path":["memberLookups",0,"member"],"extensions":{"code":"SERVICE_UNAVAILABLE"}}]}`;
  const reply = { status: 200, body: half };
  front.failures.push(reply);
  expect(await client.lookUpMembers([{ email: EMAIL }])).toMatchObject([
    { member: { memberId: 'm-both' } },
  ]);
  expect(front.requests).toHaveLength(2);
  front.failures.push(reply);
  const once = client.lookUpMembers([{ email: EMAIL }], { maxRetries: 0 });
  expect((await failureOf(once)).code).toBe('SERVICE_UNAVAILABLE');
});

test('an error that nobody expected: a read is sent once more, and no other mutation', async () => {
  const error = { message: 'm', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
  const whole = { status: 500, body: JSON.stringify({ errors: [error] }) };
  const part = {
    status: 200,
    body: JSON.stringify({ errors: [error], data: { memberByEmail: null } }),
  };
  for (const reply of [whole, part]) {
    const before = front.requests.length;
    front.failures.push(reply);
    expect(await client.memberByEmail({ email: EMAIL })).toMatchObject({ memberId: 'm-both' });
    front.failures.push(reply, reply);
    const twice = client.memberByEmail({ email: EMAIL });
    expect((await failureOf(twice)).code).toBe('INTERNAL_SERVER_ERROR');
    front.failures.push(reply);
    const mail = client.requestMagicLink({ email: 'nobody@example.com' });
    expect((await failureOf(mail)).code).toBe('INTERNAL_SERVER_ERROR');
    expect(front.requests.length - before).toBe(5);
  }
});

test('an error in a 200 says when to try again', async () => {
  const extensions = { code: 'SERVICE_UNAVAILABLE', retryAfter: 90 };
  const error = { message: 'm', path: ['memberByEmail'], extensions };
  const body = JSON.stringify({ errors: [error], data: { memberByEmail: null } });
  front.failures.push({ status: 200, body });
  expect(await failureOf(client.memberByEmail({ email: EMAIL }))).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds: 90,
  });
  expect(front.requests).toHaveLength(1);
});

test('an own document gets what there is, after three retries for the part that is away', async () => {
  const body = `{"data":{"memberById":{"memberId":"m","offers":null}},"errors":[
    {"message":"away","path":["memberById","offers"],"extensions":{"code":"SERVICE_UNAVAILABLE"}}]}`;
  front.failures.push('close', ...Array(4).fill({ status: 200, body }));
  const result = await client.request('{ memberById(memberId: "m") { memberId offers } }');
  expect(result.data).toEqual({ memberById: { memberId: 'm', offers: null } });
  expect(result.errors).toMatchObject([{ code: 'SERVICE_UNAVAILABLE' }]);
  expect(front.requests).toHaveLength(5);
});

test('a response that does not come is a TIMEOUT, and a read is sent again', async () => {
  front.failures.push('hang');
  const failed = client.memberByEmail({ email: EMAIL }, { timeoutMs: 50, maxRetries: 0 });
  expect((await failureOf(failed)).code).toBe('TIMEOUT');
  front.failures.push('hang');
  const again = client.memberByEmail({ email: EMAIL }, { timeoutMs: 1_000, maxRetries: 20 });
  expect(await again).toMatchObject({ memberId: 'm-both' });
});

test.each<[string, Partial<Parameters<typeof createPartnerClient>[0]>]>([
  ['a service that does not respond', {}],
  ['a key that does not come', { key: () => new Promise(() => {}) }],
  ['a fetch that ignores its signal', { fetch: () => new Promise(() => {}) }],
])('the deadline of a call bounds %s', async (_, options) => {
  front.failures.push('hang', 'hang');
  const bounded = createPartnerClient({ url: front.url, key: service.keys.alpha, ...options });
  const call = bounded.memberByEmail({ email: EMAIL }, { deadlineMs: 300, timeoutMs: 200 });
  expect((await failureOf(call)).code).toBe('TIMEOUT');
  expect(front.requests.length).toBeLessThanOrEqual(2);
});

test('an abort rejects with the reason of the signal: before, and while the response is awaited', async () => {
  const signal = AbortSignal.abort(new Error('too early'));
  await expect(client.memberByEmail({ email: EMAIL }, { signal })).rejects.toThrow('too early');
  expect(front.requests).toEqual([]);
  front.failures.push('hang');
  const controller = new AbortController();
  const call = client.memberByEmail({ email: EMAIL }, { signal: controller.signal });
  await until(() => front.requests.length === 1);
  controller.abort(new Error('too late'));
  await expect(call).rejects.toThrow('too late');
});

test('a redirect is not followed: the key goes nowhere else', async () => {
  let visits = 0;
  const elsewhere = createServer((_, response) => {
    visits += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => elsewhere.once('listening', resolve));
  // Cast: a server that listens on a port has an address with a port.
  const { port } = elsewhere.address() as AddressInfo;
  for (const status of [301, 302, 307, 308]) {
    front.failures.push({ status, headers: { location: `http://127.0.0.1:${port}/` } });
    const { code, message } = await failureOf(client.memberByEmail({ email: EMAIL }));
    expect([code, message]).toEqual(['UNEXPECTED_RESPONSE', expect.stringContaining('redirect')]);
  }
  expect([visits, front.requests.length]).toEqual([0, 4]);
  elsewhere.close();
});

const member = (more: object) =>
  JSON.stringify({ data: { memberByEmail: { memberId: 'm', email: 'e', ...more } } });

test.each<[string, Partial<Exclude<Failure, string>>]>([
  ['text', { body: 'hello' }],
  ['no body', {}],
  ['a JSON array', { body: '[]' }],
  ['null', { body: 'null' }],
  ['an object of something else', { body: '{"ok":true}' }],
  ['data that is a list', { body: '{"data":[]}' }],
  ['errors that are no list', { body: '{"errors":{"a":1}}' }],
  ['a member without its fields', { body: member({}) }],
  ['a member that is a list', { body: '{"data":{"memberByEmail":[]}}' }],
  ['a refusal without a body', { status: 403 }],
  ['a page of a proxy', { status: 400, body: '<h1>no</h1>' }],
  ['JSON of 100,000 levels', { body: '['.repeat(100_000) }],
  ['3 MiB', { body: Array(48).fill(' '.repeat(65_536)) }],
])('UNEXPECTED_RESPONSE for %s', async (_, reply) => {
  front.failures.push({ status: 200, ...reply });
  expect((await failureOf(client.memberByEmail({ email: EMAIL }))).code).toBe(
    'UNEXPECTED_RESPONSE',
  );
  expect(front.requests).toHaveLength(1);
});

test('a member whose points are no number names the place', async () => {
  const select = { memberId: true, standing: { points: true } } as const;
  front.failures.push({ status: 200, body: member({ standing: { points: '5' } }) });
  const failed = client.memberByEmail({ email: EMAIL }, { select });
  expect((await failureOf(failed)).message).toContain('memberByEmail.standing.points');
});

test('an error that repeats the key, or is of a form of its own, shows no key', async () => {
  const key = service.keys.alpha;
  const extensions = { code: key, requestId: key, argument: key, correctEndpoint: key };
  const errors = [{ message: `no ${key}`.padEnd(5_000, key), path: [key], extensions }, 1, null];
  front.failures.push({ status: 400, body: JSON.stringify({ errors, correctEndpoint: key }) });
  const error = await failureOf(client.memberByEmail({ email: EMAIL }));
  expect(error.code).toBe('OTHER');
  expect(error.message.length).toBeLessThanOrEqual(300);
});

test('what cannot be right is refused without repeating it', async () => {
  const key = service.keys.alpha;
  for (const url of ['', 'graphql', 'ftp://a/graphql', `http://a:${key}@b/`, `http://a/?${key}`])
    expect(() => createPartnerClient({ url, key })).toThrow(/^url must [^_]*$/);
  for (const wrong of ['', `${key}\n`, key.slice(1), 'ey.ey.ey']) {
    const message = 'key must be a partner key: pk_test_… or pk_live_…';
    const url = front.url;
    expect(() => createPartnerClient({ url, key: wrong })).toThrow(new TypeError(message));
    const given = createPartnerClient({ url, key: async () => wrong });
    const error = await failureOf(given.memberByEmail({ email: EMAIL }, { requestId: 'mine' }));
    const expected = { code: 'UNAUTHENTICATED', message, status: undefined, requestId: 'mine' };
    expect(error).toMatchObject(expected);
  }
  // Cast: JavaScript can pass it.
  const none = undefined as unknown as string;
  expect(() => createPartnerClient({ url: front.url, key: none })).toThrow(TypeError);
  expect(() => createMemberClient({ url: front.url, token: key })).toThrow(/^token must be [^_]*$/);
  const member = createMemberClient({ url: front.url, token: () => key });
  expect((await failureOf(member.memberProfile({ id: 'm' }))).code).toBe('UNAUTHENTICATED');
  await expect(client.memberByEmail({ email: EMAIL }, { requestId: 'a\nb' })).rejects.toThrow(
    /^requestId must/,
  );
  expect(() => createPartnerClient({ url: front.url, key, timeoutMs: -1 })).toThrow(/^timeoutMs/);
  expect(front.requests).toEqual([]);
  expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(key);
});

function unavailable(): string {
  const error = { message: 'away', extensions: { code: 'SERVICE_UNAVAILABLE' } };
  return JSON.stringify({ errors: [error], data: { memberByEmail: null } });
}
