// Responses over HTTP: every error code, the order of checks, and what every response has.
import { ERRORS, type ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import { serverAudits } from 'graphql-http';
import {
  LIVE_KEY,
  OUTCOMES,
  QUERY,
  sized,
  spentKey,
  suspendedKey,
  times,
  UNKNOWN_KEY,
  withoutKey,
} from '../support/cases/outcomes.ts';
import {
  type ApiRequest,
  type ApiResponse,
  BUDGET_HEADERS,
  budgetHeaders,
  leaksIn,
} from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addKey } from '../support/service/testdata.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({
    env: { RATE_LIMIT_BUDGET: '100000', TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(() => service.close());

for (const [code, outcomes] of Object.entries(OUTCOMES)) {
  describe(`${ERRORS[code as ErrorCode].status} ${code}`, () => {
    test.each(outcomes)(
      '$name',
      async ({ request, status = ERRORS[code as ErrorCode].status, hasBudget = true, check }) => {
        const response = await service.send({
          requestId: 'the.callers_own-id',
          ...(await request(service)),
        });
        expect([response.status, response.code]).toEqual([status, code]);
        expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect([
          response.headers.get('cache-control'),
          response.headers.get('x-content-type-options'),
        ]).toEqual(['no-store', 'nosniff']);
        expect(response.headers.get('x-request-id')).toBe('the.callers_own-id');
        for (const { message, extensions } of response.body.errors ?? []) {
          expect(message).toMatch(/./);
          expect(extensions.requestId).toBe('the.callers_own-id');
          const seconds = response.headers.get('retry-after') ?? undefined;
          expect(extensions.retryAfter).toBe(seconds && Number(seconds));
        }
        expect(budgetHeaders(response)).toEqual(hasBudget ? BUDGET_HEADERS : []);
        expect(response.headers.has('retry-after')).toBe(code === 'RATE_LIMITED');
        expect(leaksIn(response.text)).toEqual([]);
        check?.(response);
      },
    );
  });
}

test('401 is the same response, whatever is wrong with the credential', async () => {
  const responses = [];
  for (const { request } of OUTCOMES.UNAUTHENTICATED) {
    const sent = { requestId: 'r', ...(await request(service)) };
    const { status, text, headers } = await service.send(sent);
    responses.push(`${status} ${text}`);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  }
  expect(new Set(responses).size).toBe(1);
  expect(responses[0]).toMatch(/x-partner-api-key.*authorization: Bearer/);
});

// The order of checks decides the error of a request with two faults: every pair of faults.

/** The parts of a request, so that faults can be added one by one. */
type Draft = {
  request: ApiRequest;
  definitions: string;
  fields: string[];
  tail: string;
  variables: unknown;
  padding: number;
};

/** In the order of docs/callers/requests.md, Order of checks. Each adds its fault to a draft. */
const FAULTS: [
  name: string,
  code: ErrorCode,
  add: (draft: Draft, service: InProcessService) => unknown,
][] = [
  ['path', 'NOT_FOUND', ({ request }) => Object.assign(request, { path: '/other' })],
  ['method', 'METHOD_NOT_ALLOWED', ({ request }) => Object.assign(request, { method: 'PUT' })],
  [
    'environment',
    'KEY_ENVIRONMENT_MISMATCH',
    ({ request }) => Object.assign(request, { key: LIVE_KEY }),
  ],
  [
    'suspension',
    'PARTNER_SUSPENDED',
    async ({ request }, on) => Object.assign(request, { key: await suspendedKey(on) }),
  ],
  [
    'credential count',
    'AMBIGUOUS_CREDENTIALS',
    ({ request }, { keys }) => Object.assign(request, { key: keys.alpha, token: 'x' }),
  ],
  [
    'content type',
    'UNSUPPORTED_MEDIA_TYPE',
    ({ request }) => Object.assign(request.headers ?? {}, { 'content-type': 'text/plain' }),
  ],
  ['size', 'PAYLOAD_TOO_LARGE', (draft) => Object.assign(draft, { padding: 70_000 })],
  ['JSON', 'BAD_REQUEST', (draft) => Object.assign(draft, { variables: [] })],
  [
    'token count',
    'OPERATION_TOO_COMPLEX',
    (draft) => draft.fields.unshift(times(1_001, () => 'tier')),
  ],
  ['syntax', 'GRAPHQL_PARSE_FAILED', (draft) => Object.assign(draft, { tail: '}' })],
  [
    'introspection',
    'INTROSPECTION_DISABLED',
    (draft) =>
      Object.assign(draft.request, { key: '' }) &&
      draft.fields.push('__schema { queryType { name } }'),
  ],
  ['credential', 'UNAUTHENTICATED', ({ request }) => Object.assign(request, { key: UNKNOWN_KEY })],
  [
    'root field count',
    'OPERATION_TOO_COMPLEX',
    (draft) => draft.fields.push(times(11, (index) => `a${index}: __typename`)),
  ],
  [
    'budget',
    'RATE_LIMITED',
    async ({ request }, on) => Object.assign(request, { key: await spentKey(on) }),
  ],
  [
    'scope',
    'FORBIDDEN',
    async ({ request, fields }, { stores }) =>
      fields.push('a: memberByEmail(email: "x") { tier }') &&
      Object.assign(request, {
        key: await addKey(stores.keys, 'alpha', 'sandbox', { scopes: ['ingest'] }),
      }),
  ],
  ['validation', 'GRAPHQL_VALIDATION_FAILED', (draft) => draft.fields.push('nothing')],
  [
    'variables',
    'BAD_USER_INPUT',
    (draft) =>
      Object.assign(draft, { variables: { email: 1 } }) &&
      draft.fields.push('b: memberByEmail(email: $email) { tier }'),
  ],
];

async function send(faults: typeof FAULTS): Promise<ApiResponse> {
  const draft: Draft = {
    request: withoutKey({ key: service.keys.alpha, headers: { 'x-partner-api-key': undefined } }),
    definitions: '',
    fields: ['__typename'],
    tail: '',
    variables: {},
    padding: 0,
  };
  // The earlier fault is added last, so that it wins if both set the credential.
  for (const [, , add] of [...faults].reverse()) await add(draft, service);
  const { request, fields, tail, variables, padding } = draft;
  const definitions = fields.some((field) => field.includes('$email')) ? '($email: String!)' : '';
  const body = JSON.stringify({
    query: `query ${definitions} { ${fields.join(' ')} } ${tail}`,
    variables,
  });
  return service.send({
    ...request,
    headers: { ...request.headers, 'x-partner-api-key': request.key },
    body: body + ' '.repeat(padding),
  });
}

const PAIRS = FAULTS.flatMap((first, index) =>
  FAULTS.slice(index + 1).map((second) => [first, second] as const),
);

test.each(FAULTS)('the %s check rejects with %s', async (...fault) => {
  expect((await send([fault])).code).toBe(fault[1]);
});

test.each(PAIRS.map(([first, second]) => [first[0], second[0], first, second] as const))(
  'the %s check precedes the %s check',
  async (_first, _second, first, second) => {
    expect((await send([first, second])).code).toBe(first[1]);
  },
);

// What a response has besides its code: a status, a request ID, a media type, partial results.

describe('200', () => {
  const expected = { data: { memberByEmail: { memberId: 'm-both' } } };

  test('for a body with a byte order mark and unknown members, of exactly 64 KiB', async () => {
    const body = `\uFEFF${JSON.stringify({ query: QUERY, id: 1, persisted: true })}`;
    expect((await service.send({ body })).body).toEqual(expected);
    expect((await service.send({ body: sized(64 * 1024) })).status).toBe(200);
  });

  test('by GET with members that are empty', async () => {
    const parameters = { query: QUERY, operationName: '', variables: '', extensions: '' };
    const path = `/graphql?${new URLSearchParams(parameters)}`;
    expect((await service.send({ method: 'GET', path })).body).toEqual(expected);
  });

  test.each([
    { 'content-encoding': 'Identity' },
    { 'content-type': 'application/json;charset=utf-8' },
    { 'content-type': 'Application/JSON; charset="UTF-8"' },
  ])('for %j', async (headers) => {
    expect((await service.send({ query: QUERY, headers })).status).toBe(200);
  });
});

test.each([
  [
    'application/graphql-response+json, application/json;q=0.9',
    'application/graphql-response+json',
  ],
  ['application/json, application/graphql-response+json;q=0.9', 'application/json'],
  ['*/*', 'application/json'],
  ['text/html', 'application/json'],
  ['application/graphql-response+json;q=0', 'application/json'],
])('the media type for Accept: %s is %s, whatever the status', async (accept, expected) => {
  const statuses: number[] = [];
  for (const query of [QUERY, '{ memberById(memberId: "x") { tier } }', '{', '{ nothing }']) {
    const { status, headers } = await service.send({ query, headers: { accept } });
    expect(headers.get('content-type')).toBe(`${expected}; charset=utf-8`);
    statuses.push(status);
  }
  expect(statuses).toEqual([200, 200, 400, 400]);
});

test('405 for HEAD, without a body', async () => {
  const response = await service.send({ method: 'HEAD' });
  expect([response.status, response.text, response.headers.get('allow')]).toEqual([
    405,
    '',
    'GET, POST',
  ]);
});

describe('a query by GET', () => {
  const inUrl = (parameters: Record<string, string>) => ({
    method: 'GET',
    path: `/graphql?${new URLSearchParams(parameters)}`,
  });

  test('gives what the same query gives by POST, at the same cost, and is not stored', async () => {
    const query = 'query Read($email: String!) { memberByEmail(email: $email) { memberId tier } }';
    const variables = { email: 'both@example.com' };
    const posted = await service.send({ query, variables, operationName: 'Read' });
    const got = await service.send(
      inUrl({ query, variables: JSON.stringify(variables), operationName: 'Read' }),
    );
    expect([got.status, got.text]).toEqual([200, posted.text]);
    expect(got.headers.get('cache-control')).toBe('no-store');
    const left = [posted, got].map(({ headers }) => Number(headers.get('ratelimit-remaining')));
    expect((left[0] ?? 0) - (left[1] ?? 0)).toBe(1);
  });

  test('431 for a URL over 8 KiB', async () => {
    const { path, ...request } = inUrl({ query: `{ __typename }${' '.repeat(8_192)}` });
    const [longest, longer] = [path.slice(0, 8_192), path.slice(0, 8_193)];
    expect((await service.send({ ...request, path: longest })).status).toBe(200);
    expect((await service.send({ ...request, path: longer })).status).toBe(431);
  });
});

// The GraphQL over HTTP audits of the package graphql-http, run as a partner.

/** Audits by id that contradict docs/callers/requests.md, HTTP, which takes precedence. */
const CONTRADICTIONS: Record<string, string> = {
  '572B': 'a syntax error is 400 for application/json too',
  FDE2: 'a validation error is 400 for application/json too',
  '7B9B': 'a variable of the wrong type is 400 for application/json too',
};

const audits = serverAudits({
  url: () => `${service.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set('x-partner-api-key', service.keys.alpha);
    return fetch(url, { ...init, headers });
  },
});

test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (name, { id, fn }) => {
  const result = await fn();
  if (id in CONTRADICTIONS) {
    expect(name).not.toMatch(/^MUST/);
    expect(result.status).toBe(name.startsWith('SHOULD') ? 'warn' : 'notice');
  } else {
    expect(result).toEqual({ id, name, status: 'ok' });
  }
});

test('there are audits that must pass', () => {
  expect(audits.filter(({ name }) => name.startsWith('MUST')).length).toBeGreaterThan(10);
});
