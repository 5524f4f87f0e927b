// Hostile input: each request is refused or answered, while other callers are served.
import { once } from 'node:events';
import { connect } from 'node:net';
import { ALL_TRUE, EXPENSIVE_DOCUMENTS } from '../support/cases/documents.ts';
import type { ApiRequest, ApiResponse } from '../support/service/client.ts';
import { leaksIn } from '../support/service/client.ts';
import { type Probe, startProbe } from '../support/service/probe.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const READ =
  'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';
const LOOK_UPS =
  'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { status member { memberId } } }';
const BY_ID =
  'query ($externalId: String!) { memberByExternalId(externalId: $externalId) { memberId } }';
const RECORD =
  'mutation ($activities: [ActivityInput!]!) { recordActivities(activities: $activities) { outcome } }';
const ACTIVITY = {
  activityId: 'a-1',
  memberId: 'm-both',
  points: 1,
  occurredAt: '2026-01-01T00:00:00Z',
};

const MEBIBYTE = 1024 * 1024;

let service: DeployedService;
let probe: Probe;

beforeAll(async () => {
  service = await startDeployed('one process', {
    NODE_OPTIONS: '--max-old-space-size=256',
    RATE_LIMIT_BUDGET: '1000000',
    MAX_CONNECTIONS_PER_ADDRESS: '120',
  });
  probe = await startProbe(service.send);
  expect(probe.expected).toContain('"memberId":"m-both"');
});
afterAll(() => service.close());

/** Sends a request and checks what holds for every response. */
async function send(request: ApiRequest): Promise<ApiResponse> {
  const response = await probe.during(() => service.send(request));
  expect(response.status).toBeLessThan(500);
  expect(
    leaksIn(response.text.replaceAll(JSON.stringify(request.query ?? '').slice(1, -1), '')),
  ).toEqual([]);
  return response;
}

const sendBody = (text: string) => send({ body: text });
const quoted = (text: string) => JSON.stringify(text);

describe('an expensive document is refused or answered', () => {
  test.each(Object.keys(EXPENSIVE_DOCUMENTS))('%s', async (name) => {
    const query = EXPENSIVE_DOCUMENTS[name];
    // Twice, since a cached document takes another path.
    for (const round of ['', ' ']) {
      const { status, code } = await send({
        query: `${query}${round}`,
        variables: ALL_TRUE,
        operationName: query?.includes('query Asked') ? 'Asked' : undefined,
      });
      expect([200, 400]).toContain(status);
      if (status === 400)
        expect([
          'OPERATION_TOO_COMPLEX',
          'GRAPHQL_VALIDATION_FAILED',
          'GRAPHQL_PARSE_FAILED',
          'BAD_REQUEST',
        ]).toContain(code);
    }
  });

  test('all of them concurrently', async () => {
    const responses = await probe.during(() =>
      Promise.all(
        Object.values(EXPENSIVE_DOCUMENTS).map((query) =>
          service.send({ query, variables: ALL_TRUE }),
        ),
      ),
    );
    for (const { status } of responses) expect([200, 400]).toContain(status);
  });

  test('two hundred different documents', async () => {
    await probe.during(async () => {
      for (const round of Array(8).keys()) {
        const many = Array.from({ length: 25 }, (_, n) =>
          service.send({ query: `{ a${round}x${n}: memberByEmail(email: "x${n}") { tier } }` }),
        );
        for (const { code } of await Promise.all(many)) expect(code).toBe('MEMBER_NOT_FOUND');
      }
    });
  });
});

describe('JSON', () => {
  test.each([
    ['malformed', '{"query": }'],
    ['truncated', '{"query":"{ __typ'],
    ['followed by another value', '{"query":"{ __typename }"} {}'],
    ['a byte order mark twice', '\ufeff\ufeff{"query":"{ __typename }"}'],
    ['comments', '{"query":"{ __typename }" /* hm */}'],
    ['single quotes', "{'query':'{ __typename }'}"],
    ['raw control characters', '{"query":"{ \u0001 }"}'],
    ['a raw NUL byte', '{"query":"{ \u0000 }"}'],
    ['a bad escape', '{"query":"\\x41"}'],
    ['60,000 nested lists, truncated', '['.repeat(60_000)],
    ['a number', '12'],
    ['NaN', 'NaN'],
    ['an empty body', ''],
    ['only spaces', ' '.repeat(1_000)],
  ])('%s is refused', async (_, text) => {
    const { status, code } = await sendBody(text);
    expect([status, code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('with duplicate keys: the last one counts, and nothing of the first', async () => {
    const { body } = await sendBody(
      `{"query":"{ nothing }","variables":[],"query":${quoted(READ)},"variables":{"email":"a","email":"both@example.com"}}`,
    );
    expect(body.data).toMatchObject({ memberByEmail: { memberId: 'm-both' } });
  });

  test.each([
    ['nested lists', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['nested objects', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`],
    ['a list of 30,000 numbers', `[${'1,'.repeat(30_000)}1]`],
    ['an object', '{}'],
    ['a number', '12'],
    ['a number that is too large', '1e999'],
    ['true', 'true'],
    ['null', 'null'],
  ])('a variable that is not a string is refused: %s', async (_, value) => {
    const { status, code } = await sendBody(
      `{"query":${quoted(READ)},"variables":{"email":${value}}}`,
    );
    expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('null is refused for a variable that only its default makes valid in a non-null position', async () => {
    const documents = [
      'query ($v: String = "both@example.com") { memberByEmail(email: $v) { tier } }',
      'query ($v: Boolean = true) { memberByEmail(email: "both@example.com") { tier @include(if: $v) } }',
      'query ($v: String = "Query") { __type(name: $v) { name } }',
      'mutation ($v: String = "both@example.com") { enrollMember(input: { email: $v }) { created } }',
    ];
    for (const query of documents) {
      for (const _ of [1, 2, 3]) {
        const { status, code } = await send({ query, variables: { v: null } });
        expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
        expect((await send({ query })).status).toBe(200);
      }
    }
  });
});

describe('a list', () => {
  test.each([
    ['of 30,000 items', `[${'{},'.repeat(20_000)}{}]`],
    ['in a list', '[[{"memberId":"m-both"}]]'],
    ['of lists', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['of nulls', '[null]'],
    ['of strings', '["m-both"]'],
    ['in an object with a length', '{"length":3}'],
    ['that is a string', '"m-both"'],
    ['that is a number', '100'],
    ['that is null', 'null'],
  ])('%s is refused', async (_, value) => {
    const { status, code } = await sendBody(
      `{"query":${quoted(LOOK_UPS)},"variables":{"keys":${value}}}`,
    );
    expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
  });
});

describe('a text', () => {
  test.each([
    ['that is too long', 'x'.repeat(60_000)],
    ['that is too long, of two-byte characters', 'é'.repeat(30_000)],
    ['that is too long, of emoji', '😀'.repeat(15_000)],
    ['that is too long, of spaces', `a${' '.repeat(60_000)}b`],
    ['that is too long, of combining marks', `a${'\u0301'.repeat(25_000)}`],
    ['with a NUL byte', 'a\u0000b'],
    ['with a leading NUL byte', '\u0000'],
    ['with a line break', 'a\nb'],
    ['with DEL', 'a\u007fb'],
    ['with a C1 control character', 'a\u0085b'],
    ['with a lone high surrogate', 'a\ud83d'],
    ['with a lone low surrogate', '\ude00a'],
    ['with surrogates in the wrong order', '\ude00\ud83d'],
  ])('%s is refused as an address, external ID, name and id', async (_, text) => {
    for (const [query, variables] of [
      [READ, { email: `${text}@example.com` }],
      [BY_ID, { externalId: text }],
      [
        'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }',
        { input: { email: 'a@example.com', lastName: text } },
      ],
      [
        'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }',
        { memberId: text },
      ],
      ['query ($id: ID!) { memberById(memberId: $id) { memberId } }', { id: text }],
      [
        'mutation ($id: ID!, $x: String) { changeExternalId(memberId: $id, externalId: $x) { memberId } }',
        { id: 'm-both', x: text },
      ],
    ] as const) {
      const { status, code } = await send({ query, variables });
      expect([status, code]).toEqual([200, 'BAD_USER_INPUT']);
    }
    for (const field of ['activityId', 'memberId', 'occurredAt']) {
      const activities = [{ ...ACTIVITY, [field]: text }];
      const { body } = await send({ query: RECORD, variables: { activities } });
      expect(body).toEqual({ data: { recordActivities: [{ outcome: 'INVALID' }] } });
    }
    const keys = [{ email: `${text}@example.com` }, { externalId: text }, { memberId: text }];
    for (const key of keys) {
      const { body } = await send({ query: LOOK_UPS, variables: { keys: [key] } });
      expect(body.data).toEqual({ memberLookups: [{ status: 'INVALID', member: null }] });
    }
    expect((await send({ query: READ, variables: { email: 'a@example.com' } })).code).toBe(
      'MEMBER_NOT_FOUND',
    );
  });

  test.each([
    '{"$gt":""}',
    '$where: 1',
    "' OR 1=1 --",
    '../../etc/passwd',
    '%00',
    '%F0%9F',
    '#{7*7}',
    '{{7*7}}',
    '<script>alert(1)</script>',
    '\u202egnp.exe',
    '\ufeff',
    '\uffff',
    'ﷺ'.repeat(80),
    'İ',
    'ß',
  ])('with a meaning in another language is plain text: %s', async (text) => {
    for (const [query, variables] of [
      [READ, { email: text }],
      [READ, { email: `${text}@example.com` }],
      [BY_ID, { externalId: text }],
      ['query ($id: ID!) { memberById(memberId: $id) { memberId } }', { id: text }],
    ] as const) {
      const { status, code } = await send({ query, variables });
      expect(status).toBe(200);
      expect(['MEMBER_NOT_FOUND', 'BAD_USER_INPUT']).toContain(code);
    }
    const page =
      'query ($after: String) { memberById(memberId: "m-both") { activities(after: $after) { edges { cursor } } } }';
    expect((await send({ query: page, variables: { after: text } })).code).toBe('BAD_USER_INPUT');
    for (const kind of ['email', 'externalId', 'memberId']) {
      const { body } = await send({ query: LOOK_UPS, variables: { keys: [{ [kind]: text }] } });
      expect(body.data).toMatchObject({ memberLookups: [{ member: null }] });
    }
  });
});

describe('the name of a built-in property', () => {
  const NAMES = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    'toJSON',
    '__defineGetter__',
    'length',
  ];

  test.each(NAMES)('%s is an ordinary alias', async (name) => {
    for (const _ of [1, 2, 3]) {
      const { text } = await send({
        query: `{ ${name}: memberByEmail(email: "both@example.com") { ${name}: memberId tier } }`,
      });
      expect(text).toBe(`{"data":{"${name}":{"${name}":"m-both","tier":"Silver"}}}`);
    }
  });

  test.each(NAMES)(
    '%s is an ordinary name of variables, fragments and operations',
    async (name) => {
      const query = `query ${name}($${name}: String!) { memberByEmail(email: $${name}) { ...${name} } } fragment ${name} on PartnerMemberRead { memberId }`;
      for (const _ of [1, 2, 3]) {
        const { text } = await sendBody(
          `{"query":${quoted(query)},"operationName":"${name}","variables":{"${name}":"both@example.com"}}`,
        );
        expect(text).toBe('{"data":{"memberByEmail":{"memberId":"m-both"}}}');
      }
    },
  );

  test.each(NAMES)(
    '%s pollutes neither the body nor the variables nor input objects',
    async (name) => {
      expect((await sendBody(`{"${name}":{"query":"{ __typename }"}}`)).code).toBe('BAD_REQUEST');
      expect(
        (
          await sendBody(
            `{"query":${quoted(READ)},"variables":{"${name}":{"email":"both@example.com"}}}`,
          )
        ).code,
      ).toBe('BAD_USER_INPUT');
      const enroll =
        'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }';
      const input = `{"email":"polluted@example.com","${name}":{"externalId":"polluted"}}`;
      expect(
        (await sendBody(`{"query":${quoted(enroll)},"variables":{"input":${input}}}`)).code,
      ).toBe('BAD_USER_INPUT');
      expect((await send({ query: BY_ID, variables: { externalId: name } })).code).toBe(
        'MEMBER_NOT_FOUND',
      );
    },
  );

  test('does not pollute other objects when results of subgraphs are merged', async () => {
    const token = await service.provider.issue('m-both');
    const query = `query ($id: ID!) { memberProfile(id: $id) {
      __proto__: membershipYearStats { polluted: akinPoints } constructor: partnerStandings { prototype: points } } }`;
    for (const _ of [1, 2]) {
      const { text } = await send({ query, variables: { id: 'm-both' }, token });
      expect(text).toBe(
        '{"data":{"memberProfile":{"__proto__":{"polluted":950},"constructor":[{"prototype":250},{"prototype":700}]}}}',
      );
    }
    const { text } = await send({
      query: '{ memberByEmail(email: "both@example.com") { memberId } }',
    });
    expect(text).not.toContain('polluted');
  });
});

// No document makes the service answer much, work long or keep much, whatever its caller repeats.

const repeat = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

describe('a long name under many spreads, which made 63 KB in to 467 MB out', () => {
  const attack = (name: string) =>
    `query A { __schema { types { ${repeat(130, () => '...F')} } } } fragment F on __Type { ${name}: name }`;

  test('names over 128 characters are refused', async () => {
    const { status, code } = await probe.during(() =>
      service.send({ query: attack('a'.repeat(61_000)) }),
    );
    expect([status, code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
    expect((await service.send({ query: attack('a'.repeat(129)) })).code).toBe(
      'OPERATION_TOO_COMPLEX',
    );
    expect((await service.send({ query: attack('a'.repeat(128)) })).status).toBe(200);
  });

  test.each([
    ['a field', (name: string) => `{ ${name} }`],
    ['an argument', (name: string) => `{ memberByEmail(${name}: "a") { email } }`],
    ['a variable', (name: string) => `query ($${name}: String!) { __typename }`],
    ['a fragment', (name: string) => `{ ...${name} } fragment ${name} on Query { __typename }`],
    ['an operation', (name: string) => `query ${name} { __typename }`],
    ['a directive', (name: string) => `{ __typename @${name} }`],
  ])('as the name of %s too', async (_, query) => {
    const { status, code } = await service.send({ query: query('a'.repeat(129)) });
    expect([status, code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
  });
});

test('introspection is stopped at 1 MiB, and below it answered', async () => {
  const wide = (count: number) =>
    `{ __schema { types { fields { ${repeat(count, (n) => `${'a'.repeat(120)}${n}: name description`)} } } } }`;
  const small = await service.send({ query: wide(20) });
  expect(small.status).toBe(200);
  const large = await probe.during(() => service.send({ query: wide(240) }));
  expect([large.status, large.code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
  expect(large.text.length).toBeLessThan(1_000);
});

test('a document that only spreads unknown or cyclic fragments costs 1', async () => {
  for (const query of ['{ ...F }', '{ ...F } fragment F on Query { ...F }']) {
    const [first, second] = [await service.send({ query }), await service.send({ query })];
    const remaining = ({ headers }: typeof first) => Number(headers.get('ratelimit-remaining'));
    expect(first.status).toBe(400);
    expect(remaining(first) - remaining(second)).toBe(1);
  }
});

describe('errors are few and short', () => {
  test('a hundred repeated directives get five errors', async () => {
    const query = `{ memberByEmail(email: "a") { ${repeat(100, (n) => `a${n}: email @nothing`)} } }`;
    const { status, body } = await service.send({ query });
    expect(status).toBe(400);
    expect(body.errors).toHaveLength(5);
  });

  test('a message that quotes the caller is cut at 300 characters', async () => {
    const { text, body } = await service.send({
      query: 'query ($email: String!) { memberByEmail(email: $email) { email } }',
      variables: { email: [`${'x'.repeat(60_000)}`] },
    });
    expect(body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(text.length).toBeLessThan(2_000);
    for (const { message } of body.errors ?? []) expect(message.length).toBeLessThanOrEqual(300);
  });

  test('every failed root field keeps its first error', async () => {
    const query = `{ ${repeat(10, (n) => `a${n}: memberByEmail(email: "nobody${n}@example.com") { email }`)} }`;
    const { body } = await service.send({ query });
    expect(body.errors?.map(({ path }) => path?.[0])).toEqual(
      Array.from({ length: 10 }, (_, n) => `a${n}`),
    );
  });
});

test('every response is within its bound', async () => {
  const answers = await Promise.all(
    [1, 10, 200].map((count) =>
      service.send({
        query: `query ($email: String!) { memberByEmail(email: $email) { ${repeat(count, (n) => `${'a'.repeat(100)}${n}: email`)} } }`,
        variables: { email: 'both@example.com' },
      }),
    ),
  );
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MEBIBYTE);
  }
});

test('connections beyond the limit of their address are closed, the others served', async () => {
  const { port, hostname: host } = new URL(service.stack.gateway.url);
  // Another address than the probe's.
  const from = { port: Number(port), host, localAddress: '127.0.0.2' };
  const sockets = Array.from({ length: 170 }, () => connect(from).on('error', () => {}));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const closed = () => sockets.filter(({ destroyed }) => destroyed).length;
  await probe.during(async () => {
    await until(() => closed() >= 50);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  });
  expect(closed()).toBeLessThan(70);
  for (const socket of sockets) socket.destroy();
});

test('after all this, the service has logged no error and responds as before', async () => {
  expect((await service.send(probe.request)).text).toBe(probe.expected);
  await service.stack.gateway.stop();
  expect(service.stack.gateway.output()).not.toMatch(/"level":"(error|fatal)"/);
});
