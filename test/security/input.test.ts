// Bad input of every kind at the running service: each is refused or answered, and all the while others are answered as ever.

import { ALL_TRUE, HURTING } from '../support/cases/documents.ts';
import type { Answer, Ask } from '../support/service/client.ts';
import { type Started, startFilled } from '../support/service/deployed.ts';
import { faultsOf } from '../support/service/leaks.ts';
import { type Heartbeat, startHeartbeat } from '../support/service/probe.ts';

const READ =
  'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';
const BY_ID =
  'query ($externalId: String!) { memberByExternalId(externalId: $externalId) { memberId } }';

let service: Started;
let heartbeat: Heartbeat;

beforeAll(async () => {
  service = await startFilled('in one process', { RATE_LIMIT_BUDGET: '1000000' });
  heartbeat = await startHeartbeat(service.ask);
  expect(heartbeat.heard).toContain('"memberId":"m-both"');
});
afterAll(() => service.close());

/** Asks, and checks what holds for every answer. */
async function ask(what: Ask): Promise<Answer> {
  const answer = await heartbeat.during(() => service.ask(what));
  expect(answer.status).toBeLessThan(500);
  expect(
    faultsOf(answer.text.replaceAll(JSON.stringify(what.query ?? '').slice(1, -1), '')),
  ).toEqual([]);
  return answer;
}

const json = (text: string) => ask({ body: text });
const quoted = (text: string) => JSON.stringify(text);

describe('a document built to hurt is refused or answered', () => {
  test.each(Object.keys(HURTING))('%s', async (name) => {
    const query = HURTING[name];
    // Twice, since a document is treated otherwise once it is known.
    for (const round of ['', ' ']) {
      const { status, code } = await ask({
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

  test('all of them at once', async () => {
    const answers = await heartbeat.during(() =>
      Promise.all(
        Object.values(HURTING).map((query) => service.ask({ query, variables: ALL_TRUE })),
      ),
    );
    for (const { status } of answers) expect([200, 400]).toContain(status);
  });

  test('documents without an end, each a new one', async () => {
    await heartbeat.during(async () => {
      for (const round of Array(8).keys()) {
        const many = Array.from({ length: 25 }, (_, n) =>
          service.ask({ query: `{ a${round}x${n}: memberByEmail(email: "x${n}") { tier } }` }),
        );
        for (const { code } of await Promise.all(many)) expect(code).toBe('MEMBER_NOT_FOUND');
      }
    });
  });
});

describe('JSON', () => {
  test.each([
    ['malformed', '{"query": }'],
    ['cut short', '{"query":"{ __typ'],
    ['followed by more', '{"query":"{ __typename }"} {}'],
    ['a byte order mark', '\ufeff{"query":"{ __typename }"}'],
    ['comments', '{"query":"{ __typename }" /* hm */}'],
    ['single quotes', "{'query':'{ __typename }'}"],
    ['raw control characters', '{"query":"{ \u0001 }"}'],
    ['a raw NUL byte', '{"query":"{ \u0000 }"}'],
    ['a bad escape', '{"query":"\\x41"}'],
    ['30,000 lists in one another, cut short', '['.repeat(60_000)],
    ['a number', '12'],
    ['NaN', 'NaN'],
    ['an empty body', ''],
    ['spaces', ' '.repeat(1_000)],
  ])('%s is refused', async (_, text) => {
    const { status, code } = await json(text);
    expect([status, code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('of two equal keys the last one counts, and nothing of the first', async () => {
    const { body } = await json(
      `{"query":"{ nothing }","variables":[],"query":${quoted(READ)},"variables":{"email":"a","email":"both@example.com"}}`,
    );
    expect(body.data).toMatchObject({ memberByEmail: { memberId: 'm-both' } });
  });

  test.each([
    ['lists', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['objects', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`],
    ['a list of 30,000', `[${'1,'.repeat(30_000)}1]`],
    ['an object', '{}'],
    ['a number', '12'],
    ['a number beyond all numbers', '1e999'],
    ['true', 'true'],
    ['null', 'null'],
  ])('a variable that is no string is refused: %s', async (_, value) => {
    const { status, code } = await json(`{"query":${quoted(READ)},"variables":{"email":${value}}}`);
    expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('null for a variable whose default let it stand where null may not is refused', async () => {
    const documents = [
      'query ($v: String = "both@example.com") { memberByEmail(email: $v) { tier } }',
      'query ($v: Boolean = true) { memberByEmail(email: "both@example.com") { tier @include(if: $v) } }',
      'query ($v: String = "Query") { __type(name: $v) { name } }',
      'mutation ($v: String = "both@example.com") { enrollMember(input: { email: $v }) { created } }',
    ];
    for (const query of documents) {
      for (const _ of [1, 2, 3]) {
        const { status, code } = await ask({ query, variables: { v: null } });
        expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
        expect((await ask({ query })).status).toBe(200);
      }
    }
  });
});

describe('a text', () => {
  test.each([
    ['over-long', 'x'.repeat(60_000)],
    ['over-long in two bytes each', 'é'.repeat(30_000)],
    ['over-long of emoji', '😀'.repeat(15_000)],
    ['over-long of spaces within', `a${' '.repeat(60_000)}b`],
    ['over-long of combining marks', `a${'\u0301'.repeat(25_000)}`],
    ['a NUL byte', 'a\u0000b'],
    ['a NUL byte in front', '\u0000'],
    ['a line break', 'a\nb'],
    ['DEL', 'a\u007fb'],
    ['a C1 control character', 'a\u0085b'],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\ude00a'],
    ['surrogates in the wrong order', '\ude00\ud83d'],
  ])('%s is refused as an address, as an external ID and as a name', async (_, text) => {
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
    ] as const) {
      const { status, code } = await ask({ query, variables });
      expect([status, code]).toEqual([200, 'BAD_USER_INPUT']);
    }
    expect((await ask({ query: READ, variables: { email: 'a@example.com' } })).code).toBe(
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
  ])('that means something elsewhere is only a text here: %s', async (text) => {
    for (const [query, variables] of [
      [READ, { email: text }],
      [READ, { email: `${text}@example.com` }],
      [BY_ID, { externalId: text }],
    ] as const) {
      const { status, code } = await ask({ query, variables });
      expect(status).toBe(200);
      expect(['MEMBER_NOT_FOUND', 'BAD_USER_INPUT']).toContain(code);
    }
  });
});

describe('a name that objects have of themselves', () => {
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

  test.each(NAMES)('%s is an alias like any other', async (name) => {
    for (const _ of [1, 2, 3]) {
      const { text } = await ask({
        query: `{ ${name}: memberByEmail(email: "both@example.com") { ${name}: memberId tier } }`,
      });
      expect(text).toBe(`{"data":{"${name}":{"${name}":"m-both","tier":"Silver"}}}`);
    }
  });

  test.each(NAMES)('%s is a variable, a fragment and an operation like any other', async (name) => {
    const query = `query ${name}($${name}: String!) { memberByEmail(email: $${name}) { ...${name} } } fragment ${name} on PartnerMemberRead { memberId }`;
    for (const _ of [1, 2, 3]) {
      const { text } = await json(
        `{"query":${quoted(query)},"operationName":"${name}","variables":{"${name}":"both@example.com"}}`,
      );
      expect(text).toBe('{"data":{"memberByEmail":{"memberId":"m-both"}}}');
    }
  });

  test.each(NAMES)(
    '%s adds nothing to the body, the variables or an input object',
    async (name) => {
      expect((await json(`{"${name}":{"query":"{ __typename }"}}`)).code).toBe('BAD_REQUEST');
      expect(
        (
          await json(
            `{"query":${quoted(READ)},"variables":{"${name}":{"email":"both@example.com"}}}`,
          )
        ).code,
      ).toBe('BAD_USER_INPUT');
      const enroll =
        'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }';
      const input = `{"email":"polluted@example.com","${name}":{"externalId":"polluted"}}`;
      expect((await json(`{"query":${quoted(enroll)},"variables":{"input":${input}}}`)).code).toBe(
        'BAD_USER_INPUT',
      );
      expect((await ask({ query: BY_ID, variables: { externalId: name } })).code).toBe(
        'MEMBER_NOT_FOUND',
      );
    },
  );

  test('merged into a profile reaches no other object', async () => {
    const token = await service.provider.issue('m-both');
    const query = `query ($id: ID!) { memberProfile(id: $id) {
      __proto__: membershipYearStats { polluted: akinPoints } constructor: partnerStandings { prototype: points } } }`;
    for (const _ of [1, 2]) {
      const { text } = await ask({ query, variables: { id: 'm-both' }, token });
      expect(text).toBe(
        '{"data":{"memberProfile":{"__proto__":{"polluted":950},"constructor":[{"prototype":250},{"prototype":700}]}}}',
      );
    }
    const { text } = await ask({
      query: '{ memberByEmail(email: "both@example.com") { memberId } }',
    });
    expect(text).not.toContain('polluted');
  });
});

test('after all of it the service writes nothing about errors, and answers as before', async () => {
  expect((await service.ask(heartbeat.asked)).text).toBe(heartbeat.heard);
  await service.stack.gateway.stop();
  expect(service.stack.gateway.output()).not.toMatch(/"level":"(error|fatal)"/);
});
