// Connections to real servers, which frame their responses in each way of HTTP/1.1, or wrongly.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { keepsCaller } from '../../../test/support/keepscaller.ts';
import { until } from '../../../test/support/until.ts';
import { createPool } from './pool.ts';

type Seen = { status: number; type: string | undefined; body: string; end: 'end' | 'error' };
type Answer = (socket: Socket, request: string) => void;

const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers each request that it gets, and how many connections it has had. */
async function serve(answer: Answer, size = 32, mostBytes = 1_000_000) {
  const seen = { connections: 0 };
  const server = createServer((socket) => {
    seen.connections += 1;
    sockets.add(socket);
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('data', (text) => answer(socket, String(text)));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // Cast: it listens on a port.
  const pool = createPool(new URL(`http://127.0.0.1:${port}`), size, mostBytes);
  const post = (body = '{}', onStart = (_abort: () => void) => {}, onData = () => {}) =>
    new Promise<Seen>((resolve) => {
      const result: Seen = { status: 0, type: undefined, body: '', end: 'end' };
      pool.post('/graphql', { 'x-request-id': 'r' }, body, {
        onRequestStart: ({ abort }) => onStart(() => abort(new Error('enough'))),
        onResponseStart(_, status, headers) {
          result.status = status;
          result.type = headers['content-type'];
        },
        onResponseData(_, chunk) {
          result.body += chunk;
          onData();
        },
        onResponseEnd: () => resolve(result),
        onResponseError: () => resolve({ ...result, end: 'error' }),
      });
    });
  return { pool, post, seen };
}

const raw =
  (text: string): Answer =>
  (socket) =>
    void socket.write(text);
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ncontent-length: 2\r\n\r\nhi';
const HI: Seen = { status: 200, type: 'a/b', body: 'hi', end: 'end' };

test('a request has its headers and its length in bytes, and connections are used again', async () => {
  const requests: string[] = [];
  const { post, seen } = await serve((socket, text) => {
    requests.push(text);
    socket.write(OK);
  });
  expect(await post('{"é":1}')).toEqual(HI);
  expect(await post()).toEqual(HI);
  expect(requests[0]).toMatch(
    /^POST \/graphql HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nx-request-id: r\r\ncontent-length: 8\r\n\r\n{"é":1}$/,
  );
  expect(seen.connections).toBe(1);
});

const CHUNKED = 'HTTP/1.1 200 OK\r\nContent-Type:a/b \r\nTransfer-Encoding: Chunked\r\n\r\n';

test.each([
  ['with a length', OK],
  ['behind interim responses', `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}`],
  ['in chunks', `${CHUNKED}1\r\nh\r\n1;name=value\r\ni\r\n0\r\n\r\n`],
  ['in chunks with trailers', `${CHUNKED}02 \r\nhi\r\n0\r\na: b\r\nc: d\r\n\r\n`],
])('a response %s may arrive byte by byte', async (_, text) => {
  const { post, seen } = await serve(async (socket) => {
    for (const byte of text) {
      socket.write(byte);
      await new Promise(setImmediate);
    }
  });
  expect(await post()).toEqual(HI);
  expect(await post()).toEqual(HI);
  expect(seen.connections).toBe(1);
});

test.each([
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-type: a/b\r\ncontent-length: 2\r\n\r\nhi'],
  ['close', OK.replace('\r\n', '\r\nConnection: Close\r\n')],
  ['close in a list', OK.replace('\r\n', '\r\nConnection: x, close\r\n')],
  ['more bytes than its length', `${OK}${OK}`],
])('a connection whose response has %s is not used again', async (_, text) => {
  const { post, seen } = await serve(raw(text));
  expect([await post(), await post()]).toEqual([HI, HI]);
  expect(seen.connections).toBe(2);
});

test('a response without a length ends with its connection', async () => {
  const { post } = await serve((socket) =>
    socket.end('HTTP/1.1 200\r\ncontent-type: a/b\r\n\r\nhi'),
  );
  expect(await post()).toEqual(HI);
});

test.each([
  ['nothing', ''],
  ['another protocol', 'SSH-2.0-x\r\n\r\n'],
  ['a head that is too long', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nhi'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nhi'],
  ['one length after another', OK.replace('content-length', 'content-length: 1\r\ncontent-length')],
  ['a space before a colon', OK.replace('content-length', 'content-length ')],
  ['a response to another request', OK.replace('\r\n', '\r\nx-request-id: s\r\n')],
  ['a length and chunks', OK.replace('\r\n', '\r\ntransfer-encoding: chunked\r\n')],
  ['a chunk without a size', `${CHUNKED}x\r\nhi\r\n0\r\n\r\n`],
  ['a chunk that is longer than its size', `${CHUNKED}1\r\nhi\r\n0\r\n\r\n`],
  ['a body that is cut off', OK.slice(0, -1)],
])('%s is an error', async (_, text) => {
  const { post } = await serve((socket) => socket.end(text));
  expect((await post()).end).toBe('error');
});

test.each([
  ['trailers', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', 'a: b\r\n'],
  ['interim responses', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
])(
  '%s without end end the connection, and each response may have as many bytes',
  async (_, head, part) => {
    let requests = 0;
    const answer: Answer = (socket) => {
      requests += 1;
      if (requests <= 2) socket.write(`${part.startsWith('H') ? part.repeat(1_500) : ''}${OK}`);
      else socket.write(head + part.repeat(20_000));
    };
    const { post, seen } = await serve(answer, 1, 64_000);
    expect([await post(), await post(), (await post()).end]).toEqual([HI, HI, 'error']);
    expect(seen.connections).toBe(1);
  },
);

test('what comes without a request ends the connection', async () => {
  const { post, seen } = await serve((socket) => {
    socket.write(OK);
    setImmediate(() => socket.write(OK));
  });
  expect(await post()).toEqual(HI);
  await until(() => [...sockets].every(({ destroyed }) => destroyed));
  expect(await post()).toEqual(HI);
  expect(seen.connections).toBe(2);
});

test('a connection that the server has ended is not used again', async () => {
  const { post, seen } = await serve((socket) => void socket.end(OK));
  for (const connections of [1, 2, 3]) {
    expect(await post()).toEqual(HI);
    expect(seen.connections).toBe(connections);
    await until(() => [...sockets].every(({ closed }) => closed));
  }
});

test('a connection that was given up with the last byte of its response takes no other request', async () => {
  const { post, seen } = await serve(raw(OK), 1);
  let abort = () => {};
  const start = (given: () => void) => {
    abort = given;
  };
  const all = [post('1', start, () => abort()), post('2')];
  expect(await Promise.all(all)).toEqual([HI, HI]);
  expect(seen.connections).toBe(2);
});

test('requests wait while all connections are in use, in their order, and one that was aborted frees its own', async () => {
  const held: Socket[] = [];
  const bodies: string[] = [];
  const { post, seen } = await serve((socket, text) => {
    bodies.push(text.split('\r\n\r\n')[1] ?? '');
    held.push(socket);
  }, 2);
  const aborts: (() => void)[] = [];
  const all = ['1', '2', '3', '4'].map((body) => post(body, (abort) => void aborts.push(abort)));
  await until(() => held.length === 2);
  expect(aborts).toHaveLength(2);
  aborts[0]?.();
  expect((await all[0])?.end).toBe('error');
  await until(() => held.length === 3);
  held[1]?.write(OK);
  await until(() => held.length === 4);
  for (const socket of held.slice(2)) socket.write(OK);
  expect(await Promise.all(all.slice(1))).toEqual([HI, HI, HI]);
  expect(bodies).toEqual(['1', '2', '3', '4']);
  expect(seen.connections).toBe(3);
});

test('one that is aborted when it gets a connection is not sent, and the connection goes on', async () => {
  const { post, seen } = await serve(raw(OK), 1);
  const late = () => post('{}', (abort) => abort());
  const all = [post(), late(), late(), post(), late()];
  expect((await Promise.all(all)).map(({ end }) => end)).toEqual([
    'end',
    'error',
    'error',
    'end',
    'error',
  ]);
  expect(await post()).toEqual(HI);
  expect(seen.connections).toBe(1);
});

test.each(['r\r\nx: y', 'r\u{10d}\u{10a}x: y'])(
  'a request with the header %j is not sent',
  async (id) => {
    const { pool } = await serve(raw(OK));
    const end = await new Promise((resolve) => {
      const nothing = () => resolve('sent');
      pool.post('/graphql', { 'x-request-id': id }, '{}', {
        onRequestStart: nothing,
        onResponseStart: nothing,
        onResponseData: nothing,
        onResponseEnd: nothing,
        onResponseError: () => resolve('error'),
      });
    });
    expect(end).toBe('error');
  },
);

test('a closed pool ends what has begun, and takes nothing more', async () => {
  const held: Socket[] = [];
  const { pool, post } = await serve((socket) => void held.push(socket));
  const running = post();
  await until(() => held.length === 1);
  pool.close();
  expect((await post()).end).toBe('error');
  held[0]?.write(OK);
  expect(await running).toEqual(HI);
  await until(() => held[0]?.destroyed);
});

test('a connection does not keep its caller, such as the connection before it', async () => {
  const { post } = await serve(raw(OK));
  expect(await keepsCaller(() => post())).toBe(false);
  expect([...sockets].map((socket) => socket.destroyed)).toEqual([false]);
});
