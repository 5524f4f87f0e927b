// The pages of the documentation.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { rootScopesOf } from '@partner-loyalty/gateway/schema/scopes.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { buildSchema, parse } from 'graphql';
import { UNSHARED } from '../../../test/support/requests/unshared.ts';
import { explorerPage } from './explorer/explorer.ts';
import { homePage } from './home.ts';
import { createPages } from './pages.ts';

// The routes of the pages: who gets HTML, in which encoding, and from which graph.
describe('pages', () => {
  const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const ABOUT = {
    environment: 'sandbox',
    endpoint: 'https://sandbox.example/graphql',
    otherEndpoint: 'https://api.example/graphql',
    mcpEndpoint: 'https://sandbox.example/mcp',
    hasExplorer: true,
    hasConsole: true,
  } as const;

  function graph(version: number, sdl: string) {
    const surface = { schema: buildSchema(sdl), sdl, rootScopes: rootScopesOf(parse(sdl)) };
    return { version, surfaces: { partner: surface, member: surface } };
  }

  function pagesOf(
    graphs = { current: () => graph(0, 'type Query { first: String }') },
    settings: { explorer?: 'on' | 'off' } = {},
  ) {
    return createPages({
      about: ABOUT,
      settings: {
        rateLimitBudget: 600,
        rateLimitWindowSeconds: 60,
        explorer: 'on',
        idTokenMemberClaim: 'sub',
        ...settings,
      },
      graphs,
      store: { versions: async () => [] },
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
      ...UNSHARED,
    };
  }

  const bytesOf = ({ body }: HttpResponse) =>
    typeof body === 'function' ? Buffer.of() : Buffer.from(body);

  test.each(['/', '/docs', '/docs/keys', '/docs/guides/check-in'])(
    '%s is a page for a browser, by GET and HEAD',
    async (path) => {
      const pages = pagesOf();
      for (const method of ['GET', 'HEAD']) {
        const response = await pages(get(path, { accept: HTML }, method));
        expect(response).toMatchObject({
          status: 200,
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'cache-control': 'no-cache',
            'referrer-policy': 'same-origin',
            vary: 'accept, accept-encoding',
            'content-security-policy': expect.stringMatching(
              /^default-src 'none'; style-src 'sha256-[^ ]+'; .*frame-ancestors 'none'$/,
            ),
          },
        });
      }
    },
  );

  test.each([
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

  test.each([
    ['no Accept', {}],
    ['any type, as curl sends', { accept: '*/*' }],
    ['any text', { accept: 'text/*' }],
  ])('with %s, a page for its path, and the 404 of the API for no path', async (_, headers) => {
    expect(await pagesOf()(get('/docs', headers))).toMatchObject({ status: 200 });
    expect(pagesOf()(get('/nope', headers))).toBeUndefined();
  });

  test('Accept names HTML in any case and at any place', () => {
    expect(pagesOf()(get('/', { accept: 'application/json, Text/HTML;q=0.1' }))).toBeDefined();
  });

  test('the same page in each encoding, and 304 for a browser that has it', async () => {
    const pages = pagesOf();
    const inEncoding = async (accepted: string) => {
      const response = await pages(get('/docs', { accept: HTML, 'accept-encoding': accepted }));
      return { response, encoding: response?.headers['content-encoding'] };
    };
    const plain = await inEncoding('identity');
    const br = await inEncoding('gzip, deflate, br');
    const gzip = await inEncoding('gzip;q=0.5, br;q=0');
    expect([plain.encoding, br.encoding, gzip.encoding]).toEqual([undefined, 'br', 'gzip']);
    const [text, ...others] = [plain, br, gzip].map(
      ({ response }) => response && bytesOf(response),
    );
    expect([brotliDecompressSync(others[0] ?? ''), gunzipSync(others[1] ?? '')]).toEqual([
      text,
      text,
    ]);

    const etag = br.response?.headers.etag ?? '';
    const again = await pages(get('/docs', { accept: HTML, 'if-none-match': `"x", ${etag}` }));
    expect(again).toMatchObject({ status: 304, body: '', headers: { etag } });
    expect(again?.headers['content-type']).toBeUndefined();
    expect(await pages(get('/docs', { accept: HTML, 'if-none-match': 'W/"x"' }))).toMatchObject({
      status: 200,
    });
  });

  test('the start page names the other environment only if its address is known', () => {
    expect(homePage(ABOUT)).toContain('POST https://api.example/graphql');
    expect(homePage({ ...ABOUT, otherEndpoint: undefined })).not.toContain('Production');
  });

  test('the start page leads to the explorer and the console where they are on', () => {
    const places = (about: Partial<typeof ABOUT | Record<string, boolean>>) =>
      ['"/explorer"', '"/console"', 'keys create'].filter((each) =>
        homePage({ ...ABOUT, ...about }).includes(each),
      );
    expect(places({})).toEqual(['"/explorer"', '"/console"']);
    expect(places({ hasExplorer: false, hasConsole: false })).toEqual(['keys create']);
  });

  test('the request to paste finds a member of the demo data, in the sandbox', () => {
    const production = homePage({ ...ABOUT, environment: 'production' });
    expect(homePage(ABOUT)).toContain('&quot;email&quot;: &quot;Teal.Heron@example.com&quot;');
    expect(production).not.toContain('Teal.Heron');
  });

  test.each([
    ['/llms.txt', 'text/plain', '# Partner Loyalty API'],
    ['/docs/guides/check-in.md', 'text/markdown', '# Check-in'],
    ['/docs/keys.md', 'text/markdown', '# Keys'],
    ['/docs/guides/signin.html', 'text/plain', '<!doctype html>'],
    ['/docs/schema/partner.graphql', 'text/plain', 'type Query'],
    ['/docs/schema/member.graphql', 'text/plain', 'type Query'],
  ])('%s is %s for any Accept', async (path, type, start) => {
    for (const accept of [HTML, 'application/json', '*/*']) {
      const response = await pagesOf()(get(path, { accept }));
      expect(response?.headers['content-type']).toBe(`${type}; charset=utf-8`);
      expect(String(response?.body).startsWith(start)).toBe(true);
    }
  });

  test('a browser gets a 404 page for a guide that does not exist, and for one outside their folder', async () => {
    for (const path of ['/docs/guides/nothing', '/docs/guides/../api', '/docs/guides/..%2fapi.md'])
      expect(await pagesOf()(get(path))).toMatchObject({
        status: 404,
        body: expect.stringContaining('<h1>Page not found</h1>'),
      });
  });

  test('a slash at the end of a page leads to the page, and nowhere else', async () => {
    const pages = pagesOf();
    for (const path of ['/docs', '/docs/guides/check-in', '/explorer', '/llms.txt'])
      expect(await pages({ ...get(`${path}/`), search: '?a=b' })).toMatchObject({
        status: 308,
        headers: { location: `${path}?a=b` },
      });
    for (const path of ['//evil.example/', '//evil.example', '//docs/', '/docs//', '/nothing/'])
      expect(await pages(get(path))).toMatchObject({ status: 404 });
    expect(pages(get('/docs/', { accept: 'application/json' }))).toBeUndefined();
    expect(await pagesOf(undefined, { explorer: 'off' })(get('/explorer/'))).toMatchObject({
      status: 404,
    });
  });

  describe('the explorer', () => {
    const scriptOf = async (pages: ReturnType<typeof pagesOf>) => {
      const response = await pages(get('/explorer'));
      return /<script type="module" src="([^"]+)">/.exec(String(response?.body))?.[1] ?? '';
    };

    test('allows its own script and requests to this service, and no style but its own', async () => {
      const response = await pagesOf()(get('/explorer'));
      expect(response?.headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
      );
    });

    test('has a script that browsers keep for ever, at a path that names its content', async () => {
      const pages = pagesOf();
      const path = await scriptOf(pages);
      expect(path).toMatch(/^\/explorer\/app-[\w-]{22}\.js$/);
      const script = get(path, { accept: '*/*', 'accept-encoding': 'gzip' });
      const first = await pages(script);
      expect(first).toMatchObject({
        status: 200,
        headers: {
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': 'public, max-age=31536000, immutable',
          'content-encoding': 'gzip',
        },
      });
      expect((await pages(script))?.body).toBe(first?.body);
      expect(
        pages(get('/explorer/app-0000000000000000000000.js', { accept: '*/*' })),
      ).toBeUndefined();
    });

    test('has the schema of the member surface, from the graph that serves', async () => {
      let current = graph(1, 'type Query { first: String }');
      const pages = pagesOf({ current: () => current });
      const schema = get('/explorer/schema/member', { accept: '*/*' });
      expect(String((await pages(schema))?.body)).toContain('first: String');
      current = graph(2, 'type Query { second: String }');
      expect(String((await pages(schema))?.body)).toContain('second: String');
    });

    test('has menus for what only a sandbox does', () => {
      const page = (environment: 'sandbox' | 'production') =>
        explorerPage({ ...ABOUT, environment }, '', 'sub');
      expect(page('sandbox')).toMatch(/<select id="fault".*<select id="days"/s);
      expect(page('production')).not.toMatch(/<select id="(fault|days)"/);
    });

    test('has the licenses of what is in its script', async () => {
      const response = await pagesOf()(get('/explorer/licenses.txt'));
      expect(String(response?.body)).toMatch(
        /^@codemirror\/state .*Permission is hereby granted/ms,
      );
    });

    test('has no path if it is off', async () => {
      const path = await scriptOf(pagesOf());
      const pages = pagesOf(undefined, { explorer: 'off' });
      for (const each of ['/explorer', path, '/explorer/schema/member', '/explorer/licenses.txt'])
        expect(await pages(get(each))).toMatchObject({ status: 404 });
    });
  });

  test('the reference is made once for each graph that serves', async () => {
    let current = graph(1, 'type Query { first: String }');
    const pages = pagesOf({ current: () => current });
    const body = async () => (await pages(get('/docs')))?.body;
    const first = await body();
    expect(String(first)).toMatch(/<code>first<\/code>.*version 1 of the schema/s);
    expect(await body()).toBe(first);
    current = graph(2, 'type Query { second: String }');
    const second = String(await body());
    expect(second).toMatch(/<code>second<\/code>.*version 2 of the schema/s);
    expect(second).not.toContain('/queries/first');
  });

  test('an operation and a type have a page while what serves has them', async () => {
    let current = graph(1, 'type Query { first: Thing } type Thing { id: ID }');
    const pages = pagesOf({ current: () => current });
    const status = async (path: string) => (await pages(get(path)))?.status;
    const first = await pages(get('/docs/partner/queries/first'));
    expect(first?.status).toBe(200);
    expect((await pages(get('/docs/partner/queries/first')))?.body).toBe(first?.body);
    expect(await status('/docs/partner/types/Thing')).toBe(200);
    for (const path of ['queries/Thing', 'types/first', 'types/Query', 'types/ID', 'types'])
      expect([path, await status(`/docs/partner/${path}`)]).toEqual([path, 404]);
    expect(await status('/docs/other/queries/first')).toBe(404);
    current = graph(2, 'type Query { second: String }');
    expect(await status('/docs/partner/queries/first')).toBe(404);
    expect(await status('/docs/member/queries/second')).toBe(200);
  });

  test('of the pages of a large schema, those that were asked for last are kept', async () => {
    const fields = Array.from({ length: 250 }, (_, index) => `f${index}: Int`);
    const large = graph(1, `type Query { ${fields.join(' ')} }`);
    const pages = pagesOf({ current: () => large });
    const body = async (index: number) =>
      (await pages(get(`/docs/partner/queries/f${index}`)))?.body;
    const former = [await body(0), await body(1)];
    for (let index = 2; index < 201; index += 1) {
      await body(index);
      await body(0);
    }
    expect(await body(0)).toBe(former[0]);
    expect(await body(1)).not.toBe(former[1]);
  });
});
