// A subgraph over real HTTP: who gets answers, and which.
import { buildSchema } from 'graphql';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { createCaches } from '../cache/caches.ts';
import { type HttpServer, serveHttp } from '../http/server.ts';
import type { LogFields } from '../observe/fields.ts';
import { createLog, type Log } from '../observe/log.ts';
import { encodeCaller } from '../transport/caller.ts';
import { type Covered, createMac, signatureBase } from '../transport/signature/base.ts';
import { createSigner } from '../transport/signature/signer.ts';
import type { Caller } from '../transport/types.ts';
import { createSubgraphHandler } from './server.ts';

const [SECRET, OLD] = ['the secret of the tests', 'the old secret of the tests'];
const PARTNER = 'kind=partner, partner="p"';
const BATCH = 'kind=batch';
const LINES = 'application/graphql-response+jsonl';
const schema = buildSchema(
  'type Query { caller: String  slow: String  never: String  _service: String }',
);
const gate: { open: () => void } = { open: () => {} };
const rootValue = schema.getQueryType()?.getFields() ?? {};
Object.assign(rootValue.caller ?? {}, {
  resolve: (_: unknown, __: unknown, context: { caller: Caller }) => JSON.stringify(context.caller),
});
Object.assign(rootValue.slow ?? {}, {
  resolve: () =>
    new Promise((resolve) => {
      gate.open = () => resolve('slow');
    }),
});
Object.assign(rootValue.never ?? {}, { resolve: () => new Promise(() => {}) });

const SERVICE = { kind: 'service' };
const batch = {
  caller: BATCH,
  body: operations(
    ['{caller}', { kind: 'member', member: 'm' }],
    ['{caller}', { kind: 'partner', partner: 'p' }],
    ['{wrong}', { kind: 'partner', partner: 'p' }],
  ),
};

const logged: LogFields[] = [];
let server: HttpServer;
let storeState: 'up' | 'full' | 'down' = 'up';

beforeAll(async () => {
  const ready = async () => {
    if (storeState === 'down') throw new Error('down');
    return storeState === 'full' ? storeState : undefined;
  };
  const subgraph = { name: 'things', schema, ready, close: async () => {} };
  const settings = {
    subgraphs: { THINGS: { secret: SECRET, secretOld: OLD, faults: [] } },
  };
  const log: Log = { ...createLog('silent'), outage: (fields) => void logged.push(fields) };
  const handle = createSubgraphHandler({
    subgraph,
    settings,
    log,
    metrics: { request: () => {}, operation: () => {} },
    caches: createCaches(),
  });
  server = await serveHttp({ host: '127.0.0.1', port: 0, handle, trustedProxies: [], log });
});
afterAll(() => server.close());

test('401 for whatever is not signed, on every path, or is signed for something else', async () => {
  for (const path of ['/graphql', '/', '/anything']) {
    const url = `http://127.0.0.1:${server.port}${path}`;
    for (const body of ['[{"query":"{_service}"}]', '{"query":"{_entities}"}', '']) {
      const response = await fetch(url, { method: 'POST', body });
      expect([response.status, await response.json()]).toMatchObject([
        401,
        { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
      ]);
    }
    expect((await fetch(url)).status).toBe(401);
  }
  for (const sent of [
    { secret: 'another secret of the tests' },
    { signedPath: '/other' },
    { path: '/graphql?a=b', signedPath: '/graphql' },
    { path: '/graphql?a=b' },
    { signedBody: '{}' },
    { headers: { 'partner-loyalty-scope': 'kind=service' } },
    { headers: { 'x-request-id': 'other' } },
  ])
    expect([sent, (await send(sent)).status]).toEqual([sent, 401]);
});

test('401 for a request that is sent twice', async () => {
  const signed = { caller: PARTNER, requestId: 'r', body: '{"query":"{caller}"}' };
  const headers = createSigner('things', SECRET)({ method: 'POST', path: '/graphql', ...signed });
  expect([(await send({ headers })).status, (await send({ headers })).status]).toEqual([200, 401]);
});

test('accepts both secrets', async () => {
  expect((await send({ secret: SECRET })).status).toBe(200);
  expect((await send({ secret: OLD })).status).toBe(200);
});

test.each([
  ['of the protocol before', ';protocol=3', 200],
  ['of this one', ';protocol=4', 200],
  ['of the next one', ';protocol=5', 200],
  ['of one that is two ahead', ';protocol=6', 503],
  ['of one that is two behind', ';protocol=2', 503],
  ['without a number, as protocol 1 had none', '', 503],
])('a request %s', async (_, parameter, status) => {
  const body = '{"query":"{caller}"}';
  const request = { method: 'POST', path: '/graphql', caller: PARTNER, requestId: 'r', body };
  const headers = createSigner('things', SECRET)(request);
  const input = headers['signature-input']?.replace(/;protocol=\d+$/, parameter) ?? '';
  // Cast: the headers of a signed request are covered.
  const covered = { '@method': 'POST', '@path': '/graphql', ...headers } as unknown as Covered;
  const mac = createMac(SECRET)(signatureBase(covered, input.replace(/^sig=/, '')));
  const response = await send({
    headers: { ...headers, 'signature-input': input, signature: `sig=:${mac}:` },
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('partner-loyalty-protocol')).toBe(status === 200 ? null : '4');
  if (status === 200) return;
  const there = parameter.replace(/\D/g, '') || '1';
  expect(logged.at(-1)).toMatchObject({
    status,
    reason: `the versions are too far apart: protocol 4 here, ${there} there`,
  });
});

test('404, 405 and 400 for signed requests only', async () => {
  expect((await send({ path: '/other' })).status).toBe(404);
  expect((await send({ method: 'PUT' })).status).toBe(405);
  for (const body of ['', '{', '[]', '{}', operations(['{caller}', { kind: 'service' }])])
    expect([body, (await send({ body })).status]).toEqual([body, 400]);
  for (const caller of ['', 'kind=admin', 'kind=partner', BATCH])
    expect([caller, (await send({ caller })).status]).toEqual([caller, caller === '' ? 401 : 400]);
});

test('413 for a body that is too large', async () => {
  expect((await send({ body: 'x'.repeat(5_000_000) })).status).toBe(413);
});

test('a probe for the service answers 200 if the store can be read, 503 otherwise', async () => {
  const probe = (caller: Caller) =>
    send({ caller: encodeCaller(caller), body: '{"query":"{ __typename }"}' });
  const ready = await probe({ kind: 'service' });
  expect([ready.status, await ready.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
  storeState = 'full';
  const full = await probe({ kind: 'service' });
  storeState = 'down';
  const down = await probe({ kind: 'service' });
  const other = await probe({ kind: 'member', memberId: 'm' });
  storeState = 'up';
  // With a full disk it can be read, so gateways go on asking it.
  expect([full.status, down.status, other.status]).toEqual([200, 503, 200]);
  expect(await down.json()).toMatchObject({
    errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
  });
});

describe('an operation is answered', () => {
  const GRAPHQL = 'application/graphql-response+json; charset=utf-8';
  const JSON_TYPE = 'application/json; charset=utf-8';
  const FAILED = [{ message: expect.any(String), extensions: { code: 'INTERNAL_SERVER_ERROR' } }];

  test.each([
    [undefined, '{caller}', 200, JSON_TYPE],
    ['*/*', '{wrong}', 200, JSON_TYPE],
    ['application/graphql-response+json, application/json;q=0.9', '{caller}', 200, GRAPHQL],
    ['application/graphql-response+json', '{wrong}', 500, GRAPHQL],
    ['application/graphql-response+jsonl', '{caller}', 200, JSON_TYPE],
  ])('as Accept: %s says: %s with %i and %s', async (accept, query, status, type) => {
    const response = await send({
      body: JSON.stringify({ query }),
      headers: accept === undefined ? {} : { accept },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
    expect(await response.json()).toEqual(
      query === '{wrong}'
        ? { errors: FAILED }
        : { data: { caller: '{"kind":"partner","partnerId":"p"}' } },
    );
  });

  test('each of a batch for its own caller, in lines', async () => {
    const response = await send({ ...batch, headers: { accept: LINES } });
    expect(response.headers.get('content-type')).toBe(LINES);
    expect(response.headers.get('content-length')).not.toBeNull();
    expect(await lines(response)).toEqual([
      { requestIndex: 0, data: { caller: '{"kind":"member","memberId":"m"}' } },
      { requestIndex: 1, data: { caller: '{"kind":"partner","partnerId":"p"}' } },
      { requestIndex: 2, errors: FAILED },
    ]);
  });
});

test('an operation that is slow or never ends does not hold up a quick one', async () => {
  await withFakeTimeouts(async (passTime) => {
    const response = await send({
      caller: BATCH,
      body: operations(['{slow}', SERVICE], ['{never}', SERVICE], ['{caller}', SERVICE]),
      headers: { accept: LINES },
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = async () => JSON.parse((await reader?.read())?.value ?? '');
    expect(await read()).toMatchObject({ requestIndex: 2 });
    gate.open();
    expect(await read()).toEqual({ requestIndex: 0, data: { slow: 'slow' } });
    await passTime(2_000);
    expect(await read()).toMatchObject({
      requestIndex: 1,
      errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
    });
    expect((await reader?.read())?.done).toBe(true);
  });
});

test('throws if there is no secret', () => {
  const subgraph = { name: 'things', schema, ready: async () => undefined, close: async () => {} };
  expect(() =>
    createSubgraphHandler({
      subgraph,
      settings: { subgraphs: {} },
      log: createLog('silent'),
      metrics: { request: () => {}, operation: () => {} },
      caches: createCaches(),
    }),
  ).toThrow('SUBGRAPH_SECRET');
});

type Sent = {
  secret?: string;
  method?: string;
  path?: string;
  signedPath?: string;
  body?: string;
  signedBody?: string;
  caller?: string;
  headers?: Record<string, string>;
};

function send({
  secret = SECRET,
  method = 'POST',
  path = '/graphql',
  signedPath = path,
  body = '{"query":"{caller}"}',
  signedBody = body,
  caller = PARTNER,
  headers,
}: Sent) {
  const sign = createSigner('things', secret);
  const signed = sign({ method, path: signedPath, caller, requestId: 'r', body: signedBody });
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { ...signed, ...headers },
    body,
  });
}

function operations(...list: [query: string, caller: object][]): string {
  return JSON.stringify(
    list.map(([query, caller]) => ({ query, extensions: { scope: caller, requestId: 'r' } })),
  );
}

async function lines(response: Response): Promise<unknown[]> {
  return (await response.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
