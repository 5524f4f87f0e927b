// Every row of the contract's error table through the front, each named after its outcome, and the order between any two of them.
import { newKey } from '@partner-loyalty/gateway';
import { ERRORS, type ErrorCode } from '@partner-loyalty/runtime';
import { type Answer, type Ask, BUDGET_HEADERS, budgetHeaders } from './cases/client.ts';
import { startInProcess } from './cases/inprocess.ts';
import { faultsOf } from './cases/leaks.ts';
import { addKey, addPartner } from './cases/world.ts';

type Stage = Awaited<ReturnType<typeof startInProcess>>;
type Outcome = {
  name: string;
  /** What of the query is not the same in each row: the whole of it, where it stands. */
  ask: (stage: Stage) => Ask | Promise<Ask>;
  /** Where it is not that of the error table. */
  status?: number;
  /** Whether the answer goes to a valid key, which then reads its budget; it does unless told. */
  held?: false;
  also?: (answer: Answer) => void;
};

const LIVE_KEY = newKey('production');
const UNKNOWN_KEY = newKey('sandbox');
const QUERY = '{ memberByEmail(email: "both@example.com") { memberId } }';
const VARIABLE = 'query ($email: String!) { memberByEmail(email: $email) { memberId } }';
const times = (count: number, text: (index: number) => string) => Array.from({ length: count }, (_, index) => text(index)).join(' ');

let stage: Stage;
let addresses = 0;

beforeAll(async () => {
  stage = await startInProcess({ env: { RATE_LIMIT_BUDGET: '100000', TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => stage.close());

/** A caller from an address of its own, so that refused credentials of one test do not count in another. */
function withoutKey(ask: Ask): Ask {
  addresses += 1;
  return { ...ask, headers: { 'x-partner-api-key': undefined, 'x-forwarded-for': `192.0.2.${addresses}`, ...ask.headers } };
}

const query = (text: string, more: Ask = {}) => ({ ask: () => ({ query: text, ...more }) });
const body = (text: string | Uint8Array<ArrayBuffer>) => ({ ask: () => ({ body: text }) });
const refused = (headers: Record<string, string>, text = QUERY): Pick<Outcome, 'ask' | 'held'> => ({
  ask: () => withoutKey({ query: text, headers }),
  held: false,
});
const method = (name: string) => ({
  name,
  ask: () => ({ method: name, query: QUERY }),
  also: ({ headers }: Answer) => expect(headers.get('allow')).toBe('POST'),
});
const lookUp = (email: string) => ({ ask: () => ({ query: VARIABLE, variables: { email } }) });
const enroll = (input: Record<string, unknown>) => ({
  ask: () => ({ query: 'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }', variables: { input } }),
});

/** The row that needs a stopped process is told in outages.test.ts. */
const ELSEWHERE: ErrorCode[] = ['SERVICE_UNAVAILABLE'];

const OUTCOMES: { [code in ErrorCode]?: Outcome[] } = {
  NOT_FOUND: [
    { name: 'the root', ask: () => ({ path: '/', query: QUERY }) },
    { name: 'the route of another service', ask: () => ({ path: '/mcp', query: QUERY }) },
    { name: 'a path below the endpoint', ask: () => ({ path: '/graphql/', query: QUERY }) },
    { name: 'the path in capitals', ask: () => ({ path: '/GraphQL', query: QUERY }) },
    { name: 'health, which the admin port has', ask: () => ({ path: '/readyz', method: 'GET' }) },
    { name: 'a caller without a key', ask: () => withoutKey({ path: '/metrics', query: QUERY }), held: false },
  ],
  METHOD_NOT_ALLOWED: [
    ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].map(method),
    { name: 'a caller without a key', ask: () => withoutKey({ method: 'GET' }), held: false },
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    { name: 'no content-type', ask: () => ({ query: QUERY, headers: { 'content-type': undefined } }) },
    ...[
      'text/plain',
      'application/graphql',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json+x',
      'application/json; charset=iso-8859-1',
      'application/json, text/plain',
    ].map((type) => ({ name: type, ask: () => ({ query: QUERY, headers: { 'content-type': type } }) })),
    { name: 'a compressed body', ask: () => ({ query: QUERY, headers: { 'content-encoding': 'gzip' } }) },
  ],
  PAYLOAD_TOO_LARGE: [
    { name: 'a body of 64 KiB and one byte', ...body(sized(64 * 1024 + 1)) },
    {
      name: 'a body without a length, in chunks',
      ask: () => ({ body: new Blob([sized(64 * 1024 + 1)]).stream() as ReadableStream<Uint8Array> }),
    },
    { name: 'a megabyte of malformed JSON', ...body('x'.repeat(1_000_000)) },
  ],
  BAD_REQUEST: [
    { name: 'no body', ...body('') },
    { name: 'malformed JSON', ...body('{"query": "{ __typename }"') },
    { name: 'a body that is not UTF-8', ...body(Uint8Array.from([...Buffer.from('{"query":"'), 0xff, ...Buffer.from('"}')])) },
    { name: 'a batch', ...body('[{"query":"{ __typename }"}]') },
    { name: 'a string', ...body('"{ __typename }"') },
    { name: 'null', ...body('null') },
    { name: 'no query', ...body('{"variables":{}}') },
    { name: 'a null query', ...body('{"query":null}') },
    { name: 'a query that is a number', ...body('{"query":1}') },
    { name: 'variables that are a list', ...body('{"query":"{ __typename }","variables":[]}') },
    { name: 'variables that are a string', ...body('{"query":"{ __typename }","variables":"{}"}') },
    { name: 'an operationName that is a number', ...body('{"query":"{ __typename }","operationName":1}') },
    { name: 'extensions that are a string', ...body('{"query":"{ __typename }","extensions":"x"}') },
    { name: 'an operationName that names no operation', ...query('query A { __typename }', { operationName: 'B' }) },
    { name: 'two operations without an operationName', ...query('query A { __typename } query B { __typename }') },
  ],
  UNAUTHENTICATED: [
    { name: 'no credential', ...refused({}) },
    { name: 'an empty key', ...refused({ 'x-partner-api-key': '' }) },
    { name: 'an unknown key', ...refused({ 'x-partner-api-key': UNKNOWN_KEY }) },
    { name: 'a key with a wrong checksum', ...refused({ 'x-partner-api-key': miscounted(UNKNOWN_KEY) }) },
    { name: 'a live key with a wrong checksum', ...refused({ 'x-partner-api-key': miscounted(LIVE_KEY) }) },
    { name: 'a malformed key', ...refused({ 'x-partner-api-key': 'secret' }) },
    {
      name: 'a key in the wrong header',
      ask: ({ keys }) => withoutKey({ query: QUERY, headers: { 'x-api-key': keys.alpha } }),
      held: false,
    },
    { name: 'a key as a bearer token', ask: ({ keys }) => withoutKey({ query: QUERY, token: keys.alpha }), held: false },
    {
      name: 'two keys',
      ask: ({ keys }) => withoutKey({ query: QUERY, headers: { 'x-partner-api-key': `${keys.alpha}, ${keys.alpha}` } }),
      held: false,
    },
    {
      name: 'an expired key',
      ask: async ({ stores }) =>
        withoutKey({
          query: QUERY,
          headers: { 'x-partner-api-key': await addKey(stores.keys, 'alpha', 'sandbox', new Date(Date.now() - 1)) },
        }),
      held: false,
    },
    {
      name: 'a revoked key',
      ask: async ({ stores }) => {
        const key = await addKey(stores.keys, 'gamma');
        for (const { keyId } of (await stores.keys.keys('gamma')).slice(-1)) await stores.keys.revokeKey(keyId, new Date());
        return withoutKey({ query: QUERY, headers: { 'x-partner-api-key': key } });
      },
      held: false,
    },
    { name: 'a scheme other than Bearer', ...refused({ authorization: 'Basic YTpi' }) },
    { name: 'a bearer token that is none', ...refused({ authorization: 'Bearer x' }) },
    {
      name: 'an expired token',
      ask: async ({ provider }) =>
        withoutKey({ query: QUERY, token: await provider.issue('m-both', { exp: Math.floor(Date.now() / 1_000) - 60 }) }),
      held: false,
    },
    { name: 'a document that hides nothing but __typename', ...refused({}, '{ __typename }') },
  ],
  INTROSPECTION_DISABLED: [
    { name: '__schema without a key', ...refused({}, '{ __schema { queryType { name } } }') },
    { name: '__type without a key', ...refused({}, '{ __type(name: "Query") { name } }') },
    { name: 'with an unknown key', ...refused({ 'x-partner-api-key': UNKNOWN_KEY }, '{ __schema { queryType { name } } }') },
    {
      name: 'with the key in x-api-key',
      ask: ({ keys }) => withoutKey({ query: '{ __schema { queryType { name } } }', headers: { 'x-api-key': keys.alpha } }),
      held: false,
    },
    { name: 'under an alias in a fragment', ...refused({}, '{ ...F } fragment F on Query { ... { a: __schema { queryType { name } } } }') },
    { name: 'in one of two operations', ...refused({}, 'query A { __typename } query B { __schema { queryType { name } } }') },
    {
      name: 'with a bearer token',
      ask: async ({ provider }) =>
        withoutKey({ query: '{ __schema { queryType { name } } }', token: await provider.issue('m-both'), headers: {} }),
    },
  ],
  KEY_ENVIRONMENT_MISMATCH: [
    {
      name: 'a live key in the sandbox',
      ...refused({ 'x-partner-api-key': LIVE_KEY }),
      also: ({ body: { correctEndpoint, errors } }) => {
        expect(correctEndpoint).toBe('http://localhost:4001/graphql');
        expect(errors?.[0]?.extensions).toMatchObject({ correctEndpoint });
      },
    },
  ],
  AMBIGUOUS_CREDENTIALS: [
    {
      name: 'a key and a token',
      ask: async ({ keys, provider }) => ({ query: QUERY, key: keys.alpha, token: await provider.issue('m-both') }),
    },
    { name: 'a key and any token', ask: ({ keys }) => ({ query: QUERY, key: keys.alpha, token: 'x' }) },
    { name: 'an unknown key and a token', ...refused({ 'x-partner-api-key': UNKNOWN_KEY, authorization: 'Bearer x' }) },
    { name: 'a malformed key and a token', ...refused({ 'x-partner-api-key': 'x', authorization: 'bearer x' }) },
  ],
  GRAPHQL_PARSE_FAILED: [
    { name: 'an empty document', ...query('') },
    { name: 'an open brace', ...query('{ memberByEmail') },
    { name: 'a control character', ...query('{ a\u0000b }') },
    { name: 'a caller without a key', ...refused({}, '{') },
    { name: 'a caller with an unknown key', ...refused({ 'x-partner-api-key': UNKNOWN_KEY }, '{') },
  ],
  GRAPHQL_VALIDATION_FAILED: [
    { name: 'a misspelt field', ...query('{ memberByEmial(email: "x") { tier } }') },
    { name: 'a hidden field', ...query('{ memberProfile(id: "m-both") { email } }') },
    { name: 'a missing argument', ...query('{ memberByEmail { tier } }') },
    { name: 'a literal of the wrong type', ...query('{ memberByEmail(email: 1) { tier } }') },
    { name: 'an object without fields', ...query('{ memberByEmail(email: "x") }') },
    { name: 'a variable that is not declared', ...query('{ memberByEmail(email: $x) { tier } }') },
    { name: 'a subscription', ...query('subscription { memberByEmail(email: "x") { tier } }') },
    { name: 'fragments in a circle', ...query('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }') },
    { name: 'a document without an operation', ...query('fragment A on Query { __typename }') },
    { name: 'a type definition', ...query('type Query { a: Int }') },
  ],
  OPERATION_TOO_COMPLEX: [
    { name: '11 root fields', ...query(`{ ${times(11, (index) => `a${index}: __typename`)} }`) },
    { name: '11 root fields in fragments, skipped', ...query(`{ ${times(11, (n) => `... @skip(if: true) { a${n}: __typename }`)} }`) },
    { name: '1,001 tokens', ...query(`{ ${times(999, () => '__typename')} }`) },
    {
      name: '1,001 selections after expanding fragments',
      ...query(`{ a: memberByEmail(email: "x") { ...A } } fragment A on PartnerMemberRead { ${times(10, () => '...B')} }
        fragment B on PartnerMemberRead { ${times(10, () => '...C')} } fragment C on PartnerMemberRead { ${times(10, () => 'tier')} }`),
    },
    { name: 'fields nested 9 deep', ...query(`${'{ a '.repeat(9)}${'}'.repeat(9)}`) },
    { name: '__schema twice', ...query('{ a: __schema { queryType { name } } b: __schema { queryType { name } } }') },
    { name: '__schema and __type', ...query('{ __schema { queryType { name } } __type(name: "Query") { name } }') },
    { name: 'introspection 16 deep', ...query(`{ __schema { types { ${'ofType { '.repeat(13)} name ${'} '.repeat(13)} } } }`) },
    ...['fields', 'inputFields', 'interfaces', 'possibleTypes'].map((list) => ({
      name: `${list} within fields`,
      ...query(`{ __schema { types { fields { type { ${list} { name } } } } } }`),
    })),
  ],
  BAD_USER_INPUT: [
    { name: 'a variable of the wrong type', status: 400, ...query(VARIABLE, { variables: { email: 1 } }) },
    { name: 'a variable that is missing', status: 400, ...query(VARIABLE) },
    { name: 'a variable that is null', status: 400, ...query(VARIABLE, { variables: { email: null } }) },
    { name: 'an unknown field of an input object', status: 400, ...enroll({ email: 'a@example.com', partnerId: 'beta' }) },
    { name: 'an empty address', status: 200, ...lookUp('') },
    { name: 'an address of spaces', status: 200, ...lookUp('  ') },
    { name: 'an address of 255 characters', status: 200, ...lookUp(`${'a'.repeat(243)}@example.com`) },
    { name: 'an address with a NUL byte', status: 200, ...lookUp('a\u0000@example.com') },
    { name: 'an address with a line break', status: 200, ...lookUp('a@example.com\r\nbcc: b@example.com') },
    { name: 'an address with a lone surrogate', status: 200, ...lookUp('a\ud800@example.com') },
    {
      name: 'an external ID of 256 characters',
      status: 200,
      ...query(`{ memberByExternalId(externalId: "${'x'.repeat(256)}") { tier } }`),
    },
    { name: 'an empty external ID', status: 200, ...query('{ memberByExternalId(externalId: " ") { tier } }') },
    { name: 'an id of 129 characters', status: 200, ...query(`mutation { endEnrollment(memberId: "${'x'.repeat(129)}") { memberId } }`) },
    { name: 'a first name of 101 characters', status: 200, ...enroll({ email: 'a@example.com', firstName: 'x'.repeat(101) }) },
    { name: 'a last name with a control character', status: 200, ...enroll({ email: 'a@example.com', lastName: 'x\u0007' }) },
    { name: 'an external ID to enroll with that is empty', status: 200, ...enroll({ email: 'a@example.com', externalId: '' }) },
    { name: 'an address to enroll that is none', status: 200, ...enroll({ email: 'nobody' }) },
  ],
  RATE_LIMITED: [
    {
      name: 'the budget is spent',
      ask: async (on) => ({ query: QUERY, key: await spentKey(on) }),
      also: ({ headers }) => {
        expect(headers.get('ratelimit-remaining')).toBe('0');
        expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'));
        expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      },
    },
    {
      name: 'an address has tried 60 refused credentials',
      ask: async ({ ask }) => {
        const guess = withoutKey({ query: QUERY, key: UNKNOWN_KEY });
        for (const _ of Array(60).keys()) expect((await ask(guess)).code).toBe('UNAUTHENTICATED');
        return guess;
      },
      held: false,
      also: ({ headers }) => expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/),
    },
  ],
  MEMBER_NOT_FOUND: [
    { name: 'an unknown address', ...lookUp('unknown@example.com') },
    { name: 'a member of another partner', ...lookUp('beta.only@example.com') },
    { name: 'an ended enrollment', ...lookUp('ended@example.com') },
    { name: 'a string that is no address', ...lookUp('no address') },
    { name: 'an external ID of another partner', ...query('{ memberByExternalId(externalId: "beta-7") { tier } }') },
    { name: 'an enrollment to end that is none', ...query('mutation { endEnrollment(memberId: "m-beta") { memberId } }') },
    {
      name: "another member's profile",
      ask: async ({ provider }) => ({ query: '{ memberProfile(id: "m-beta") { email } }', token: await provider.issue('m-both') }),
    },
  ],
  EXTERNAL_ID_CONFLICT: [
    { name: 'an external ID that another member has', ...enroll({ email: 'both@example.com', externalId: 'alpha-2' }) },
    { name: 'another external ID for an enrolled member', ...enroll({ email: 'both@example.com', externalId: 'new' }) },
  ],
  INVALID_TOKEN: [
    { name: 'a magic link nobody was sent', ...query(`mutation { exchangeMagicLink(token: "ml_${'x'.repeat(43)}") { idToken } }`) },
    { name: 'what is no token', ...query('mutation { exchangeMagicLink(token: "none") { idToken } }') },
    {
      name: 'a change nobody asked for',
      ask: async ({ provider }) => ({
        query: `mutation { confirmEmailChange(token: "ec_${'x'.repeat(43)}") { email } }`,
        token: await provider.issue('m-both'),
      }),
    },
  ],
  EMAIL_IN_USE: [
    {
      name: 'the proof of an address that is current at another member',
      ask: async ({ ask, provider, mail }) => {
        const token = await provider.issue('m-both');
        const request = await ask({ query: 'mutation { requestEmailChange(email: "alpha.only@example.com") { accepted } }', token });
        expect(request.body).toEqual({ data: { requestEmailChange: { accepted: true } } });
        while (mail().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        const [proof] = /ec_[\w-]+/.exec(mail().at(-1) ?? '') ?? [];
        return { query: 'mutation ($token: String!) { confirmEmailChange(token: $token) { email } }', variables: { token: proof }, token };
      },
    },
  ],
  INTERNAL_SERVER_ERROR: [
    {
      name: 'a program in the store makes no sense',
      ask: async ({ stores }) => {
        const key = await addPartner(stores.keys, { partnerId: 'broken' });
        await stores.members.enroll({ partnerId: 'broken', address: { typed: 'x@example.com', canonical: 'x@example.com' } });
        // Cast: the store is given what no command would write.
        await stores.standings.putProgram('broken', { membershipYear: { start: '01-01', timeZone: 'UTC' } } as never);
        return { query: '{ a: memberByEmail(email: "x@example.com") { tier } }', key };
      },
      also: ({ body: { errors } }) => expect(errors?.[0]?.message).toBe(ERRORS.INTERNAL_SERVER_ERROR.message),
    },
  ],
};

for (const [code, outcomes] of Object.entries(OUTCOMES)) {
  describe(`${ERRORS[code as ErrorCode].status} ${code}`, () => {
    test.each(outcomes)('$name', async ({ ask, status = ERRORS[code as ErrorCode].status, held = true, also }) => {
      const answer = await stage.ask({ requestId: 'the.callers_own-id', ...(await ask(stage)) });
      expect([answer.status, answer.code]).toEqual([status, code]);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.headers.get('x-request-id')).toBe('the.callers_own-id');
      for (const { message, extensions } of answer.body.errors ?? []) {
        expect(message).toMatch(/./);
        expect(extensions.requestId).toBe('the.callers_own-id');
      }
      expect(budgetHeaders(answer)).toEqual(held ? BUDGET_HEADERS : []);
      expect(answer.headers.has('retry-after')).toBe(code === 'RATE_LIMITED');
      expect(faultsOf(answer.text)).toEqual([]);
      also?.(answer);
    });
  });
}

test('every row of the error table has an outcome', () => {
  expect([...Object.keys(OUTCOMES), ...ELSEWHERE].sort()).toEqual(Object.keys(ERRORS).sort());
});

test('401 is one and the same answer, whatever is wrong with the credential', async () => {
  const answers = [];
  for (const { ask } of OUTCOMES.UNAUTHENTICATED ?? []) {
    const { status, text } = await stage.ask({ requestId: 'r', ...(await ask(stage)) });
    answers.push(`${status} ${text}`);
  }
  expect(new Set(answers).size).toBe(1);
});

describe('200', () => {
  test.each([
    ['null members count as absent', { query: QUERY, variables: null, operationName: null, extensions: null }],
    ['members nobody knows are passed over', { query: QUERY, id: 1, persisted: true }],
    ['extensions are an object', { query: QUERY, extensions: { a: 1 } }],
    ['one of two operations is named', { query: `query A ${QUERY} query B { __typename }`, operationName: 'A' }],
  ])('when %s', async (_, whole) => {
    const answer = await stage.ask({ body: JSON.stringify(whole) });
    expect([answer.status, answer.body]).toEqual([200, { data: { memberByEmail: { memberId: 'm-both' } } }]);
  });

  test('for a body of exactly 64 KiB', async () => {
    expect((await stage.ask({ body: sized(64 * 1024) })).status).toBe(200);
  });

  test.each(['application/json;charset=utf-8', 'application/json; charset="UTF-8"', 'Application/JSON'])('for %s', async (type) => {
    expect((await stage.ask({ query: QUERY, headers: { 'content-type': type } })).status).toBe(200);
  });

  test('at the limits: 10 root fields, 1,000 tokens, 1,000 selections, 8 and 15 deep', async () => {
    const fits = [
      `{ ${times(10, (index) => `a${index}: memberByEmail(email: "both@example.com") { tier }`)} }`,
      `{ memberByEmail(email: "both@example.com") { ${times(9, () => 'tier')} ${times(90, () => '...F')} } }
        fragment F on PartnerMemberRead { ${times(10, () => 'tier')} }`,
      `{ memberByEmail(email: "both@example.com") { ${times(330, (n) => `a${n}: tier`)} } } # ${'a comment has no tokens '.repeat(9)}`,
      `{ __schema { types { fields { type { ${'ofType { '.repeat(10)} name ${'} '.repeat(10)} } } } } }`,
    ];
    for (const text of fits) expect([text.length, (await stage.ask({ query: text })).status]).toEqual([text.length, 200]);
  });

  test('for an address of 254 characters, of which the spaces around it are not a part', async () => {
    const address = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(59)}.example`;
    expect(address).toHaveLength(254);
    const answer = await stage.ask({ query: VARIABLE, variables: { email: `   ${address}${' '.repeat(100)}` } });
    expect(answer.code).toBe('MEMBER_NOT_FOUND');
  });

  test('for one failed look-up among others, which stay as they are', async () => {
    const answer = await stage.ask({
      query: `{ a: memberByEmail(email: "both@example.com") { memberId } b: memberByEmail(email: "unknown@example.com") { memberId }
        c: memberByExternalId(externalId: "") { memberId } d: memberByExternalId(externalId: "alpha-2") { memberId } }`,
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ a: { memberId: 'm-both' }, b: null, c: null, d: { memberId: 'm-alpha' } });
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
    await stage.stores.standings.putProgram('half', { membershipYear: { start: '01-01', timeZone: 'UTC' } } as never);
    const answer = await stage.ask({
      query: '{ a: memberByEmail(email: "x@half.example") { email } b: memberByEmail(email: "y@half.example") { email points tier } }',
      key,
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ a: { email: 'x@half.example' }, b: null });
    expect(answer.body.errors?.length).toBeGreaterThan(0);
    for (const { message, path, extensions } of answer.body.errors ?? []) {
      expect([message, path?.[0], extensions.code]).toEqual([ERRORS.INTERNAL_SERVER_ERROR.message, 'b', 'INTERNAL_SERVER_ERROR']);
    }
  });
});

describe('the order of checks', () => {
  /** A request that is put together last, so that faults can be added to it one by one. */
  type Draft = { ask: Ask; definitions: string; fields: string[]; tail: string; variables: unknown; padding: number };

  /** In the contract's order. Each adds its fault to a request. */
  const FAULTS: [name: string, code: ErrorCode, add: (draft: Draft, stage: Stage) => unknown][] = [
    ['path', 'NOT_FOUND', ({ ask }) => Object.assign(ask, { path: '/other' })],
    ['method', 'METHOD_NOT_ALLOWED', ({ ask }) => Object.assign(ask, { method: 'PUT' })],
    ['environment', 'KEY_ENVIRONMENT_MISMATCH', ({ ask }) => Object.assign(ask, { key: LIVE_KEY })],
    ['two credentials', 'AMBIGUOUS_CREDENTIALS', ({ ask }, { keys }) => Object.assign(ask, { key: keys.alpha, token: 'x' })],
    ['content type', 'UNSUPPORTED_MEDIA_TYPE', ({ ask }) => Object.assign(ask.headers ?? {}, { 'content-type': 'text/plain' })],
    ['size', 'PAYLOAD_TOO_LARGE', (draft) => Object.assign(draft, { padding: 70_000 })],
    ['JSON', 'BAD_REQUEST', (draft) => Object.assign(draft, { variables: [] })],
    ['tokens', 'OPERATION_TOO_COMPLEX', (draft) => draft.fields.unshift(times(1_001, () => 'tier'))],
    ['syntax', 'GRAPHQL_PARSE_FAILED', (draft) => Object.assign(draft, { tail: '}' })],
    [
      'introspection',
      'INTROSPECTION_DISABLED',
      (draft) => Object.assign(draft.ask, { key: '' }) && draft.fields.push('__schema { queryType { name } }'),
    ],
    ['credential', 'UNAUTHENTICATED', ({ ask }) => Object.assign(ask, { key: UNKNOWN_KEY })],
    ['root fields', 'OPERATION_TOO_COMPLEX', (draft) => draft.fields.push(times(11, (index) => `a${index}: __typename`))],
    ['budget', 'RATE_LIMITED', async ({ ask }, on) => Object.assign(ask, { key: await spentKey(on) })],
    ['validation', 'GRAPHQL_VALIDATION_FAILED', (draft) => draft.fields.push('nothing')],
    [
      'variables',
      'BAD_USER_INPUT',
      (draft) => Object.assign(draft, { variables: { email: 1 } }) && draft.fields.push('b: memberByEmail(email: $email) { tier }'),
    ],
  ];

  async function send(faults: typeof FAULTS): Promise<Answer> {
    const draft: Draft = {
      ask: withoutKey({ key: stage.keys.alpha, headers: { 'x-partner-api-key': undefined } }),
      definitions: '',
      fields: ['__typename'],
      tail: '',
      variables: {},
      padding: 0,
    };
    // The earlier fault last, so that it wins where both set the credential.
    for (const [, , add] of [...faults].reverse()) await add(draft, stage);
    const { ask, fields, tail, variables, padding } = draft;
    const definitions = fields.some((field) => field.includes('$email')) ? '($email: String!)' : '';
    const whole = JSON.stringify({ query: `query ${definitions} { ${fields.join(' ')} } ${tail}`, variables });
    return stage.ask({ ...ask, headers: { ...ask.headers, 'x-partner-api-key': ask.key }, body: whole + ' '.repeat(padding) });
  }

  const PAIRS = FAULTS.flatMap((first, index) => FAULTS.slice(index + 1).map((second) => [first, second] as const));

  test.each(FAULTS)('%s alone: %s', async (...fault) => {
    expect((await send([fault])).code).toBe(fault[1]);
  });

  test.each(PAIRS.map(([first, second]) => [first[0], second[0], first, second] as const))(
    '%s before %s',
    async (_first, _second, first, second) => {
      expect((await send([first, second])).code).toBe(first[1]);
    },
  );
});

describe('the request id', () => {
  test.each(['a', 'A-Z.0_9', 'x'.repeat(128)])('is the one the caller sent: %s', async (requestId) => {
    expect((await stage.ask({ query: QUERY, requestId })).headers.get('x-request-id')).toBe(requestId);
  });

  test.each(['', 'x'.repeat(129), 'a b', 'é', '../x', 'a"b', '<x>'])('is a new one where the caller sent "%s"', async (requestId) => {
    const answer = await stage.ask({ query: '{', headers: { 'x-request-id': requestId } });
    const own = answer.headers.get('x-request-id');
    expect(own).toMatch(/^[A-Za-z0-9._-]{8,128}$/);
    expect(answer.body.errors?.[0]?.extensions.requestId).toBe(own);
  });

  test('is another one for each request', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await stage.ask({ query: QUERY })).headers.get('x-request-id')));
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
      expect((await stage.ask({ query: text, headers: { accept } })).headers.get('content-type')).toBe(expected);
    }
  });

  test('leaves the statuses as they are', async () => {
    const accept = 'application/graphql-response+json';
    const statuses = [];
    for (const text of [QUERY, '{ memberByEmail(email: "unknown@example.com") { tier } }', '{', '{ nothing }'])
      statuses.push((await stage.ask({ query: text, headers: { accept } })).status);
    expect(statuses).toEqual([200, 200, 400, 400]);
  });
});

test('HEAD is refused like GET, without a body', async () => {
  const answer = await stage.ask({ method: 'HEAD' });
  expect([answer.status, answer.text, answer.headers.get('allow')]).toEqual([405, '', 'POST']);
});

/** A good request of a number of bytes. */
function sized(bytes: number): string {
  return JSON.stringify({ query: QUERY }).padEnd(bytes);
}

/** A key with another checksum. */
function miscounted(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}

/** A key of a partner that has spent its budget. */
async function spentKey({ stores, ask }: Stage): Promise<string> {
  addresses += 1;
  const key = await addPartner(stores.keys, { partnerId: `spent-${addresses}`, budget: 1 });
  await ask({ query: '{ __typename }', key });
  return key;
}
