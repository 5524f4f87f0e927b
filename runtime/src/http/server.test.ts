// The HTTP server over real sockets: its responses, hostile HTTP, and its connections.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../../../test/support/until.ts';
import { fail } from '../errors.ts';
import { createLog } from '../observe/log.ts';
import type { ConnectionLimits } from './connections.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';
import { type HttpServer, serveHttp } from './server.ts';
import { SIGNER } from './shares.ts';

const log = createLog('silent');
const servers: HttpServer[] = [];
const clients: Socket[] = [];
const LIMIT = 1024;

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
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

test.each([204, 304])('a response with %i has neither a type nor a length', async (status) => {
  const port = await serve(() => ({ status, headers: { etag: '"a"' }, body: '' }));
  const { headers } = await fetch(`http://127.0.0.1:${port}/`);
  expect([headers.get('etag'), headers.has('content-type'), headers.has('content-length')]).toEqual(
    ['"a"', false, false],
  );
});

test.each([
  ['PUT /a/b?c=d?e', { method: 'PUT', path: '/a/b', search: '?c=d?e' }],
  ['GET http://other.example/a?b', { method: 'GET', path: '/a', search: '?b' }],
  ['GET http://other.example', { method: 'GET', path: '/', search: '' }],
  ['GET http://other.example?a=/b', { method: 'GET', path: '/', search: '?a=/b' }],
  ['OPTIONS *', { method: 'OPTIONS', path: '*', search: '' }],
])('the handler receives method, path and query of %s separately', async (line, received) => {
  const port = await serve(({ method, path, search }) => json({ method, path, search }));
  const sent = `${line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
  expect(bodyOf(await exchange(port, sent))).toEqual(received);
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
});

test('a handler that throws results in the status of the code, or in a 500 that reveals nothing', async () => {
  const port = await serve(({ path }) => {
    if (path === '/headers') return { status: 200, headers: { link: 'a\r\nb' }, body: '' };
    return path === '/code' ? fail('UNSUPPORTED_MEDIA_TYPE') : Promise.reject(new Error('secret'));
  });
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  expect([(await ask('/code')).status, (await ask('/headers')).status]).toEqual([415, 500]);
  const response = await ask('/');
  const requestId = response.headers.get('x-request-id');
  const extensions = { code: 'INTERNAL_SERVER_ERROR', requestId };
  expect([response.status, await response.json()]).toEqual([
    500,
    { errors: [{ message: expect.not.stringContaining('secret'), extensions }] },
  ]);
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

test('x-forwarded-for is trusted from a trusted proxy only; else a line a minute says so', async () => {
  const lines: object[] = [];
  const warn = (fields: object) => void lines.push(fields);
  const handle = ({ address }: HttpRequest) => json({ address });
  const headers = { 'x-forwarded-for': '203.0.113.7, 198.51.100.1' };
  const ask = async (trustedProxies: string[]) => {
    const port = await serve(handle, { trustedProxies, log: { ...log, warn } });
    await fetch(`http://127.0.0.1:${port}/`);
    const call = async () => (await fetch(`http://127.0.0.1:${port}/`, { headers })).json();
    return [await call(), await call()];
  };
  expect(await ask(['127.0.0.0/8'])).toEqual(Array(2).fill({ address: '198.51.100.1' }));
  expect(lines).toEqual([]);
  expect(await ask(['192.0.2.1/32'])).toEqual(Array(2).fill({ address: '127.0.0.1' }));
  expect(lines).toEqual([{ clientAddress: '127.0.0.0/24' }]);
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

/** Shows a credential if the request names an owner. */
const ownerIn = ({ headers }: HttpRequest) => headers['x-api-key']?.toString();

const OK: HttpResponse = { status: 200, headers: {}, body: '{}' };
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const CHUNKED = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
const post = (body: string, headers = '') =>
  `POST / HTTP/1.1\r\nhost: x\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
const responses = ({ received }: Client) => received.match(/HTTP\/1\.1 \d+/g)?.length ?? 0;

describe('requests of one connection', () => {
  test('are handled one after the other', async () => {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const port = await serve(async ({ path, body }) => {
      running += 1;
      most = Math.max(most, running);
      order.push(path);
      await new Promise(setImmediate);
      void body;
      running -= 1;
      return OK;
    });
    const client = await open(port);
    const all = Array.from({ length: 16 }, (_, n) => `/${n}`);
    client.write(all.map((path) => GET.replace('/', path)).join(''));
    await until(() => responses(client) === 16);
    expect([most, order]).toEqual([1, all]);
    expect(client.received).not.toContain('connection: close');
    // Later requests are answered as well.
    client.write(GET);
    await until(() => responses(client) === 17);
  });

  test.each([
    [17, GET],
    [3_000, GET],
    [3_000, 'GET / HTTP/1.1\r\n\r\n'],
  ])('of which %i come at once are answered up to the 16th (%j)', async (count, get) => {
    const order: string[] = [];
    const port = await serve(({ path }) => {
      order.push(path);
      return { ...OK, body: path };
    });
    const client = await open(port);
    const all = Array.from({ length: count }, (_, n) => `/${n}`);
    client.write(all.map((path) => get.replace('/', path)).join(''));
    await once(client, 'close');
    const [, ...answers] = client.received.split('HTTP/1.1 ');
    expect(answers.map((text) => text.includes('connection: close'))).toEqual([
      ...Array(15).fill(false),
      true,
    ]);
    expect(order).toEqual(get === GET ? all.slice(0, 16) : []);
  });

  test('of which thousands come at once are not parsed before they are served', async () => {
    const finish: (() => void)[] = [];
    let begun = 0;
    const port = await serve(async () => {
      begun += 1;
      await new Promise<void>((resolve) => finish.push(resolve));
      return OK;
    });
    const client = await open(port);
    client.write('GET / HTTP/1.0\r\n\r\n'.repeat(3_000));
    await until(() => begun === 1);
    // Another connection is served meanwhile.
    const other = await open(port);
    other.write(GET);
    await until(() => begun === 2);
    expect(begun).toBe(2);
    for (const each of finish) each();
    await until(() => responses(other) === 1);
  });

  test.each([
    ['with a length', post('hello')],
    ['in chunks', `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`],
    ['after empty lines', `\r\n\r\n\r\n\r\n${post('hello')}`],
  ])('%s are told apart wherever they are cut', async (_, text) => {
    const port = await serve(async (request) => ({
      ...OK,
      body: (await request.body(100)).toString(),
    }));
    const both = text + post('world');
    for (let at = 1; at < both.length; at += 7) {
      const client = await open(port);
      client.setNoDelay(true);
      client.write(both.slice(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      client.write(both.slice(at));
      await until(() => responses(client) === 2 && client.received.endsWith('world'));
      expect(client.received).toContain('hello');
      client.destroy();
    }
  });

  test('are told apart behind a chunked body, wherever the head of the next one ends', async () => {
    const port = await serve(async (request) => ({
      ...OK,
      body: request.path + (await request.body(1_000)).toString(),
    }));
    for (let length = 130; length < 200; length += 1) {
      const client = await open(port);
      const named = GET.replace('host: x', `host: ${'x'.repeat(length)}`);
      client.write(`${CHUNKED}5\r\nhello\r\n0\r\n\r\n`);
      client.write(named + GET.replace('/', '/last'));
      await until(() => client.received.endsWith('/last'));
      expect(responses(client)).toBe(3);
      client.destroy();
    }
  });

  test('are told apart if their heads end in a read of its own', async () => {
    const port = await serve(async (request) => ({
      ...OK,
      body: (await request.body(100)).toString(),
    }));
    const first = post('GET / HTTP/1.1 and more');
    const head = first.indexOf('\r\n\r\n') + 3;
    const client = await open(port);
    client.setNoDelay(true);
    for (const part of [first.slice(0, head), first.slice(head, head + 15)]) {
      client.write(part);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    client.write(first.slice(head + 15) + GET);
    await until(() => responses(client) === 2);
    expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  test('behind one whose response ends the connection get none', async () => {
    let begun = 0;
    const port = await serve(() => {
      begun += 1;
      return { ...OK, status: 429, closes: true };
    });
    const client = await open(port);
    client.write(post('x'.repeat(1_000)).slice(0, -500));
    await until(() => responses(client) === 1);
    client.write(GET.repeat(100));
    await once(client, 'close');
    expect([responses(client), begun]).toEqual([1, 1]);
    expect(client.received).toContain('connection: close');
  });

  test("of a trusted proxy go on after a response that would end another's connection", async () => {
    const port = await serve(() => ({ ...OK, status: 429, closes: true }), {
      trustedProxies: ['127.0.0.1/32'],
    });
    const client = await open(port);
    client.write(GET.repeat(3));
    await until(() => responses(client) === 3);
    expect(client.received).not.toContain('connection: close');
  });
});

describe('a new connection', () => {
  const handle = async (request: HttpRequest) => {
    await request.admit(ownerIn(request));
    return OK;
  };
  const shows = async (client: Client) => {
    const before = responses(client);
    client.write('GET / HTTP/1.1\r\nhost: x\r\nx-api-key: partner\r\n\r\n');
    await until(() => responses(client) > before);
  };
  const sends = async (client: Client) => {
    client.write(GET);
    await until(() => responses(client) > 0);
  };
  const isClosed = (client: Client) => until(() => client.destroyed);
  const [FLOOD, GUEST, PARTNER] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

  test('takes the place of the one of its address that is idle longest without a credential', async () => {
    const port = await serve(handle, {
      limits: { maxConnections: 10, maxConnectionsPerAddress: 3 },
    });
    const known = await open(port, PARTNER);
    await shows(known);
    const first = await open(port, PARTNER);
    const second = await open(port, PARTNER);
    await sends(first);
    const third = await open(port, PARTNER);
    await isClosed(second);
    expect([known, first, third].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  });

  test('takes no place of another if one of its address has ended', async () => {
    const port = await serve(handle, {
      limits: { maxConnections: 10, maxConnectionsPerAddress: 3 },
    });
    const ends = await open(port, PARTNER);
    const stay = [await open(port, PARTNER), await open(port, PARTNER)];
    ends.destroy();
    // When this is answered, the server has seen the end of the other one.
    for (const client of stay) await sends(client);
    stay.push(await open(port, PARTNER));
    for (const client of stay.slice(2)) await sends(client);
    expect(stay.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
    await open(port, PARTNER);
    await isClosed(stay[0] as Client);
  });

  test('is closed if all of its address have shown one', async () => {
    const port = await serve(handle, {
      limits: { maxConnections: 10, maxConnectionsPerAddress: 2 },
    });
    const [one, two] = [await open(port, PARTNER), await open(port, PARTNER)];
    await shows(one);
    await shows(two);
    await isClosed(await open(port, PARTNER));
    expect([one.destroyed, two.destroyed]).toEqual([false, false]);
  });

  test('takes the place of one of the address with most, if the process is full', async () => {
    const port = await serve(handle, {
      limits: { maxConnections: 5, maxConnectionsPerAddress: 4 },
    });
    const guest = await open(port, GUEST);
    const flood: Client[] = [];
    for (let n = 0; n < 4; n += 1) flood.push(await open(port, FLOOD));
    const partner = await open(port, PARTNER);
    await shows(partner);
    await until(() => flood[0]?.destroyed === true);
    expect([guest, ...flood.slice(1)].every(({ destroyed }) => !destroyed)).toBe(true);
  });

  test('of an address with few takes the place of an idle one of the caller with most', async () => {
    const port = await serve(handle, {
      limits: { maxConnections: 4, maxConnectionsPerAddress: 4 },
    });
    const many: Client[] = [];
    for (let n = 0; n < 4; n += 1) {
      many.push(await open(port, FLOOD));
      await shows(many[n] as Client);
    }
    await shows(many[0] as Client);
    const partner = await open(port, PARTNER);
    await isClosed(many[1] as Client);
    await shows(partner);
    // Its address has its share now.
    await isClosed(await open(port, FLOOD));
  });

  test('never ends a request that has a credential', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let running = 0;
    const port = await serve(
      async (request) => {
        await request.admit(ownerIn(request));
        running += 1;
        await finished;
        return OK;
      },
      { limits: { maxConnections: 2, maxConnectionsPerAddress: 2 } },
    );
    const busy = [await open(port, FLOOD), await open(port, FLOOD)];
    for (const client of busy) client.write('GET / HTTP/1.1\r\nhost: x\r\nx-api-key: a\r\n\r\n');
    await until(() => running === 2);
    await isClosed(await open(port, PARTNER));
    finish();
    for (const client of busy) await until(() => responses(client) === 1);
  });

  test("finds trusted proxies' connections closed last", async () => {
    const port = await serve(handle, {
      limits: { maxConnections: 3, maxConnectionsPerAddress: 1 },
      trustedProxies: ['127.0.0.4/32'],
    });
    const proxies = [await open(port, PARTNER), await open(port, PARTNER)];
    const guest = await open(port, GUEST);
    const other = await open(port, FLOOD);
    await isClosed(guest);
    expect([...proxies, other].every(({ destroyed }) => !destroyed)).toBe(true);
  });
});

test("half-sent bodies of a gateway's connections have no share", async () => {
  const port = await serve(async (request) => {
    await request.body(1_000_000);
    await request.admit(SIGNER);
    return OK;
  });
  const body = post('x'.repeat(1_000_000));
  const clients: Client[] = [];
  for (let n = 0; n < 20; n += 1) {
    const client = await open(port);
    clients.push(client);
    client.write(post('signed'));
    await until(() => responses(client) === 1);
    client.write(body.slice(0, -1));
  }
  for (const client of clients) client.write('x');
  await until(() => clients.every((client) => responses(client) === 2));
});

describe('half-sent bodies', () => {
  const limits = { maxConnections: 600, maxConnectionsPerAddress: 600 };
  const withBodies = () =>
    serve(
      async (request) => {
        await request.body(1_000_000);
        return OK;
      },
      { limits },
    );
  const half = post('x'.repeat(1_000_000)).slice(0, -1);

  async function openHalf(port: number, count: number, address: string): Promise<Client[]> {
    const clients = await Promise.all(Array.from({ length: count }, () => open(port, address)));
    for (const client of clients) client.write(half);
    return clients;
  }

  test('of one address take at most 16 MiB', async () => {
    const port = await withBodies();
    const clients = await openHalf(port, 20, '127.0.0.9');
    const other = await open(port);
    other.write(post('whole'));
    await until(() => responses(other) === 1);
    await until(() => clients.filter(({ destroyed }) => destroyed).length >= 3);
  });

  test('that wait behind a response do not end the connections of an address', async () => {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const port = await serve(
      async (request) => {
        await (request.method === 'GET' ? answered : request.body(1_000_000));
        return OK;
      },
      { limits },
    );
    // They have 18 MB, more than one address may have half-sent.
    const clients = await Promise.all(Array.from({ length: 300 }, () => open(port, '127.0.0.9')));
    for (const client of clients) client.write(GET + post('x'.repeat(60_000)));
    const other = await open(port);
    other.write(post('whole'));
    await until(() => responses(other) === 1);
    answer();
    await until(() => clients.every((client) => responses(client) === 2));
  });
});

type Options = { limits?: ConnectionLimits; trustedProxies?: string[]; log?: typeof log };

async function serve(
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  options: Options = {},
): Promise<number> {
  const at = { port: 0, host: '127.0.0.1', trustedProxies: [] };
  const server = await serveHttp({ ...at, handle, log, ...options });
  servers.push(server);
  return server.port;
}

type Client = Socket & { received: string };

async function open(port: number, localAddress = '127.0.0.1'): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  const client = Object.assign(socket.setEncoding('latin1'), { received: '' });
  client
    .on('error', () => {})
    .on('data', (text: string) => {
      client.received += text;
    });
  clients.push(client);
  await once(client, 'connect');
  return client;
}

function json(value: unknown): HttpResponse {
  return { status: 200, headers: {}, body: JSON.stringify(value) };
}

async function length(request: HttpRequest): Promise<HttpResponse> {
  return json({ length: (await request.body(LIMIT)).length });
}

/** Sends text and returns everything that the server sends until it closes the connection. */
async function exchange(port: number, sent: string): Promise<string> {
  const client = await open(port);
  client.write(sent, 'latin1');
  await new Promise((resolve) => client.once('close', resolve).once('end', () => client.end()));
  return client.received;
}

/** Everything that the server has sent, once it has sent `text`. */
async function receiveUntil(client: Client, text: string): Promise<string> {
  await until(() => client.received.includes(text));
  return client.received;
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
