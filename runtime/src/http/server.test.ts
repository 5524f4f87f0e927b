// The HTTP server over real sockets: every response's headers, and malformed or hostile HTTP.
import { connect, type Socket } from 'node:net';
import { fail } from '../errors.ts';
import { createLog } from '../observe/log.ts';
import type { ConnectionLimits } from './connections.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';
import { type HttpServer, serveHttp } from './server.ts';

const log = createLog('silent');
const servers: HttpServer[] = [];
const LIMIT = 1024;

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

test('a response has the status and headers that the handler gives it, and those of every response', async () => {
  const port = await serve(() => ({ status: 201, headers: { link: 'yes' }, body: '{"a":"ü"}' }));
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect(response.status).toBe(201);
  expect(await response.json()).toEqual({ a: 'ü' });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    link: 'yes',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '10',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[A-Za-z0-9._-]{1,128}$/),
  });
});

test('a response may override type and caching, and have a body of bytes', async () => {
  const port = await serve(() => ({
    status: 200,
    headers: { 'content-type': 'text/plain', 'cache-control': 'max-age=60' },
    body: Buffer.from('bytes'),
  }));
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect([
    response.headers.get('content-type'),
    response.headers.get('cache-control'),
    await response.text(),
  ]).toEqual(['text/plain', 'max-age=60', 'bytes']);
});

test.each([204, 304])('a response with %i has neither a type nor a length', async (status) => {
  const port = await serve(() => ({ status, headers: { etag: '"a"' }, body: '' }));
  const { headers } = await fetch(`http://127.0.0.1:${port}/`);
  expect([headers.get('etag'), headers.has('content-type'), headers.has('content-length')]).toEqual(
    ['"a"', false, false],
  );
});

test('the handler receives method, path and query separately', async () => {
  const port = await serve(({ method, path, search }) => json({ method, path, search }));
  expect(
    await (await fetch(`http://127.0.0.1:${port}/a/b?c=d?e`, { method: 'PUT' })).json(),
  ).toEqual({
    method: 'PUT',
    path: '/a/b',
    search: '?c=d?e',
  });
  expect(
    bodyOf(
      await exchange(
        port,
        'GET http://other.example/a?b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      ),
    ),
  ).toEqual({
    method: 'GET',
    path: '/a',
    search: '?b',
  });
  expect(
    bodyOf(await exchange(port, 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')),
  ).toEqual({
    method: 'OPTIONS',
    path: '*',
    search: '',
  });
});

describe('the request ID', () => {
  test.each(['a', 'A-Za.z0_9', 'x'.repeat(128)])(
    'is the one from the caller if it is well formed: %s',
    async (id) => {
      const port = await serve(({ requestId }) => json({ requestId }));
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        headers: { 'x-request-id': id },
      });
      expect([response.headers.get('x-request-id'), await response.json()]).toEqual([
        id,
        { requestId: id },
      ]);
    },
  );

  test.each([
    '',
    'x'.repeat(129),
    'a b',
    'a,b',
    'ä',
    '"',
    `order-7.pk_test_${'x'.repeat(36)}`,
    `a.PK_LIVE_${'X'.repeat(36)}-1`,
    `session-ml_${'x'.repeat(43)}`,
    `token.eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJtIn0.x`,
  ])('is a new one if it is not: %s', async (id) => {
    const port = await serve(({ requestId }) => json({ requestId }));
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      headers: { 'x-request-id': id },
    });
    expect(response.headers.get('x-request-id')).not.toBe(id);
    expect(await response.json()).toEqual({ requestId: response.headers.get('x-request-id') });
  });

  test('is unique', async () => {
    const port = await serve(() => json({}));
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () =>
        (await fetch(`http://127.0.0.1:${port}/`)).headers.get('x-request-id'),
      ),
    );
    expect(new Set(ids).size).toBe(50);
  });
});

describe('a handler that throws', () => {
  test('results in a 500 that reveals nothing about the error', async () => {
    const port = await serve(() => {
      throw new Error('secret of the database');
    });
    const response = await fetch(`http://127.0.0.1:${port}/`);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toEqual({
      errors: [
        {
          message: expect.any(String),
          extensions: {
            code: 'INTERNAL_SERVER_ERROR',
            requestId: response.headers.get('x-request-id'),
          },
        },
      ],
    });
    expect(text).not.toContain('secret');
  });

  test('results in the status of the code if it throws an ApiError', async () => {
    const port = await serve(async () => fail('UNSUPPORTED_MEDIA_TYPE'));
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(415);
  });

  test('results in a 500, and so do headers that cannot be sent', async () => {
    const port = await serve(() => ({ status: 200, headers: { link: 'a\r\nb' }, body: '' }));
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(500);
  });
});

describe('a body', () => {
  test('of exactly the limit is read, in one piece or in several', async () => {
    const port = await serve(length);
    const body = 'x'.repeat(LIMIT);
    expect(
      await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).json(),
    ).toEqual({ length: LIMIT });
    const chunks = `${'8\r\nxxxxxxxx\r\n'.repeat(LIMIT / 8)}0\r\n\r\n`;
    expect(
      bodyOf(
        await exchange(
          port,
          `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
        ),
      ),
    ).toEqual({ length: LIMIT });
  });

  test('declared above the limit gets 413, and the connection serves the next request', async () => {
    const port = await serve(length);
    const answer = await exchange(
      port,
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${LIMIT + 1}\r\n\r\n${'x'.repeat(LIMIT + 1)}POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok`,
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    expect(answer).toContain('PAYLOAD_TOO_LARGE');
  });

  test('without a length that exceeds the limit gets 413, which the client can read', async () => {
    const port = await serve(length);
    const chunk = `${(30_000).toString(16)}\r\n${'x'.repeat(30_000)}\r\n`;
    const answer = await exchange(
      port,
      `POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(2)}0\r\n\r\n`,
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413']);
    expect(answer).toContain('connection: close');
  });

  test('of more than 1,000 chunks with less than 64 bytes on average gets 413', async () => {
    const port = await serve((request) => request.body(64 * 1024).then(() => json({})));
    const head = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const statusOf = async (chunk: string, count: number) => {
      const socket = await open(port);
      socket.write(`${head}${chunk.repeat(count)}0\r\n\r\n`);
      return /^HTTP\/1.1 (\d+)/.exec(await receiveUntil(socket, '}'))?.[1];
    };
    expect(await statusOf('1\r\nx\r\n', 1_000)).toBe('200');
    expect(await statusOf('1\r\nx\r\n', 1_001)).toBe('413');
    expect(await statusOf(`41\r\n${'x'.repeat(65)}\r\n`, 1_001)).toBe('200');
  });

  test('with a chunk length whose zeros never end gets 413', async () => {
    const port = await serve(length);
    const answer = await exchange(
      port,
      `POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${'0'.repeat(10_000)}`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 [\s\S]+PAYLOAD_TOO_LARGE/);
  });

  test('that never ends is cut off', async () => {
    const port = await serve(length);
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    socket.on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const piece = `${(60_000).toString(16)}\r\n${'x'.repeat(60_000)}\r\n`;
    const flood = () => {
      while (!socket.destroyed && socket.writable && socket.write(piece));
    };
    socket.on('drain', flood);
    flood();
    await new Promise((resolve) => socket.on('close', resolve));
    expect(answer).toContain('413');
  });

  test('that the handler does not read does not delay the next request', async () => {
    const port = await serve(() => json({ read: false }));
    const answer = await exchange(
      port,
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    );
    expect(answer.match(/HTTP\/1.1 200/g)).toHaveLength(2);
  });

  test('that stops early fails for its handler only', async () => {
    const seen = promised<unknown>();
    const port = await serve(async (request) => {
      if (request.method === 'GET') return json({});
      await request.body(LIMIT).catch(seen.resolve);
      return json({});
    });
    const socket = await open(port);
    socket.end('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhe');
    expect(await seen.promise).toMatchObject({ code: 'BAD_REQUEST' });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });
});

describe('Expect: 100-continue', () => {
  const head = (size: number) =>
    `POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${size}\r\n\r\n`;

  test('is answered with 100 if the handler reads the body', async () => {
    const port = await serve(length);
    const socket = await open(port);
    socket.write(head(2));
    expect(await receiveUntil(socket, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('ok');
    expect(await receiveUntil(socket, '}')).toContain('{"length":2}');
  });

  test('is refused without 100 if the handler does not read the body, and the connection ends', async () => {
    const port = await serve(length);
    expect(await exchange(port, head(LIMIT + 1))).toMatch(/^HTTP\/1.1 413 /);
  });

  test('is the only expectation: others are ignored', async () => {
    const port = await serve(length);
    expect(
      await exchange(
        port,
        'POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: wonders\r\ncontent-length: 2\r\n\r\nok',
      ),
    ).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('malformed or unusual HTTP', () => {
  const cases: [string, string, number][] = [
    ['garbage', 'hello\r\n\r\n', 400],
    ['an unknown method', 'BREW / HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['no host', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    [
      'headers that never end',
      `GET / HTTP/1.1\r\nhost: x\r\n${'abcd: efgh\r\n'.repeat(5000)}`,
      431,
    ],
    ['a header of 20 KB', `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`, 431],
    ['a URL of 8,193 bytes', `GET /${'x'.repeat(8_192)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
    [
      'more than 100 headers',
      `POST / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(100)}content-length: 1\r\n\r\n`,
      431,
    ],
    [
      'a chunk length that is not a number',
      'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
    ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
      400,
    ],
    [
      'a length beside chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n', 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ];
  test.each(cases)('%s gets JSON with a request ID', async (_, sent, status) => {
    const port = await serve(length);
    const answer = await exchange(port, sent);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const id = /\r\nx-request-id: (\S+)\r\n/.exec(answer)?.[1];
    expect(bodyOf(answer)).toEqual({
      errors: [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST', requestId: id } }],
    });
  });

  test('garbage after a request is refused when that is answered, and ends that connection only', async () => {
    const finish = promised();
    const port = await serve(async ({ path }) => {
      if (path === '/slow') await finish.promise;
      return json({ path });
    });
    const answer = exchange(port, 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\ngarbage\r\n\r\n');
    finish.resolve();
    expect((await answer).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(
      bodyOf(await exchange(port, 'GET /next HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')),
    ).toEqual({ path: '/next' });
  });

  test('CONNECT gets 405, and its connection ends', async () => {
    const port = await serve(() => json({}));
    const answer = await exchange(
      port,
      'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 405 [\s\S]+\r\nallow: \r\n/);
    expect(bodyOf(answer)).toMatchObject({
      errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }],
    });
  });

  test('an upgrade is answered like any other request', async () => {
    const port = await serve(length);
    const answer = await exchange(
      port,
      'POST / HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: h2c\r\ncontent-length: 2\r\n\r\nok',
    );
    expect(bodyOf(answer)).toEqual({ length: 2 });
  });

  test('HEAD gets only headers', async () => {
    const port = await serve(() => json({ long: true }));
    const answer = await exchange(port, 'HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(answer).toContain('content-length: 13\r\n');
    expect(answer).toMatch(/\r\n\r\n$/);
  });
});

describe('a response in pieces', () => {
  test('reaches the client piece by piece', async () => {
    const next = promised();
    const port = await serve(() => ({
      status: 200,
      headers: {},
      body: async (write) => {
        write('first');
        await next.promise;
        write('second');
      },
    }));
    const socket = await open(port);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await receiveUntil(socket, 'first')).toMatch(/transfer-encoding: chunked/i);
    next.resolve();
    expect(await receiveUntil(socket, '0\r\n\r\n')).toContain('second');
  });

  test('that fails half-way ends the connection', async () => {
    const port = await serve(() => ({
      status: 200,
      headers: {},
      body: async (write) => {
        write('first');
        throw new Error('half-way');
      },
    }));
    await expect(
      fetch(`http://127.0.0.1:${port}/`).then((response) => response.text()),
    ).rejects.toThrow();
  });
});

test('responses that are ready in the same tick are all sent, even if a client is gone', async () => {
  const { promise: allArrived, resolve } = promised();
  const { promise: released, resolve: release } = promised();
  let requests = 0;
  const port = await serve(async ({ path }) => {
    if (++requests === 3) resolve();
    await released;
    return json({ path });
  });
  const gone = await open(port);
  gone.write('GET /gone HTTP/1.1\r\nhost: x\r\n\r\n');
  const others = ['/a', '/b'].map((path) => fetch(`http://127.0.0.1:${port}${path}`));
  await allArrived;
  gone.resetAndDestroy();
  release();
  expect(await Promise.all(others.map(async (response) => (await response).json()))).toEqual([
    { path: '/a' },
    { path: '/b' },
  ]);
});

test('the signal aborts if the client goes away, but not after the response', async () => {
  const signals: AbortSignal[] = [];
  const began = promised();
  const port = await serve(({ path, signal }) => {
    signals.push(signal);
    if (path === '/quick') return json({});
    began.resolve();
    return new Promise(() => {});
  });
  await (await fetch(`http://127.0.0.1:${port}/quick`)).text();
  const socket = await open(port);
  socket.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
  await began.promise;
  const aborted = new Promise((resolve) => signals[1]?.addEventListener('abort', resolve));
  socket.destroy();
  await aborted;
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
});

test('a request whose client is gone keeps its place until it is handled', async () => {
  const [allBegan, allGone, released] = [promised(), promised(), promised()];
  let [begun, gone] = [0, 0];
  const port = await serve(async (request) => {
    await request.admit(undefined);
    if (request.path === '/next') return json({});
    request.signal.addEventListener('abort', () => ++gone === 500 && allGone.resolve());
    if (++begun === 500) allBegan.resolve();
    await released.promise;
    return json({});
  });
  const next = async () => (await fetch(`http://127.0.0.1:${port}/next`)).status;
  const sockets = await Promise.all(Array.from({ length: 500 }, () => open(port)));
  for (const socket of sockets) socket.write('POST /form HTTP/1.1\r\nhost: x\r\n\r\n');
  await allBegan.promise;
  for (const socket of sockets) socket.destroy();
  await allGone.promise;
  expect(await next()).toBe(503);
  released.resolve();
  await released.promise;
  expect(await next()).toBe(200);
});

test('x-forwarded-for is trusted from a trusted proxy only', async () => {
  const handle = ({ address }: HttpRequest) => json({ address });
  const headers = { 'x-forwarded-for': '203.0.113.7, 198.51.100.1' };
  const call = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}/`, { headers })).json();
  expect(await call(await serve(handle))).toEqual({ address: '127.0.0.1' });
  expect(await call(await serve(handle, ['127.0.0.0/8']))).toEqual({ address: '198.51.100.1' });
});

test('a line a minute at most says that x-forwarded-for is ignored', async () => {
  const lines: object[] = [];
  const server = await serveHttp({
    port: 0,
    host: '127.0.0.1',
    handle: ({ address }) => json({ address }),
    trustedProxies: ['192.0.2.1/32'],
    log: { ...log, warn: (fields, message) => void lines.push({ ...fields, message }) },
  });
  servers.push(server);
  const url = `http://127.0.0.1:${server.port}/`;
  await fetch(url);
  expect(lines).toEqual([]);
  for (let n = 0; n < 2; n += 1)
    await fetch(url, { headers: { 'x-forwarded-for': '203.0.113.7' } });
  expect(lines).toEqual([
    {
      clientAddress: '127.0.0.0/24',
      message: 'x-forwarded-for is ignored: TRUSTED_PROXIES does not have its sender',
    },
  ]);
});

describe('a drain', () => {
  test('answers running requests with `connection: close`, and accepts no new connections', async () => {
    const [began, finish] = [promised(), promised()];
    const port = await serve(async () => {
      began.resolve();
      await finish.promise;
      return json({ finished: true });
    });
    const socket = await open(port);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await began.promise;
    const drained = servers[0]?.drain();
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    finish.resolve();
    const answer = await receiveUntil(socket, '}');
    expect(answer).toContain('{"finished":true}');
    expect(answer).toContain('connection: close');
    await drained;
  });

  test('does not wait for unused connections, but answers a request that is on its way', async () => {
    const port = await serve(() => json({ finished: true }));
    await open(port);
    const [begun, used] = [await open(port), await open(port)];
    begun.write('GET / HTTP/1.1\r\n');
    used.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await receiveUntil(used, '}');
    const drained = servers[0]?.drain();
    begun.write('host: x\r\n\r\n');
    expect(await receiveUntil(begun, '}')).toContain('{"finished":true}');
    await drained;
  });

  // Less than the 10 seconds that a drain lasts at most.
  const SOON_MS = 9_000;
  const LARGE = { finished: true, filling: 'x'.repeat(16 * 1024 * 1024) };

  test.each([
    ['small', { finished: true }],
    ['large', LARGE],
  ])(
    'that begins when a %s response is about to be written sends all of it and ends its connection',
    async (_, body) => {
      let drained: Promise<void> | undefined;
      const drain = () => {
        drained = servers[0]?.drain();
      };
      const port = await serve(() => {
        // After everything that follows from the handler, and before the tick ends.
        queueMicrotask(() => process.nextTick(drain));
        return json(body);
      });
      const socket = await open(port);
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      let length = 0;
      socket.on('data', (piece) => {
        length += piece.length;
      });
      await new Promise((resolve) => socket.once('end', resolve));
      expect(length).toBeGreaterThan(JSON.stringify(body).length);
      socket.end();
      await drained;
    },
    SOON_MS,
  );

  test(
    'ends a connection whose response had begun',
    async () => {
      const finish = promised();
      const port = await serve(() => ({
        status: 200,
        headers: {},
        body: async (write) => {
          write('first');
          await finish.promise;
        },
      }));
      const socket = await open(port);
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await receiveUntil(socket, 'first');
      const drained = servers[0]?.drain();
      finish.resolve();
      await drained;
    },
    SOON_MS,
  );
});

test('rejects if the port is taken', async () => {
  const port = await serve(() => json({}));
  await expect(
    serveHttp({ port, host: '127.0.0.1', handle: () => json({}), trustedProxies: [], log }),
  ).rejects.toThrow('EADDRINUSE');
});

async function serve(
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  trustedProxies: string[] = [],
  limits?: ConnectionLimits,
): Promise<number> {
  const server = await serveHttp({
    port: 0,
    host: '127.0.0.1',
    handle,
    trustedProxies,
    ...(limits && { limits }),
    log,
  });
  servers.push(server);
  return server.port;
}

function json(value: unknown): HttpResponse {
  return { status: 200, headers: {}, body: JSON.stringify(value) };
}

async function length(request: HttpRequest): Promise<HttpResponse> {
  return json({ length: (await request.body(LIMIT)).length });
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

/** Sends text and returns everything that the server sends until it closes the connection. */
async function exchange(port: number, sent: string): Promise<string> {
  const socket = await open(port);
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.write(sent, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve).once('end', () => socket.end()));
  return answer;
}

/** Everything that the server sends, up to the text `until`. */
async function receiveUntil(socket: Socket, until: string): Promise<string> {
  let answer = '';
  while (!answer.includes(until))
    answer += await new Promise<string>((resolve) =>
      socket.once('data', (text) => resolve(String(text))),
    );
  return answer;
}

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

/** A promise and the function that resolves it. */
function promised<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
