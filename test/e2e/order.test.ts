// The order of checks, which decides the error of a request with two faults: every pair of faults.
import type { ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import {
  LIVE_KEY,
  spentKey,
  suspendedKey,
  times,
  UNKNOWN_KEY,
  withoutKey,
} from '../support/cases/outcomes.ts';
import type { ApiRequest, ApiResponse } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addKey } from '../support/service/testdata.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({
    env: { RATE_LIMIT_BUDGET: '100000', TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(() => service.close());

/** The parts of a request, so that faults can be added one by one. */
type Draft = {
  request: ApiRequest;
  definitions: string;
  fields: string[];
  tail: string;
  variables: unknown;
  padding: number;
};

/** In the order of docs/api.md, Order of checks. Each function adds its fault to a draft. */
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
