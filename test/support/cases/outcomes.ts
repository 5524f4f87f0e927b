// For each error code, the requests that lead to it (docs/callers/errors.md).
import { randomInt } from 'node:crypto';
import { type KeyLimits, newKey } from '@partner-loyalty/gateway';
import { ERRORS, type ErrorCode, type ErrorDetails } from '@partner-loyalty/runtime/errors.ts';
import type { ApiRequest, ApiResponse } from '../service/client.ts';
import type { InProcessService } from '../service/inprocess.ts';
import { addKey, addPartner } from '../service/testdata.ts';
import { until } from '../until.ts';

export type Outcome = {
  name: string;
  /** Sent with alpha's key if it has no credential. */
  request: (service: InProcessService) => ApiRequest | Promise<ApiRequest>;
  /** If it differs from the status in the error table. */
  status?: number;
  /** False if the response has no budget headers, since the credential is not valid. */
  hasBudget?: false;
  /** Checks the response further. */
  check?: (response: ApiResponse) => void;
};

export const LIVE_KEY = newKey('production');
export const UNKNOWN_KEY = newKey('sandbox');
export const QUERY = '{ memberByEmail(email: "both@example.com") { memberId } }';
export const VARIABLE = 'query ($email: String!) { memberByEmail(email: $email) { memberId } }';

/** The texts for the indexes from 0, joined by spaces. */
export function times(count: number, text: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => text(index)).join(' ');
}

/** A request without a key from a random address, since refused credentials count by address. */
export function withoutKey(request: ApiRequest): ApiRequest {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  return {
    ...request,
    headers: { 'x-partner-api-key': undefined, 'x-forwarded-for': address, ...request.headers },
  };
}

/** A valid request body of this many bytes. */
export function sized(bytes: number): string {
  return JSON.stringify({ query: QUERY }).padEnd(bytes);
}

/** A key whose partner has used up its budget. */
export async function spentKey({ stores, send }: InProcessService): Promise<string> {
  const key = await addPartner(stores.keys, { partnerId: `spent-${randomInt(1e12)}`, budget: 1 });
  await send({ query: '{ __typename }', key });
  return key;
}

/** A key whose partner is suspended. */
export async function suspendedKey({ stores }: InProcessService): Promise<string> {
  return addKey(stores.keys, await suspendedPartner(stores));
}

const query = (text: string, more: ApiRequest = {}) => ({
  request: () => ({ query: text, ...more }),
});
const body = (text: string | Uint8Array<ArrayBuffer>) => ({ request: () => ({ body: text }) });
const refused = (
  headers: Record<string, string>,
  text = QUERY,
): Pick<Outcome, 'request' | 'hasBudget'> => ({
  request: () => withoutKey({ query: text, headers }),
  hasBudget: false,
});
const method = (name: string) => ({
  name,
  request: () => ({ method: name, query: QUERY }),
  check: ({ headers }: ApiResponse) => expect(headers.get('allow')).toBe('GET, POST'),
});
const get = (parameters: Record<string, string>) => ({
  request: () => ({ method: 'GET', path: `/graphql?${new URLSearchParams(parameters)}` }),
});
const END = 'mutation { endEnrollment(memberId: "m-none") { memberId } }';
const INTROSPECTION = '{ __schema { queryType { name } } }';
/** With a key of alpha that is not valid here and now. */
const refusedKey = (limits: KeyLimits) => ({
  request: async ({ stores }: InProcessService) => {
    const key = await addKey(stores.keys, 'alpha', 'sandbox', limits);
    return withoutKey({ query: QUERY, headers: { 'x-partner-api-key': key } });
  },
  hasBudget: false as const,
});
async function suspendedPartner({ keys }: InProcessService['stores']): Promise<string> {
  const partnerId = `suspended-${randomInt(1e12)}`;
  await addPartner(keys, { partnerId });
  await keys.changePartner(partnerId, { suspendedAt: new Date() });
  return partnerId;
}
const suspended = (request: ApiRequest) => ({
  request: async (service: InProcessService) => ({
    ...request,
    key: await suspendedKey(service),
  }),
});
/** Checks what the first error has beside its code. */
const says =
  (details: ErrorDetails) =>
  ({ body }: ApiResponse) =>
    expect(body.errors?.[0]?.extensions).toMatchObject(details);
const LOOK_UPS =
  'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { memberId } } }';
/** This many keys, with a key of a partner that has this budget. */
const manyLookUps = (count: number, budget: number) => ({
  request: async ({ stores }: InProcessService) => ({
    query: LOOK_UPS,
    variables: { keys: Array.from({ length: count }, (_, n) => ({ memberId: `m-${n}` })) },
    key: await addPartner(stores.keys, { partnerId: `page-${randomInt(1e12)}`, budget }),
  }),
});
const enroll = (input: Record<string, unknown>) =>
  query('mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created } }', {
    variables: { input },
  });

/** SERVICE_UNAVAILABLE is missing, since it needs a stopped process; see outages.test.ts. */
export const OUTCOMES: Record<Exclude<ErrorCode, 'SERVICE_UNAVAILABLE'>, Outcome[]> = {
  NOT_FOUND: [
    { name: 'a path of another protocol', request: () => ({ path: '/rest', query: QUERY }) },
    { name: 'a path below the endpoint', request: () => ({ path: '/graphql/x', query: QUERY }) },
    {
      name: 'a caller without a key',
      request: () => withoutKey({ path: '/metrics', query: QUERY }),
      hasBudget: false,
    },
  ],
  METHOD_NOT_ALLOWED: [
    ...['PUT', 'OPTIONS', 'PROPFIND'].map(method),
    {
      name: 'a mutation by GET',
      ...get({ query: END }),
      check: ({ headers }) => expect(headers.get('allow')).toBe('POST'),
    },
    {
      name: 'a caller without a key',
      request: () => withoutKey({ method: 'PUT' }),
      hasBudget: false,
    },
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    {
      name: 'no content-type',
      request: () => ({ query: QUERY, headers: { 'content-type': undefined } }),
    },
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json+x',
      'application/json; charset=iso-8859-1',
    ].map((type) => ({
      name: type,
      request: () => ({ query: QUERY, headers: { 'content-type': type } }),
    })),
    {
      name: 'a compressed body',
      request: () => ({ query: QUERY, headers: { 'content-encoding': 'gzip' } }),
    },
  ],
  PAYLOAD_TOO_LARGE: [
    { name: 'a body of 64 KiB and one byte', ...body(sized(64 * 1024 + 1)) },
    {
      name: 'a body without a length, in chunks',
      request: () => ({
        body: new Blob([sized(64 * 1024 + 1)]).stream() as ReadableStream<Uint8Array>,
      }),
    },
  ],
  BAD_REQUEST: [
    { name: 'no body', ...body('') },
    {
      name: 'a body that is not UTF-8',
      ...body(Uint8Array.from([...Buffer.from('{"query":"'), 0xff, ...Buffer.from('"}')])),
    },
    { name: 'a batch', ...body('[{"query":"{ __typename }"}]') },
    { name: 'a GET without a query', ...get({ variables: '{}' }) },
    { name: 'malformed variables in a URL', ...get({ query: '{ __typename }', variables: '{' }) },
    { name: 'malformed extensions in a URL', ...get({ query: '{ __typename }', extensions: '1' }) },
    {
      name: 'an operationName of an operation that is not there',
      ...query('query A { __typename }', { operationName: 'B' }),
    },
    {
      name: 'two operations without an operationName',
      ...query('query A { __typename } query B { __typename }'),
    },
  ],
  PERSISTED_QUERY_NOT_SUPPORTED: [
    {
      name: 'a hash without a query',
      ...body('{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}'),
      check: ({ body: { errors } }) =>
        expect(errors?.[0]?.message).toBe('PersistedQueryNotSupported'),
    },
    { name: 'a hash in a URL', ...get({ extensions: '{"persistedQuery":{"version":1}}' }) },
  ],
  UNAUTHENTICATED: [
    { name: 'no credential', ...refused({}) },
    { name: 'an unknown key', ...refused({ 'x-partner-api-key': UNKNOWN_KEY }) },
    { name: 'a malformed key', ...refused({ 'x-partner-api-key': 'secret' }) },
    {
      name: 'a key in the wrong header',
      request: ({ keys }) => withoutKey({ query: QUERY, headers: { 'x-api-key': keys.alpha } }),
      hasBudget: false,
    },
    { name: 'an expired key', ...refusedKey({ expiresAt: new Date(0) }) },
    { name: 'a key from elsewhere', ...refusedKey({ allow: ['192.0.2.0/24'] }) },
    { name: 'a bearer token that is not a token', ...refused({ authorization: 'Bearer x' }) },
    {
      name: 'an expired token',
      request: async ({ provider }) =>
        withoutKey({
          query: QUERY,
          token: await provider.issue('m-both', { exp: Math.floor(Date.now() / 1_000) - 60 }),
        }),
      hasBudget: false,
    },
  ],
  INTROSPECTION_DISABLED: [
    { name: '__schema without a key', ...refused({}, INTROSPECTION) },
    {
      name: 'with an unknown key',
      ...refused({ 'x-partner-api-key': UNKNOWN_KEY }, INTROSPECTION),
    },
    {
      name: 'with a bearer token',
      request: async ({ provider }) =>
        withoutKey({
          query: INTROSPECTION,
          token: await provider.issue('m-both'),
          headers: {},
        }),
    },
  ],
  KEY_ENVIRONMENT_MISMATCH: [
    {
      name: 'a live key in the sandbox',
      ...refused({ 'x-partner-api-key': LIVE_KEY }),
      check: ({ body: { correctEndpoint, errors } }) => {
        expect(correctEndpoint).toBe('http://localhost:4001/graphql');
        expect(errors?.[0]?.extensions).toMatchObject({ correctEndpoint });
      },
    },
  ],
  PARTNER_SUSPENDED: [
    { name: 'a query', ...suspended({ query: QUERY }) },
    { name: 'a body that is not JSON', ...suspended({ body: '{' }) },
    { name: 'a token beside the key', ...suspended({ query: QUERY, token: 'x' }) },
    {
      name: 'a token that the partner holds',
      request: async ({ provider, stores }) => {
        const partnerId = await suspendedPartner(stores);
        return withoutKey({
          query: '{ memberProfile(id: "m-both") { memberId } }',
          token: await provider.issue('m-both', { azp: partnerId }),
        });
      },
    },
  ],
  AMBIGUOUS_CREDENTIALS: [
    {
      name: 'a key and a token',
      request: async ({ keys, provider }) => ({
        query: QUERY,
        key: keys.alpha,
        token: await provider.issue('m-both'),
      }),
    },
    {
      name: 'a malformed key and a token',
      ...refused({ 'x-partner-api-key': 'x', authorization: 'bearer x' }),
    },
  ],
  FORBIDDEN: [
    {
      name: 'one of several fields that the scopes do not allow, in a fragment and skipped',
      request: async ({ stores }) => ({
        query: `mutation { __typename ...F ${END.slice('mutation {'.length)}
          fragment F on Mutation { ... @skip(if: true) { a: requestMagicLink(email: "x") { accepted } } }`,
        key: await addKey(stores.keys, 'alpha', 'sandbox', { scopes: ['enroll'] }),
      }),
    },
  ],
  GRAPHQL_PARSE_FAILED: [
    { name: 'an empty document', ...query('') },
    { name: 'a caller without a key', ...refused({}, '{') },
  ],
  GRAPHQL_VALIDATION_FAILED: [
    { name: 'a hidden field', ...query('{ memberProfile(id: "m-both") { email } }') },
    { name: 'a subscription', ...query('subscription { memberByEmail(email: "x") { tier } }') },
    { name: 'a document without an operation', ...query('fragment A on Query { __typename }') },
  ],
  OPERATION_TOO_COMPLEX: [
    { name: '11 root fields', ...query(`{ ${times(11, (index) => `a${index}: __typename`)} }`) },
    {
      name: 'more look-ups than the whole budget',
      ...manyLookUps(60, 5),
      check: ({ headers }) => expect(headers.get('ratelimit-remaining')).toBe('4'),
    },
  ],
  BAD_USER_INPUT: [
    {
      name: 'a variable of the wrong type',
      status: 400,
      ...query(VARIABLE, { variables: { email: 1 } }),
      check: says({ argument: 'email' }),
    },
    {
      name: 'a variable that is missing',
      status: 400,
      ...query(VARIABLE),
      check: says({ argument: 'email' }),
    },
    {
      name: 'a variable of the wrong type within an input object',
      status: 400,
      ...query(
        'mutation ($name: String, $email: String!) { enrollMember(input: { email: $email, firstName: $name }) { created } }',
        { variables: { email: 'a@example.com', name: [] } },
      ),
      check: says({ argument: 'input.firstName' }),
    },
    {
      name: 'an empty address',
      status: 200,
      ...query(VARIABLE, { variables: { email: '' } }),
      check: says({ argument: 'email' }),
    },
    {
      name: 'an external ID of 256 characters',
      status: 200,
      ...query(`{ memberByExternalId(externalId: "${'x'.repeat(256)}") { tier } }`),
    },
    {
      name: 'a first name of 101 characters',
      status: 200,
      ...enroll({ email: 'a@example.com', firstName: 'x'.repeat(101) }),
      check: says({ argument: 'input.firstName' }),
    },
    {
      name: '101 look-ups',
      ...manyLookUps(101, 90),
      check: ({ headers }) => expect(headers.get('ratelimit-remaining')).toBe('89'),
    },
  ],
  RATE_LIMITED: [
    {
      name: 'the budget is used up',
      request: async (service) => ({ query: QUERY, key: await spentKey(service) }),
      check: ({ headers }) => {
        expect(headers.get('ratelimit-remaining')).toBe('0');
        expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'));
        expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      },
    },
  ],
  MEMBER_NOT_FOUND: [
    {
      name: 'a member of another partner',
      ...query('{ memberById(memberId: "m-beta") { tier } }'),
    },
    { name: 'ending an enrollment that never was', ...query(END) },
    {
      name: "another member's profile",
      request: async ({ provider }) => ({
        query: '{ memberProfile(id: "m-beta") { email } }',
        token: await provider.issue('m-both'),
      }),
    },
  ],
  EXTERNAL_ID_CONFLICT: [
    {
      name: 'an external ID that another member has',
      ...enroll({ email: 'new@example.com', externalId: 'alpha-2' }),
      check: says({ reason: 'TAKEN' }),
    },
    {
      name: 'another external ID for an enrolled member',
      ...enroll({ email: 'both@example.com', externalId: 'new' }),
      check: says({ reason: 'MEMBER_HAS_ANOTHER' }),
    },
  ],
  CONSENT_REQUIRED: ['both@example.com', 'unknown@example.com'].map((email) => ({
    name: `enrolling ${email} for a partner whose members have to agree`,
    request: async ({ stores }) => {
      const partnerId = `careful-${randomInt(1e12)}`;
      await stores.members.partners.put({ partnerId, name: 'Careful', consent: 'required' });
      const key = await addPartner(stores.keys, { partnerId });
      return { ...enroll({ email }).request(), key };
    },
  })),
  INVALID_TOKEN: [
    {
      name: 'a magic-link token that was never issued',
      ...query(`mutation { exchangeMagicLink(token: "ml_${'x'.repeat(43)}") { idToken } }`),
    },
    {
      name: 'a change token that was never issued',
      request: async ({ provider }) => ({
        query: `mutation { confirmEmailChange(token: "ec_${'x'.repeat(43)}") { email } }`,
        token: await provider.issue('m-both'),
      }),
    },
  ],
  EMAIL_IN_USE: [
    {
      name: 'a change to the current address of another member',
      request: async ({ send, provider, mail }) => {
        const token = await provider.issue('m-both');
        const { body } = await send({
          query: 'mutation { requestEmailChange(email: "alpha.only@example.com") { accepted } }',
          token,
        });
        expect(body).toEqual({ data: { requestEmailChange: { accepted: true } } });
        const email = await until(() => mail().at(-1));
        const [proof] = /ec_[\w-]+/.exec(email) ?? [];
        return {
          query: 'mutation ($token: String!) { confirmEmailChange(token: $token) { email } }',
          variables: { token: proof },
          token,
        };
      },
    },
  ],
  INTERNAL_SERVER_ERROR: [
    {
      name: 'an invalid program in the store',
      request: async ({ stores }) => {
        const key = await addPartner(stores.keys, { partnerId: 'broken' });
        await stores.members.enroll({
          partnerId: 'broken',
          address: { typed: 'x@example.com', canonical: 'x@example.com' },
        });
        // Cast: no command would write such a program.
        await stores.standings.putProgram('broken', {
          membershipYear: { start: '01-01', timeZone: 'UTC' },
        } as never);
        return { query: '{ a: memberByEmail(email: "x@example.com") { tier } }', key };
      },
      check: ({ body: { errors } }) =>
        expect(errors?.[0]?.message).toBe(ERRORS.INTERNAL_SERVER_ERROR.message),
    },
  ],
};
