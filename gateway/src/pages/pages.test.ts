// The routes of the pages: who gets HTML, in which encoding, and from which graph.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createLog, type HttpReply, type HttpRequest } from '@partner-loyalty/runtime';
import { buildSchema } from 'graphql';
import { createPages } from './pages.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const ABOUT = {
  environment: 'sandbox',
  endpoint: 'https://sandbox.example/graphql',
  otherEndpoint: 'https://api.example/graphql',
  hasExplorer: true,
} as const;

function graph(version: number, sdl: string) {
  const surface = { schema: buildSchema(sdl) };
  return { version, surfaces: { partner: surface, member: surface } };
}

function pagesOf(graphs = { current: () => graph(0, 'type Query { first: String }') }) {
  return createPages({
    about: ABOUT,
    settings: { rateLimitBudget: 600, rateLimitWindowSeconds: 60 },
    graphs,
    log: createLog('silent'),
  });
}

function get(
  path: string,
  headers: Record<string, string> = { accept: HTML },
  method = 'GET',
): HttpRequest {
  return {
    method,
    path,
    search: '',
    headers,
    address: '192.0.2.1',
    requestId: 'r',
    signal: AbortSignal.timeout(60_000),
    body: async () => Buffer.alloc(0),
  };
}

const bytesOf = ({ body }: HttpReply) =>
  typeof body === 'function' ? Buffer.of() : Buffer.from(body);

test.each(['/', '/docs'])('%s is a page for a browser, by GET and HEAD', async (path) => {
  const pages = pagesOf();
  for (const method of ['GET', 'HEAD']) {
    const reply = await pages(get(path, { accept: HTML }, method));
    expect(reply).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
        vary: 'accept, accept-encoding',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[^ ]+'; .*frame-ancestors 'none'$/,
        ),
      },
    });
  }
});

test.each([
  ['no Accept', {}],
  ['any type', { accept: '*/*' }],
  ['any text', { accept: 'text/*' }],
  ['JSON', { accept: 'application/json' }],
  ['HTML refused', { accept: 'application/json, text/html;q=0' }],
  ['a word that contains the name', { accept: 'text/html5' }],
  ['a key', { accept: HTML, 'x-partner-api-key': 'pk_test_x' }],
  ['a token', { accept: HTML, authorization: 'Bearer x' }],
])('with %s, the request is one to the API', (_, headers: Record<string, string>) => {
  expect(pagesOf()(get('/', headers))).toBeUndefined();
});

test.each(['POST', 'PUT', 'OPTIONS'])('%s is a request to the API', (method) => {
  expect(pagesOf()(get('/', { accept: HTML }, method))).toBeUndefined();
});

test('Accept names HTML in any case and at any place', () => {
  expect(pagesOf()(get('/', { accept: 'application/json, Text/HTML;q=0.1' }))).toBeDefined();
});

test('the same page in each encoding, and 304 for a browser that has it', async () => {
  const pages = pagesOf();
  const inEncoding = async (accepted: string) => {
    const reply = await pages(get('/docs', { accept: HTML, 'accept-encoding': accepted }));
    return { reply, encoding: reply?.headers['content-encoding'] };
  };
  const plain = await inEncoding('identity');
  const br = await inEncoding('gzip, deflate, br');
  const gzip = await inEncoding('gzip;q=0.5, br;q=0');
  expect([plain.encoding, br.encoding, gzip.encoding]).toEqual([undefined, 'br', 'gzip']);
  const [text, ...others] = [plain, br, gzip].map(({ reply }) => reply && bytesOf(reply));
  expect([brotliDecompressSync(others[0] ?? ''), gunzipSync(others[1] ?? '')]).toEqual([
    text,
    text,
  ]);

  const etag = br.reply?.headers.etag ?? '';
  const again = await pages(get('/docs', { accept: HTML, 'if-none-match': `"x", ${etag}` }));
  expect(again).toMatchObject({ status: 304, body: '', headers: { etag } });
  expect(again?.headers['content-type']).toBeUndefined();
  expect(await pages(get('/docs', { accept: HTML, 'if-none-match': 'W/"x"' }))).toMatchObject({
    status: 200,
  });
});

test('the reference is made once for each graph that serves', async () => {
  let current = graph(1, 'type Query { first: String }');
  const pages = pagesOf({ current: () => current });
  const body = async () => (await pages(get('/docs')))?.body;
  const first = await body();
  expect(String(first)).toMatch(/<b>first<\/b>.*version 1 of the schema/s);
  expect(await body()).toBe(first);
  current = graph(2, 'type Query { second: String }');
  const second = String(await body());
  expect(second).toMatch(/<b>second<\/b>.*version 2 of the schema/s);
  expect(second).not.toContain('<b>first</b>');
});
