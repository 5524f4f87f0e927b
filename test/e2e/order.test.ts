// The order of checks, which decides between two refusals: every pair of faults in one request.
import type { ErrorCode } from '@partner-loyalty/runtime';
import { LIVE_KEY, spentKey, times, UNKNOWN_KEY, withoutKey } from '../support/cases/outcomes.ts';
import type { Answer, Ask } from '../support/service/client.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await startInProcess({
    env: { RATE_LIMIT_BUDGET: '100000', TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(() => stage.close());

/** A request that is put together last, so that faults can be added to it one by one. */
type Draft = {
  ask: Ask;
  definitions: string;
  fields: string[];
  tail: string;
  variables: unknown;
  padding: number;
};

/** In the contract's order. Each adds its fault to a request. */
const FAULTS: [name: string, code: ErrorCode, add: (draft: Draft, stage: Stage) => unknown][] = [
  ['path', 'NOT_FOUND', ({ ask }) => Object.assign(ask, { path: '/other' })],
  ['method', 'METHOD_NOT_ALLOWED', ({ ask }) => Object.assign(ask, { method: 'PUT' })],
  ['environment', 'KEY_ENVIRONMENT_MISMATCH', ({ ask }) => Object.assign(ask, { key: LIVE_KEY })],
  [
    'two credentials',
    'AMBIGUOUS_CREDENTIALS',
    ({ ask }, { keys }) => Object.assign(ask, { key: keys.alpha, token: 'x' }),
  ],
  [
    'content type',
    'UNSUPPORTED_MEDIA_TYPE',
    ({ ask }) => Object.assign(ask.headers ?? {}, { 'content-type': 'text/plain' }),
  ],
  ['size', 'PAYLOAD_TOO_LARGE', (draft) => Object.assign(draft, { padding: 70_000 })],
  ['JSON', 'BAD_REQUEST', (draft) => Object.assign(draft, { variables: [] })],
  ['tokens', 'OPERATION_TOO_COMPLEX', (draft) => draft.fields.unshift(times(1_001, () => 'tier'))],
  ['syntax', 'GRAPHQL_PARSE_FAILED', (draft) => Object.assign(draft, { tail: '}' })],
  [
    'introspection',
    'INTROSPECTION_DISABLED',
    (draft) =>
      Object.assign(draft.ask, { key: '' }) && draft.fields.push('__schema { queryType { name } }'),
  ],
  ['credential', 'UNAUTHENTICATED', ({ ask }) => Object.assign(ask, { key: UNKNOWN_KEY })],
  [
    'root fields',
    'OPERATION_TOO_COMPLEX',
    (draft) => draft.fields.push(times(11, (index) => `a${index}: __typename`)),
  ],
  [
    'budget',
    'RATE_LIMITED',
    async ({ ask }, on) => Object.assign(ask, { key: await spentKey(on) }),
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
  const whole = JSON.stringify({
    query: `query ${definitions} { ${fields.join(' ')} } ${tail}`,
    variables,
  });
  return stage.ask({
    ...ask,
    headers: { ...ask.headers, 'x-partner-api-key': ask.key },
    body: whole + ' '.repeat(padding),
  });
}

const PAIRS = FAULTS.flatMap((first, index) =>
  FAULTS.slice(index + 1).map((second) => [first, second] as const),
);

test.each(FAULTS)('%s alone: %s', async (...fault) => {
  expect((await send([fault])).code).toBe(fault[1]);
});

test.each(PAIRS.map(([first, second]) => [first[0], second[0], first, second] as const))(
  '%s before %s',
  async (_first, _second, first, second) => {
    expect((await send([first, second])).code).toBe(first[1]);
  },
);
