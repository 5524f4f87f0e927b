// Requests as bytes on a socket: broken, in tiny pieces, in a row, half-closed, slow both ways.
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { Fuzzer } from './main.ts';
import type { Target } from './target.ts';
import { runCases } from './target.ts';

const BODY = JSON.stringify({
  query: '{ __typename memberByEmail(email: "beta.only@example.com") { memberId } }',
});

const chunked = (body: string, size: number) => {
  const pieces = body.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;
};

const headers = fc.oneof(
  fc.constantFrom(
    '',
    'expect: 100-continue\r\n',
    'connection: close\r\n',
    'upgrade: h2c\r\nconnection: upgrade\r\n',
    'content-encoding: gzip\r\ncontent-length: 1\r\n',
    'transfer-encoding: gzip, chunked\r\n',
    'accept: */*;q=2, text/html;q=\r\nx-request-id: \x00\r\n',
    'no colon\r\n: empty\r\nx: a\r\n folded\r\n',
    `x: ${'y'.repeat(70_000)}\r\n`,
    'x: y\r\n'.repeat(3_000),
    `authorization: Bearer ${'a.'.repeat(4_000)}\r\n`,
  ),
  fc.string({ maxLength: 200, unit: 'binary' }),
);
const lines = fc.constantFrom(
  'POST /graphql HTTP/1.1',
  'POST /graphql HTTP/1.0',
  'POST http://x/graphql HTTP/9.9',
  'GET /graphql HTTP/1.1',
  `GET /${'a'.repeat(9_000)} HTTP/1.1`,
  'OPTIONS * HTTP/1.1',
  'CONNECT x:1 HTTP/1.1',
  'PRI * HTTP/2.0',
  'POST /%00/../graphql HTTP/1.1',
  'HEAD /sign-in?token=%zz HTTP/1.1',
  '\x16\x03\x01',
);
const bodies = fc.oneof(
  fc.constant({ head: `content-length: ${BODY.length}`, body: BODY }),
  fc
    .constantFrom(1, 7, 100)
    .map((size) => ({ head: 'transfer-encoding: chunked', body: chunked(BODY, size) })),
  fc
    .constantFrom('ffffffffffffffff\r\n', '-1\r\n', '1;x=y\r\n', 'zz\r\n', '5\r\nab')
    .map((body) => ({ head: 'transfer-encoding: chunked', body })),
  fc.constant({ head: 'content-length: 99999999', body: ' '.repeat(100_000) }),
  fc.constant({ head: 'transfer-encoding: chunked', body: '1\r\n \r\n'.repeat(40_000) }),
);
const connections = fc.record({
  requests: fc.array(
    fc.record({ line: lines, extra: headers, body: bodies, hasKey: fc.boolean() }),
    { minLength: 1, maxLength: 4 },
  ),
  /** How many bytes of the beginning go out one by one. */
  slowBytes: fc.constantFrom(0, 0, 40, 200),
  cutAt: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  halfCloses: fc.boolean(),
  reads: fc.boolean(),
});

type Connection = typeof connections extends fc.Arbitrary<infer T> ? T : never;

/** How long a connection may stay open when nothing more comes. */
const PATIENCE_MS = 150;

export const fuzzHttp: Fuzzer = (target, run) =>
  runCases(target, fc.array(connections, { minLength: 1, maxLength: 6 }), run, async (each) => {
    await Promise.all(each.map((connection) => talk(target, connection)));
  });

async function talk(target: Target, connection: Connection): Promise<void> {
  const { url } = target.service.stack.gateway;
  const text = bytesOf(connection, target.service.keys.alpha);
  const { hostname, port } = new URL(url);
  // Another address than the well-behaved caller's.
  const socket = connect({
    host: hostname,
    port: Number(port),
    localAddress: '127.0.0.3',
    allowHalfOpen: true,
  });
  const received: Buffer[] = [];
  socket.on('error', () => {});
  socket.setNoDelay(true);
  if (connection.reads) socket.on('data', (piece: Buffer) => void received.push(piece));
  for (const byte of text.subarray(0, connection.slowBytes)) {
    socket.write(Uint8Array.of(byte));
    if (byte === 10) await setTimeout(1);
  }
  socket.write(text.subarray(connection.slowBytes));
  if (connection.halfCloses) socket.end();
  await Promise.race([
    new Promise((resolve) => socket.once('close', resolve)),
    setTimeout(PATIENCE_MS),
  ]);
  socket.destroy();
  target.checkText(Buffer.concat(received).toString('latin1'), '', connection.requests.length + 1);
}

function bytesOf({ requests, cutAt }: Connection, key: string): Buffer {
  const text = requests
    .map(({ line, extra, body, hasKey }) => {
      const credential = hasKey ? `x-partner-api-key: ${key}\r\n` : '';
      return `${line}\r\nhost: x\r\ncontent-type: application/json\r\n${credential}${extra}${body.head}\r\n\r\n${body.body}`;
    })
    .join('');
  const bytes = Buffer.from(text, 'latin1');
  return cutAt === null ? bytes : bytes.subarray(0, Math.floor(bytes.length * cutAt));
}
