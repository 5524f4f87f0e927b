// CORS: pages of configured origins may send a bearer token; nothing changes for anyone else.
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';

const ORIGIN = 'https://shop.example';
const HYBRID = 'capacitor://localhost';
const QUERY = '{ __typename }';
const PREFLIGHT = {
  origin: ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization',
};

let service: InProcessService;
let withoutCors: InProcessService;

beforeAll(async () => {
  service = await startInProcess({
    env: { CORS_ORIGINS: `${ORIGIN}, https://other.example, ${HYBRID}` },
  });
  withoutCors = await startInProcess();
});
afterAll(async () => {
  await service.close();
  await withoutCors.close();
});

const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

test('204 for a preflight of a configured origin, which allows neither cookies nor partner keys', async () => {
  const { status, headers, text } = await service.send({
    method: 'OPTIONS',
    key: '',
    headers: PREFLIGHT,
  });
  expect([status, text]).toEqual([204, '']);
  expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(headers.get('access-control-allow-methods')).toBe('GET, POST');
  expect(headers.get('access-control-allow-headers')?.split(', ')).toEqual([
    'authorization',
    'content-type',
    'x-request-id',
    'traceparent',
    'apollographql-client-name',
    'apollographql-client-version',
    'x-sandbox-now',
    'x-sandbox-fault',
  ]);
  expect(headers.get('access-control-allow-headers')).not.toMatch(/partner|\*/);
  expect(headers.get('access-control-allow-credentials')).toBeNull();
  expect(headers.get('vary')).toMatch(/origin/i);
  expect(headers.get('x-request-id')).toMatch(/./);
});

test('a hybrid app calls as a page does, with the origin that its web view sends', async () => {
  const preflight = { ...PREFLIGHT, origin: HYBRID };
  const allowed = await service.send({ method: 'OPTIONS', key: '', headers: preflight });
  expect(allowed.status).toBe(204);
  const token = await service.provider.issue('m-both');
  const read = await service.send({ query: QUERY, token, headers: { origin: HYBRID } });
  for (const { headers } of [allowed, read])
    expect(headers.get('access-control-allow-origin')).toBe(HYBRID);
});

test.each([
  ['another origin', { ...PREFLIGHT, origin: 'https://evil.example' }],
  [
    'an origin that begins like a configured one',
    { ...PREFLIGHT, origin: `${ORIGIN}.evil.example` },
  ],
  ['a configured origin over http', { ...PREFLIGHT, origin: ORIGIN.replace('https', 'http') }],
  ['no origin', { 'access-control-request-method': 'POST' }],
  ['null', { ...PREFLIGHT, origin: 'null' }],
  ['another hybrid app', { ...PREFLIGHT, origin: 'ionic://localhost' }],
])('405 for OPTIONS from %s', async (_, headers) => {
  const response = await service.send({ method: 'OPTIONS', key: '', headers });
  expect([response.status, response.code, corsHeaders(response.headers)]).toEqual([
    405,
    'METHOD_NOT_ALLOWED',
    [],
  ]);
});

test('405 for OPTIONS if no origin is configured', async () => {
  const response = await withoutCors.send({ method: 'OPTIONS', headers: PREFLIGHT });
  expect([response.status, corsHeaders(response.headers), response.headers.get('vary')]).toEqual([
    405,
    [],
    null,
  ]);
});

test('a page of a configured origin can read responses, their budget and their request id', async () => {
  const token = await service.provider.issue('m-both');
  for (const request of [
    { query: QUERY, token },
    { query: '{', token },
    { query: QUERY, token: 'x' },
  ]) {
    const { headers } = await service.send({ ...request, headers: { origin: ORIGIN } });
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-expose-headers')).toMatch(
      /x-request-id.*ratelimit-limit.*ratelimit.*retry-after.*deprecation.*sunset.*link/i,
    );
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('vary')).toMatch(/origin/i);
  }
});

describe('the public documents of the built-in provider', () => {
  test('the configuration names the key set, whose keys are for RS256 signatures only', async () => {
    const { body: discovery } = await withoutCors.send({
      method: 'GET',
      path: '/.well-known/openid-configuration',
    });
    expect(discovery).toMatchObject({
      issuer: 'http://localhost:4000',
      jwks_uri: 'http://localhost:4000/.well-known/jwks.json',
    });
    const { body: keys } = await withoutCors.send({
      method: 'GET',
      path: '/.well-known/jwks.json',
    });
    expect(keys).toMatchObject({
      keys: [
        { kty: 'RSA', n: expect.any(String), alg: 'RS256', use: 'sig', kid: expect.any(String) },
        expect.anything(),
      ],
    });
  });
});
