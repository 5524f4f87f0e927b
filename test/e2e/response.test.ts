// What every answer has beside its code: a status, a request id, a media type, and all that could be answered.
import { ERRORS } from '@partner-loyalty/runtime';
import { QUERY, sized, times, VARIABLE } from '../support/cases/outcomes.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';
import { addPartner } from '../support/service/testdata.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await startInProcess({ env: { RATE_LIMIT_BUDGET: '100000' } });
});
afterAll(() => stage.close());

describe('200', () => {
  test.each([
    [
      'null members count as absent',
      { query: QUERY, variables: null, operationName: null, extensions: null },
    ],
    ['members nobody knows are passed over', { query: QUERY, id: 1, persisted: true }],
    ['extensions are an object', { query: QUERY, extensions: { a: 1 } }],
    [
      'one of two operations is named',
      { query: `query A ${QUERY} query B { __typename }`, operationName: 'A' },
    ],
  ])('when %s', async (_, whole) => {
    const answer = await stage.ask({ body: JSON.stringify(whole) });
    expect([answer.status, answer.body]).toEqual([
      200,
      { data: { memberByEmail: { memberId: 'm-both' } } },
    ]);
  });

  test('for a body of exactly 64 KiB', async () => {
    expect((await stage.ask({ body: sized(64 * 1024) })).status).toBe(200);
  });

  test.each([
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
    'Application/JSON',
  ])('for %s', async (type) => {
    expect((await stage.ask({ query: QUERY, headers: { 'content-type': type } })).status).toBe(200);
  });

  test('at the limits: 10 root fields, 1,000 tokens, 1,000 selections, 8 and 15 deep', async () => {
    const fits = [
      `{ ${times(10, (index) => `a${index}: memberByEmail(email: "both@example.com") { tier }`)} }`,
      `{ memberByEmail(email: "both@example.com") { ${times(9, () => 'tier')} ${times(90, () => '...F')} } }
        fragment F on PartnerMemberRead { ${times(10, () => 'tier')} }`,
      `{ memberByEmail(email: "both@example.com") { ${times(985, () => 'tier')} } }`,
      `{ memberByEmail(email: "both@example.com") { ${times(330, (n) => `a${n}: tier`)} } } # ${'a comment has no tokens '.repeat(9)}`,
      `{ __schema { types { fields { type { ${'ofType { '.repeat(10)} name ${'} '.repeat(10)} } } } } }`,
    ];
    for (const text of fits)
      expect([text.length, (await stage.ask({ query: text })).status]).toEqual([text.length, 200]);
  });

  test('for an address of 254 characters, of which the spaces around it are not a part', async () => {
    const address = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(59)}.example`;
    expect(address).toHaveLength(254);
    const answer = await stage.ask({
      query: VARIABLE,
      variables: { email: `   ${address}${' '.repeat(100)}` },
    });
    expect(answer.code).toBe('MEMBER_NOT_FOUND');
  });

  test('for one failed look-up among others, which stay as they are', async () => {
    const answer = await stage.ask({
      query: `{ a: memberByEmail(email: "both@example.com") { memberId } b: memberByEmail(email: "unknown@example.com") { memberId }
        c: memberByExternalId(externalId: "") { memberId } d: memberByExternalId(externalId: "alpha-2") { memberId } }`,
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      a: { memberId: 'm-both' },
      b: null,
      c: null,
      d: { memberId: 'm-alpha' },
    });
    expect(answer.body.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['b'], 'MEMBER_NOT_FOUND'],
      [['c'], 'BAD_USER_INPUT'],
    ]);
  });

  test('for a look-up that is well where another one breaks inside', async () => {
    const key = await addPartner(stage.stores.keys, { partnerId: 'half' });
    for (const name of ['x', 'y']) {
      await stage.stores.members.enroll({
        partnerId: 'half',
        address: { typed: `${name}@half.example`, canonical: `${name}@half.example` },
      });
    }
    // Cast: the store is given what no command would write.
    await stage.stores.standings.putProgram('half', {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
    } as never);
    const answer = await stage.ask({
      query:
        '{ a: memberByEmail(email: "x@half.example") { email } b: memberByEmail(email: "y@half.example") { email points tier } }',
      key,
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ a: { email: 'x@half.example' }, b: null });
    expect(answer.body.errors?.length).toBeGreaterThan(0);
    for (const { message, path, extensions } of answer.body.errors ?? []) {
      expect([message, path?.[0], extensions.code]).toEqual([
        ERRORS.INTERNAL_SERVER_ERROR.message,
        'b',
        'INTERNAL_SERVER_ERROR',
      ]);
    }
  });
});

describe('the request id', () => {
  test.each(['a', 'A-Z.0_9', 'x'.repeat(128)])(
    'is the one the caller sent: %s',
    async (requestId) => {
      expect((await stage.ask({ query: QUERY, requestId })).headers.get('x-request-id')).toBe(
        requestId,
      );
    },
  );

  test.each(['', 'x'.repeat(129), 'a b', 'é', '../x', 'a"b', '<x>'])(
    'is a new one where the caller sent "%s"',
    async (requestId) => {
      const answer = await stage.ask({ query: '{', headers: { 'x-request-id': requestId } });
      const own = answer.headers.get('x-request-id');
      expect(own).toMatch(/^[A-Za-z0-9._-]{8,128}$/);
      expect(answer.body.errors?.[0]?.extensions.requestId).toBe(own);
    },
  );

  test('is another one for each request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () =>
        (await stage.ask({ query: QUERY })).headers.get('x-request-id'),
      ),
    );
    expect(new Set(ids).size).toBe(20);
  });
});

describe('the media type', () => {
  const GRAPHQL = 'application/graphql-response+json; charset=utf-8';
  const JSON_TYPE = 'application/json; charset=utf-8';
  test.each([
    ['application/graphql-response+json', GRAPHQL],
    ['application/graphql-response+json, application/json;q=0.9', GRAPHQL],
    ['application/json, application/graphql-response+json;q=0.9', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['text/html', JSON_TYPE],
    ['application/graphql-response+json;q=0', JSON_TYPE],
  ])('for Accept: %s is %s, in answers and refusals', async (accept, expected) => {
    for (const text of [QUERY, '{', '{ nothing }']) {
      expect(
        (await stage.ask({ query: text, headers: { accept } })).headers.get('content-type'),
      ).toBe(expected);
    }
  });

  test('leaves the statuses as they are', async () => {
    const accept = 'application/graphql-response+json';
    const statuses = [];
    for (const text of [
      QUERY,
      '{ memberByEmail(email: "unknown@example.com") { tier } }',
      '{',
      '{ nothing }',
    ])
      statuses.push((await stage.ask({ query: text, headers: { accept } })).status);
    expect(statuses).toEqual([200, 200, 400, 400]);
  });
});

test('HEAD is refused like GET, without a body', async () => {
  const answer = await stage.ask({ method: 'HEAD' });
  expect([answer.status, answer.text, answer.headers.get('allow')]).toEqual([405, '', 'POST']);
});
