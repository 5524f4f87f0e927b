// A subgraph over real HTTP: who gets answers, and which.
import { buildSchema } from 'graphql';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { createCaches } from '../cache/caches.ts';
import type { HttpServer } from '../http/server.ts';
import { createLog } from '../observe/log.ts';
import type { Scope } from '../subgraph/types.ts';
import { serveSubgraph } from './server.ts';
import { createSigner } from './signature.ts';

const [SECRET, OLD] = ['the secret of the tests', 'the old secret of the tests'];
const PARTNER = '[{"kind":"partner","partnerId":"p"}]';
const schema = buildSchema(
  'type Query { scope: String  slow: String  never: String  _service: String }',
);
const gate: { open: () => void } = { open: () => {} };
const rootValue = schema.getQueryType()?.getFields() ?? {};
Object.assign(rootValue.scope ?? {}, {
  resolve: (_: unknown, __: unknown, context: { scope: Scope }) => JSON.stringify(context.scope),
});
Object.assign(rootValue.slow ?? {}, {
  resolve: () =>
    new Promise((resolve) => {
      gate.open = () => resolve('slow');
    }),
});
Object.assign(rootValue.never ?? {}, { resolve: () => new Promise(() => {}) });

let server: HttpServer;
let healthy = true;

beforeAll(async () => {
  const ready = () => (healthy ? Promise.resolve() : Promise.reject(new Error('down')));
  const subgraph = { name: 'things', schema, ready, close: async () => {} };
  const settings = {
    host: '127.0.0.1',
    port: 0,
    subgraphs: {},
    subgraphSecret: SECRET,
    subgraphSecretOld: OLD,
  };
  server = await serveSubgraph({
    subgraph,
    settings,
    log: createLog('silent'),
    metrics: { request: () => {} },
    caches: createCaches(),
  });
});
afterAll(() => server.close());

describe('401', () => {
  test.each(['/graphql', '/ready', '/', '/anything'])(
    'for an unsigned request, on every path: %s',
    async (path) => {
      for (const body of [
        '[{"query":"{_service}","requestId":"r","scope":0}]',
        '{"query":"{_entities}"}',
        '',
      ]) {
        const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
          method: 'POST',
          body,
        });
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({
          errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
        });
      }
      expect((await fetch(`http://127.0.0.1:${server.port}${path}`)).status).toBe(401);
    },
  );

  test('for a signature with another secret, or of another path, body or scope', async () => {
    expect((await send({ secret: 'another secret of the tests' })).status).toBe(401);
    expect((await send({ signedPath: '/ready' })).status).toBe(401);
    expect((await send({ path: '/graphql?a=b', signedPath: '/graphql' })).status).toBe(401);
    expect((await send({ signedBody: '[]' })).status).toBe(401);
    expect((await send({ headers: { 'x-subgraph-scopes': '[{"kind":"service"}]' } })).status).toBe(
      401,
    );
  });

  test('for a request that is sent twice', async () => {
    const headers = createSigner(
      'things',
      SECRET,
    )({
      method: 'POST',
      path: '/graphql',
      scopes: PARTNER,
      body: '[]',
    });
    const once = () =>
      fetch(`http://127.0.0.1:${server.port}/graphql`, { method: 'POST', headers, body: '[]' });
    expect([(await once()).status, (await once()).status]).toEqual([200, 401]);
  });
});

test('accepts both secrets', async () => {
  expect((await send({ secret: SECRET })).status).toBe(200);
  expect((await send({ secret: OLD })).status).toBe(200);
});

test('404, 405 and 400 for signed requests only', async () => {
  expect((await send({ path: '/other' })).status).toBe(404);
  expect((await send({ method: 'PUT' })).status).toBe(405);
  expect((await send({ body: '{"query":"{scope}"}' })).status).toBe(400);
});

test('413 for a body that is too large', async () => {
  expect((await send({ body: 'x'.repeat(5_000_000) })).status).toBe(413);
});

test('/ready answers 200 if the store is ready, 503 otherwise', async () => {
  expect((await send({ path: '/ready', method: 'GET' })).status).toBe(200);
  healthy = false;
  expect((await send({ path: '/ready', method: 'GET' })).status).toBe(503);
  healthy = true;
});

test('each operation is answered in its own scope', async () => {
  const response = await send({
    scopes: '[{"kind":"partner","partnerId":"p"},{"kind":"member","memberId":"m"}]',
    body: operations(['{scope}', 1], ['{scope}', 0], ['{wrong}', 0]),
  });
  expect(response.headers.get('content-length')).not.toBeNull();
  expect(await lines(response)).toEqual([
    { i: 0, data: { scope: '{"kind":"member","memberId":"m"}' } },
    { i: 1, data: { scope: '{"kind":"partner","partnerId":"p"}' } },
    {
      i: 2,
      errors: [{ message: expect.any(String), extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
    },
  ]);
});

test('an operation that is slow or never ends does not hold up a quick one', async () => {
  await withFakeTimeouts(async (passTime) => {
    const response = await send({
      body: operations(['{slow}', 0], ['{never}', 0], ['{scope}', 0]),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = async () => JSON.parse((await reader?.read())?.value ?? '');
    expect(await read()).toMatchObject({ i: 2 });
    gate.open();
    expect(await read()).toEqual({ i: 0, data: { slow: 'slow' } });
    await passTime(2_000);
    expect(await read()).toMatchObject({
      i: 1,
      errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
    });
    expect((await reader?.read())?.done).toBe(true);
  });
});

test('rejects if there is no secret', async () => {
  const subgraph = { name: 'things', schema, ready: async () => {}, close: async () => {} };
  await expect(
    serveSubgraph({
      subgraph,
      settings: { host: '127.0.0.1', port: 0, subgraphs: {} },
      log: createLog('silent'),
      metrics: { request: () => {} },
      caches: createCaches(),
    }),
  ).rejects.toThrow('SUBGRAPH_SECRET');
});

type Sent = {
  secret?: string;
  method?: string;
  path?: string;
  signedPath?: string;
  body?: string;
  signedBody?: string;
  scopes?: string;
  headers?: Record<string, string>;
};

function send({
  secret = SECRET,
  method = 'POST',
  path = '/graphql',
  signedPath = path,
  body = method === 'GET' ? '' : operations(['{scope}', 0]),
  signedBody = body,
  scopes = PARTNER,
  headers,
}: Sent) {
  const signed = createSigner(
    'things',
    secret,
  )({ method, path: signedPath, scopes, body: signedBody });
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { ...signed, ...headers },
    body: method === 'GET' ? null : body,
  });
}

function operations(...list: [query: string, scope: number][]): string {
  return JSON.stringify(list.map(([query, scope]) => ({ query, scope, requestId: 'r' })));
}

async function lines(response: Response): Promise<unknown[]> {
  return (await response.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
