// What every response has besides its code: a status, a request id, a media type, partial results.
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { QUERY, sized, times, VARIABLE } from '../support/cases/outcomes.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addPartner } from '../support/service/testdata.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({ env: { RATE_LIMIT_BUDGET: '100000' } });
});
afterAll(() => service.close());

describe('200', () => {
  test.each([
    [
      'a request member is null',
      { query: QUERY, variables: null, operationName: null, extensions: null },
    ],
    ['the request has unknown members', { query: QUERY, id: 1, persisted: true }],
    ['extensions are an object', { query: QUERY, extensions: { a: 1 } }],
    [
      'the operationName selects one of two operations',
      { query: `query A ${QUERY} query B { __typename }`, operationName: 'A' },
    ],
  ])('when %s', async (_, whole) => {
    const response = await service.send({ body: JSON.stringify(whole) });
    expect([response.status, response.body]).toEqual([
      200,
      { data: { memberByEmail: { memberId: 'm-both' } } },
    ]);
  });

  test('for a body of exactly 64 KiB', async () => {
    expect((await service.send({ body: sized(64 * 1024) })).status).toBe(200);
  });

  test.each([
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
    'Application/JSON',
  ])('for %s', async (type) => {
    expect((await service.send({ query: QUERY, headers: { 'content-type': type } })).status).toBe(
      200,
    );
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
      expect([text.length, (await service.send({ query: text })).status]).toEqual([
        text.length,
        200,
      ]);
  });

  test('for an address of 254 characters, not counting surrounding spaces', async () => {
    const address = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(59)}.example`;
    expect(address).toHaveLength(254);
    const response = await service.send({
      query: VARIABLE,
      variables: { email: `   ${address}${' '.repeat(100)}` },
    });
    expect(response.code).toBe('MEMBER_NOT_FOUND');
  });

  test('for one failed look-up among others, whose results are unaffected', async () => {
    const response = await service.send({
      query: `{ a: memberByEmail(email: "both@example.com") { memberId } b: memberByEmail(email: "unknown@example.com") { memberId }
        c: memberByExternalId(externalId: "") { memberId } d: memberByExternalId(externalId: "alpha-2") { memberId } }`,
    });
    expect(response.status).toBe(200);
    expect(response.body.data).toEqual({
      a: { memberId: 'm-both' },
      b: null,
      c: null,
      d: { memberId: 'm-alpha' },
    });
    expect(response.body.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['b'], 'MEMBER_NOT_FOUND'],
      [['c'], 'BAD_USER_INPUT'],
    ]);
  });

  test('for a look-up that succeeds beside one that fails with an internal error', async () => {
    const key = await addPartner(service.stores.keys, { partnerId: 'half' });
    for (const name of ['x', 'y']) {
      await service.stores.members.enroll({
        partnerId: 'half',
        address: { typed: `${name}@half.example`, canonical: `${name}@half.example` },
      });
    }
    // Cast: no command would write such a program.
    await service.stores.standings.putProgram('half', {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
    } as never);
    const response = await service.send({
      query:
        '{ a: memberByEmail(email: "x@half.example") { email } b: memberByEmail(email: "y@half.example") { email points tier } }',
      key,
    });
    expect(response.status).toBe(200);
    expect(response.body.data).toEqual({ a: { email: 'x@half.example' }, b: null });
    expect(response.body.errors?.length).toBeGreaterThan(0);
    for (const { message, path, extensions } of response.body.errors ?? []) {
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
    'is the one that the caller sent: %s',
    async (requestId) => {
      expect((await service.send({ query: QUERY, requestId })).headers.get('x-request-id')).toBe(
        requestId,
      );
    },
  );

  test.each(['', 'x'.repeat(129), 'a b', 'é', '../x', 'a"b', '<x>'])(
    'is a new one if the caller sent "%s"',
    async (requestId) => {
      const response = await service.send({ query: '{', headers: { 'x-request-id': requestId } });
      const newId = response.headers.get('x-request-id');
      expect(newId).toMatch(/^[A-Za-z0-9._-]{8,128}$/);
      expect(response.body.errors?.[0]?.extensions.requestId).toBe(newId);
    },
  );

  test('is different for each request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () =>
        (await service.send({ query: QUERY })).headers.get('x-request-id'),
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
  ])('for Accept: %s is %s, for results and for errors', async (accept, expected) => {
    for (const text of [QUERY, '{', '{ nothing }']) {
      expect(
        (await service.send({ query: text, headers: { accept } })).headers.get('content-type'),
      ).toBe(expected);
    }
  });

  test('does not affect the status', async () => {
    const accept = 'application/graphql-response+json';
    const statuses = [];
    for (const text of [
      QUERY,
      '{ memberByEmail(email: "unknown@example.com") { tier } }',
      '{',
      '{ nothing }',
    ])
      statuses.push((await service.send({ query: text, headers: { accept } })).status);
    expect(statuses).toEqual([200, 200, 400, 400]);
  });
});

test('405 for HEAD as for GET, without a body', async () => {
  const response = await service.send({ method: 'HEAD' });
  expect([response.status, response.text, response.headers.get('allow')]).toEqual([
    405,
    '',
    'POST',
  ]);
});
