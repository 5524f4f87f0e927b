// What browsers are let do: pages of named origins may call with a bearer token, and nothing changes for anyone else.
import { type Stage, startInProcess } from '../support/service/inprocess.ts';

const NAMED = 'https://shop.example';
const QUERY = '{ __typename }';
const PREFLIGHT = {
  origin: NAMED,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization',
};

let stage: Stage;
let closed: Stage;

beforeAll(async () => {
  stage = await startInProcess({ env: { CORS_ORIGINS: `${NAMED}, https://other.example` } });
  closed = await startInProcess();
});
afterAll(async () => {
  await stage.close();
  await closed.close();
});

const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

test('a preflight of a named origin is answered, and allows neither cookies nor partner keys', async () => {
  const { status, headers, text } = await stage.ask({
    method: 'OPTIONS',
    key: '',
    headers: PREFLIGHT,
  });
  expect([status, text]).toEqual([204, '']);
  expect(headers.get('access-control-allow-origin')).toBe(NAMED);
  expect(headers.get('access-control-allow-methods')).toBe('POST');
  expect(headers.get('access-control-allow-headers')).toMatch(/authorization/);
  expect(headers.get('access-control-allow-headers')).not.toMatch(/partner|\*/);
  expect(headers.get('access-control-allow-credentials')).toBeNull();
  expect(headers.get('vary')).toMatch(/origin/i);
  expect(headers.get('x-request-id')).toMatch(/./);
});

test.each([
  ['another origin', { ...PREFLIGHT, origin: 'https://evil.example' }],
  ['an origin that begins like a named one', { ...PREFLIGHT, origin: `${NAMED}.evil.example` }],
  ['a named origin over http', { ...PREFLIGHT, origin: NAMED.replace('https', 'http') }],
  ['no origin', { 'access-control-request-method': 'POST' }],
  ['null', { ...PREFLIGHT, origin: 'null' }],
])('405 for OPTIONS from %s', async (_, headers) => {
  const answer = await stage.ask({ method: 'OPTIONS', key: '', headers });
  expect([answer.status, answer.code, corsHeaders(answer.headers)]).toEqual([
    405,
    'METHOD_NOT_ALLOWED',
    [],
  ]);
});

test('405 for OPTIONS where no origin is named', async () => {
  const answer = await closed.ask({ method: 'OPTIONS', headers: PREFLIGHT });
  expect([answer.status, corsHeaders(answer.headers), answer.headers.get('vary')]).toEqual([
    405,
    [],
    null,
  ]);
});

test('a page of a named origin reads answers and refusals, with budget and request id', async () => {
  const token = await stage.provider.issue('m-both');
  for (const ask of [
    { query: QUERY, token },
    { query: '{', token },
    { query: QUERY, token: 'x' },
  ]) {
    const { headers } = await stage.ask({ ...ask, headers: { origin: NAMED } });
    expect(headers.get('access-control-allow-origin')).toBe(NAMED);
    expect(headers.get('access-control-expose-headers')).toMatch(
      /x-request-id.*ratelimit-limit.*ratelimit.*retry-after/i,
    );
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('vary')).toMatch(/origin/i);
  }
});

test('other pages read nothing, and a partner key is never for a page', async () => {
  const token = await stage.provider.issue('m-both');
  const foreign = await stage.ask({
    query: QUERY,
    token,
    headers: { origin: 'https://evil.example' },
  });
  expect([foreign.status, corsHeaders(foreign.headers)]).toEqual([200, []]);
  expect(foreign.headers.get('vary')).toMatch(/origin/i);
  const keyed = await stage.ask({ query: QUERY, headers: { origin: NAMED } });
  expect([keyed.status, corsHeaders(keyed.headers)]).toEqual([200, []]);
});

describe('the public documents of the built-in provider', () => {
  test.each(['/.well-known/jwks.json', '/.well-known/openid-configuration'])(
    '%s answers GET and HEAD',
    async (path) => {
      const got = await closed.ask({ method: 'GET', path, key: '' });
      expect([got.status, got.headers.get('content-type')]).toEqual([
        200,
        'application/json; charset=utf-8',
      ]);
      expect(got.headers.get('x-request-id')).toMatch(/./);
      expect(got.text).not.toContain('"d"');
      const head = await closed.ask({ method: 'HEAD', path, key: '' });
      expect([head.status, head.text]).toEqual([200, '']);
      const posted = await closed.ask({ path, query: QUERY });
      expect([posted.status, posted.code, posted.headers.get('allow')]).toEqual([
        405,
        'METHOD_NOT_ALLOWED',
        'GET, HEAD',
      ]);
    },
  );

  test('one names the other, and the key is for ES256 signatures alone', async () => {
    const { body: discovery } = await closed.ask({
      method: 'GET',
      path: '/.well-known/openid-configuration',
    });
    expect(discovery).toMatchObject({
      issuer: 'http://localhost:4000',
      jwks_uri: 'http://localhost:4000/.well-known/jwks.json',
    });
    const { body: keys } = await closed.ask({ method: 'GET', path: '/.well-known/jwks.json' });
    expect(keys).toMatchObject({
      keys: [
        { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: expect.any(String) },
        expect.anything(),
      ],
    });
  });

  test('404 for others', async () => {
    expect((await closed.ask({ method: 'GET', path: '/.well-known/security.txt' })).code).toBe(
      'NOT_FOUND',
    );
  });
});
