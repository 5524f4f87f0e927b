// Hostile input: each request is refused or answered as what it is.
import type { ApiRequest, ApiResponse } from '../support/service/client.ts';
import { leaksIn } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const READ = 'query ($email: String!) { memberByEmail(email: $email) { memberId } }';
const LOOK_UPS =
  'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { status member { memberId } } }';
const BY_ID =
  'query ($externalId: String!) { memberByExternalId(externalId: $externalId) { memberId } }';
const ENROLL = 'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }';
const RECORD =
  'mutation ($activities: [ActivityInput!]!) { recordActivities(activities: $activities) { outcome } }';

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess({ env: { RATE_LIMIT_BUDGET: '1000000' } });
});
afterAll(() => service.close());

/** Sends a request and checks what holds for every response. */
async function send(request: ApiRequest): Promise<ApiResponse> {
  const response = await service.send(request);
  expect(response.status).toBeLessThan(500);
  const own = JSON.stringify(request.query ?? '').slice(1, -1);
  expect(leaksIn(response.text.replaceAll(own, ''))).toEqual([]);
  return response;
}

/** Sends a value, written as it is, for the variable of a query. */
const sendVariable = (query: string, name: string, value: string) =>
  send({ body: `{"query":${JSON.stringify(query)},"variables":{"${name}":${value}}}` });

test.each([
  '{"query": }',
  '{"query":"{ __typename }"} {}',
  '\ufeff\ufeff{"query":"{ __typename }"}',
  '{"query":"{ __typename }" /* hm */}',
  "{'query':'{ __typename }'}",
  '{"query":"{ \u0000 }"}',
  '{"query":"\\x41"}',
  '[['.repeat(30_000),
  'NaN',
  '{"__proto__":{"query":"{ __typename }"}}',
])('JSON that is none is BAD_REQUEST (%#)', async (body) => {
  const { status, code } = await send({ body });
  expect([status, code]).toEqual([400, 'BAD_REQUEST']);
});

test('of duplicate keys, the last one counts, and nothing of the first', async () => {
  const { body } = await send({
    body: `{"query":"{ nothing }","variables":[],"query":${JSON.stringify(READ)},"variables":{"email":"a","email":"both@example.com"}}`,
  });
  expect(body.data).toMatchObject({ memberByEmail: { memberId: 'm-both' } });
});

const DEEP = [
  '['.repeat(30_000) + ']'.repeat(30_000),
  '{"a":'.repeat(9_000) + '1}'.padEnd(9_001, '}'),
];

test.each<[string, string, string]>([
  ...[...DEEP, `[${'1,'.repeat(30_000)}1]`, '{}', '1e999', 'true', 'null'].map(
    (value) => [READ, 'email', value] as [string, string, string],
  ),
  ...[...DEEP, `[${'{},'.repeat(20_000)}{}]`, '[[{"memberId":"m-both"}]]', '[null]'].map(
    (value) => [LOOK_UPS, 'keys', value] as [string, string, string],
  ),
  ...['{"length":3}', '"m-both"', 'null'].map(
    (value) => [LOOK_UPS, 'keys', value] as [string, string, string],
  ),
  [ENROLL, 'input', '{"email":"polluted@example.com","__proto__":{"externalId":"polluted"}}'],
  [ENROLL, '__proto__', '{"input":{"email":"polluted@example.com"}}'],
])('a variable of another type is BAD_USER_INPUT: %s, %s (%#)', async (query, name, value) => {
  const { status, code } = await sendVariable(query, name, value);
  expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
});

test('null is refused for a variable that only its default makes valid in a non-null position', async () => {
  // A cached document takes another path.
  for (const query of [
    'query ($v: String = "both@example.com") { memberByEmail(email: $v) { tier } }',
    'query ($v: Boolean = true) { memberByEmail(email: "both@example.com") { tier @include(if: $v) } }',
    'query ($v: String = "Query") { __type(name: $v) { name } }',
  ])
    for (const _ of [1, 2, 3]) {
      const { status, code } = await send({ query, variables: { v: null } });
      expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
      expect((await send({ query })).status).toBe(200);
    }
});

test.each(['x'.repeat(15_000), 'a\u0000b', 'a\u0085b', '\ude00\ud83d'])(
  'a text that is none is refused as an address, an ID and a name (%#)',
  async (text) => {
    for (const [query, variables] of [
      [READ, { email: `${text}@example.com` }],
      [BY_ID, { externalId: text }],
      [ENROLL, { input: { email: 'a@example.com', lastName: text } }],
      ['mutation ($id: ID!) { endEnrollment(memberId: $id) { memberId } }', { id: text }],
      ['query ($id: ID!) { memberById(memberId: $id) { memberId } }', { id: text }],
      [
        'mutation ($id: ID!, $x: String) { changeExternalId(memberId: $id, externalId: $x) { memberId } }',
        { id: 'm-both', x: text },
      ],
    ] as const)
      expect((await send({ query, variables })).code).toBe('BAD_USER_INPUT');
    const occurredAt = '2026-01-01T00:00:00Z';
    const activity = { activityId: 'a-1', memberId: 'm-both', points: 1, occurredAt };
    const activities = ['activityId', 'memberId', 'occurredAt'].map((field) => ({
      ...activity,
      [field]: text,
    }));
    expect((await send({ query: RECORD, variables: { activities } })).body.data).toEqual({
      recordActivities: Array(3).fill({ outcome: 'INVALID' }),
    });
    const keys = [{ email: `${text}@example.com` }, { externalId: text }, { memberId: text }];
    expect((await send({ query: LOOK_UPS, variables: { keys } })).body.data).toEqual({
      memberLookups: Array(3).fill({ status: 'INVALID', member: null }),
    });
  },
);

test.each([...['__proto__', 'constructor', 'toString', 'then', 'toJSON', 'length']])(
  '%s is an ordinary name of aliases, variables, fragments and operations',
  async (name) => {
    const query = `query ${name}($${name}: String!) { ${name}: memberByEmail(email: $${name}) { ...${name} tier } }
    fragment ${name} on PartnerMemberRead { ${name}: memberId }`;
    for (const _ of [1, 2, 3]) {
      const { text } = await send({
        body: `{"query":${JSON.stringify(query)},"operationName":"${name}","variables":{"${name}":"both@example.com"}}`,
      });
      expect(text).toBe(`{"data":{"${name}":{"${name}":"m-both","tier":"Silver"}}}`);
    }
    expect((await send({ query: BY_ID, variables: { externalId: name } })).code).toBe(
      'MEMBER_NOT_FOUND',
    );
  },
);

test('such names do not pollute other objects when results of subgraphs are merged', async () => {
  const token = await service.provider.issue('m-both');
  const query = `query ($id: ID!) { memberProfile(id: $id) {
    __proto__: membershipYearStats { polluted: akinPoints } constructor: partnerStandings { prototype: points } } }`;
  for (const _ of [1, 2])
    expect((await send({ query, variables: { id: 'm-both' }, token })).text).toBe(
      '{"data":{"memberProfile":{"__proto__":{"polluted":950},"constructor":[{"prototype":250},{"prototype":700}]}}}',
    );
  const { text } = await send({ query: '{ memberById(memberId: "m-both") { memberId } }' });
  expect(text).not.toContain('polluted');
});

// No document makes the service answer much, whatever its caller repeats.

const repeat = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

test('names over 128 characters are refused, which made 63 KB in to 467 MB out', async () => {
  const attack = (name: string) =>
    `query A { __schema { types { ${repeat(130, () => '...F')} } } } fragment F on __Type { ${name}: name }`;
  expect((await send({ query: attack('a'.repeat(128)) })).status).toBe(200);
  const name = 'a'.repeat(129);
  for (const query of [
    attack(name),
    `{ ${name} }`,
    `{ memberByEmail(${name}: "a") { email } }`,
    `query ($${name}: String!) { __typename }`,
    `{ ...${name} } fragment ${name} on Query { __typename }`,
    `query ${name} { __typename }`,
    `{ __typename @${name} }`,
  ])
    expect(await send({ query })).toMatchObject({ status: 400, code: 'OPERATION_TOO_COMPLEX' });
});

test('introspection is stopped at 1 MiB, and below it answered', async () => {
  const wide = (count: number) =>
    `{ __schema { types { fields { ${repeat(count, (n) => `${'a'.repeat(120)}${n}: name description`)} } } } }`;
  expect((await service.send({ query: wide(20) })).status).toBe(200);
  const large = await send({ query: wide(240) });
  expect([large.status, large.code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
  expect(large.text.length).toBeLessThan(1_000);
});

test('a document that only spreads unknown or cyclic fragments costs 1', async () => {
  for (const query of ['{ ...F }', '{ ...F } fragment F on Query { ...F }']) {
    const [first = 0, second = 0] = [await send({ query }), await send({ query })].map(
      ({ headers }) => Number(headers.get('ratelimit-remaining')),
    );
    expect(first - second).toBe(1);
  }
});

test('errors are few and short, and every failed root field keeps its first one', async () => {
  const unknown = repeat(100, (n) => `a${n}: email @nothing`);
  const many = await send({ query: `{ memberByEmail(email: "a") { ${unknown} } }` });
  expect([many.status, many.body.errors?.length]).toEqual([400, 5]);
  const long = await send({ query: READ, variables: { email: ['x'.repeat(60_000)] } });
  expect(long.text.length).toBeLessThan(2_000);
  for (const { message } of long.body.errors ?? []) expect(message.length).toBeLessThanOrEqual(300);
  const fields = repeat(
    10,
    (n) => `a${n}: memberByEmail(email: "nobody${n}@example.com") { email }`,
  );
  const { body } = await send({ query: `{ ${fields} }` });
  expect(body.errors?.map(({ path }) => path?.[0])).toEqual(
    Array.from({ length: 10 }, (_, n) => `a${n}`),
  );
});
