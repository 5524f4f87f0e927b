// Requests to URLs of strangers, by attacks on whoever sends them.

import { generateKeyPairSync } from 'node:crypto';
import diagnostics, { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { Reach } from '@partner-loyalty/runtime/http/publicaddress.ts';
import { CERTIFICATE, KEY } from '../../../test/support/servers/certificate.ts';
import { startDns } from '../../../test/support/servers/dns.ts';
import { until } from '../../../test/support/until.ts';
import { createOutgoing } from './outgoing.ts';

const onlyPublic = (reach: Reach) => reach === 'public';
const alsoPrivate = (reach: Reach) => reach !== 'never';
const CONTENT = { headers: { 'content-type': 'text/plain' }, body: 'hello' };
const ignore = new AbortController().signal;

describe('a request to a URL of a stranger', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  const outgoing = (...options: Parameters<typeof createOutgoing>) => {
    const created = createOutgoing(...options);
    closing.push(created.close);
    return created;
  };
  const to = (port: number, host = '127.0.0.1') => new URL(`http://${host}:${port}/`);
  const post = (
    url: URL,
    ...[allowed = alsoPrivate, resolver]: Partial<Parameters<typeof createOutgoing>>
  ) => outgoing(allowed, resolver).post(url, CONTENT, ignore);
  const listening = async (server: ReturnType<typeof createTcpServer>, host = '127.0.0.1') => {
    const sockets = new Set<Socket>();
    let connections = 0;
    server.on('connection', (socket) => {
      connections += 1;
      sockets.add(socket);
      socket.on('error', () => {});
    });
    server.listen(0, host);
    await once(server, 'listening');
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return { port, connections: () => connections };
  };
  const http = (listener: RequestListener) => listening(createServer(listener));
  const tcp = (onSocket: (socket: Socket) => void) => listening(createTcpServer(onSocket));
  const dns = async (...options: Parameters<typeof startDns>) => {
    const started = await startDns(...options);
    closing.push(started.close);
    return started;
  };

  /** A listener that accepts nothing, with a full queue: it does not answer. */
  const silent = async (port: number) => {
    const script = `const server = require('node:net').createServer();
      server.listen({ port: ${port}, host: '127.0.0.2', backlog: 1 }, () => {
        require('node:worker_threads').parentPort.postMessage('up');
        setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
      });`;
    const worker = new Worker(script, { eval: true });
    closing.push(() => worker.terminate());
    await once(worker, 'message');
    // The kernel takes two, one more than the backlog.
    let taken = 0;
    const queued = Array.from({ length: 4 }, () =>
      connect(port, '127.0.0.2', () => {
        taken += 1;
      }).on('error', () => {}),
    );
    closing.push(() => queued.map((socket) => socket.destroy()));
    await until(() => taken === 2);
  };

  test('has the content, and gets the status', async () => {
    let seen = '';
    const { port } = await http(async (request, response) => {
      for await (const chunk of request) seen += `${request.method} ${request.url} ${chunk}`;
      response.writeHead(202).end('thanks');
    });
    const url = new URL(`http://127.0.0.1:${port}/hooks?a=1`);
    expect(await post(url)).toEqual({ status: 202 });
    expect(seen).toBe('POST /hooks?a=1 hello');
  });

  describe('the beginning of the body', () => {
    const body = `${'é'.repeat(600)}\n`;
    const answering = () => http((_, response) => response.end(body));
    const everything = [alsoPrivate, undefined, alsoPrivate] as const;

    test('is text, from an address that may be read, on each request of a connection', async () => {
      const { port, connections } = await answering();
      const { post } = outgoing(...everything);
      for (let sent = 0; sent < 2; sent += 1) {
        expect(await post(to(port), CONTENT, ignore)).toEqual({
          status: 200,
          text: 'é'.repeat(512),
        });
        await pause(20);
      }
      expect(connections()).toBe(1);
    });

    test.each(['127.0.0.1', 'localhost', '2130706433'])('of %s is not kept', async (host) => {
      const { port, connections } = await answering();
      const { post } = outgoing(alsoPrivate);
      for (let sent = 0; sent < 2; sent += 1) {
        expect(await post(new URL(`http://${host}:${port}/`), CONTENT, ignore)).toEqual({
          status: 200,
        });
        await pause(20);
      }
      expect(connections()).toBe(1);
    });

    test('of a name that once led to a private address is not kept', async () => {
      const { port } = await answering();
      const { resolver } = await dns(() => ['127.0.0.1']);
      let isPublic = false;
      const { post } = outgoing(alsoPrivate, resolver, () => isPublic);
      const url = to(port, 'hooks.example');
      expect(await post(url, CONTENT, ignore)).toEqual({ status: 200 });
      isPublic = true;
      expect(await post(url, CONTENT, ignore)).toEqual({ status: 200 });
      expect(await post(to(port, 'others.example'), CONTENT, ignore)).toHaveProperty('text');
    });
  });

  test('a name that resolves to a private address is not connected to', async () => {
    const { port, connections } = await http((_, response) => response.end());
    const { resolver } = await dns(() => ['127.0.0.1', '::1', '10.0.0.1', '::ffff:127.0.0.1']);
    const url = to(port, 'internal.example');
    const sent = await outgoing(onlyPublic, resolver).post(url, CONTENT, ignore);
    expect(sent).toEqual({ reason: 'ADDRESS' });
    expect(connections()).toBe(0);
  });

  test('a private address, as a number or by a name for this machine, is not connected to', async () => {
    const { port, connections } = await http((_, response) => response.end());
    for (const host of ['2130706433', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost'])
      expect(await post(to(port, host), onlyPublic)).toEqual({ reason: 'ADDRESS' });
    expect(connections()).toBe(0);
  });

  test.each(['127.0.0.1', '::1'])('localhost leads to a receiver on %s alone', async (host) => {
    const { port } = await listening(
      createServer((_, response) => response.end()),
      host,
    );
    const url = new URL(`http://localhost:${port}/`);
    expect(await post(url)).toEqual({ status: 200 });
  });

  test('DNS rebinding: of a name that had an allowed address before, the address now counts', async () => {
    const { port, connections } = await http((_, response) => response.end());
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']];
    const server = await dns((_, question) => answers[question - 1] ?? ['169.254.169.254']);
    const url = to(port, 'rebinding.example');
    const { post } = outgoing(alsoPrivate, server.resolver);
    // Only one address family is looked up again, so that a question stands for a connection.
    const closed = { ...CONTENT, headers: { connection: 'close' } };
    const sent = [];
    for (let i = 0; i < 3; i += 1) sent.push(await post(url, closed, ignore));
    expect(sent).toEqual([{ status: 200 }, { reason: 'ADDRESS' }, { status: 200 }]);
    expect([server.questions(), connections()]).toEqual([3, 2]);
  });

  test('DNS rebinding: of several addresses, those that are not allowed are not dialled', async () => {
    const { port, connections } = await http((_, response) => response.end());
    const server = await dns(() => ['169.254.169.254', '127.0.0.1', 'fd00:ec2::254']);
    const url = to(port, 'mixed.example');
    expect(await outgoing(alsoPrivate, server.resolver).post(url, CONTENT, ignore)).toEqual({
      status: 200,
    });
    expect(connections()).toBe(1);
  });

  test.each([
    [4, '::1'],
    [6, '127.0.0.1'],
  ] as const)('a name server without an answer for IPv%s delays nothing', async (silent, host) => {
    const { port } = await listening(
      createServer((_, response) => response.end()),
      host,
    );
    const answers = (_: string, __: number, family: 4 | 6) =>
      family === silent ? undefined : [host];
    const { resolver } = await dns(answers, 60_000);
    expect(await post(to(port, 'half.example'), alsoPrivate, resolver)).toEqual({
      status: 200,
    });
  });

  test('an address that does not answer delays the next one by a moment only', async () => {
    const { port } = await http((_, response) => response.end());
    await silent(port);
    const { resolver } = await dns(() => ['127.0.0.2', '127.0.0.1']);
    expect(await post(to(port, 'several.example'), alsoPrivate, resolver)).toEqual({
      status: 200,
    });
  });

  test.each([301, 302, 303, 307, 308])('redirects: %s is not followed', async (status) => {
    const target = await http((_, response) => response.end());
    const { port } = await http((_, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${target.port}/secret` }).end(),
    );
    expect(await post(to(port))).toEqual({ status });
    expect(target.connections()).toBe(0);
  });

  test('a huge response is read to 64 KiB, and its status counts', async () => {
    let written = 0;
    const { port } = await http((_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
        if (written < 1e9) response.once('drain', more);
      };
      more();
    });
    expect(await post(to(port))).toEqual({ status: 200 });
    expect(written).toBeLessThan(64e6); // The rest is what the sockets buffer.
  });

  /** A receiver that sends until it cannot, and how many bytes that were. */
  const flood = async (head: string, part: string) => {
    const chunk = part.repeat(2_000);
    let written = 0;
    const { port } = await tcp((socket) => {
      socket.write(head);
      const more = () => {
        while (!socket.destroyed && written < 5e7 && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', more);
      more();
    });
    return { url: to(port), written: () => written };
  };

  test('interim responses without end: after ten of them, the connection ends', async () => {
    const { url, written } = await flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n');
    expect(await post(url)).toEqual({
      reason: 'CONNECTION',
    });
    expect(written()).toBeLessThan(2e7); // The rest is what the sockets buffer.
  });

  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  test.each<[string, string, string, object]>([
    ['extensions of a chunk', `${chunked}1`, ';a=b', { status: 200 }],
    ['zeros of a size', chunked, '0000', { status: 200 }],
    ['trailers', `${chunked}0\r\n`, 'a: b\r\n', { status: 200 }],
    ['a reason phrase', 'HTTP/1.1 200 ', 'AAAA', { reason: 'CONNECTION' }],
    ['blank lines', '', '\r\n', { reason: 'CONNECTION' }],
  ])('%s without end: after 160 KiB, the connection ends', async (_, head, part, posted) => {
    const { url, written } = await flood(head, part);
    expect(await post(url)).toEqual(posted);
    expect(written()).toBeLessThan(2e7); // The rest is what the sockets buffer.
  });

  test('a body that does not end after the status is not waited for', async () => {
    const { port } = await tcp((socket) => void socket.write(`${chunked}1\r\na\r\n`));
    const url = to(port);
    const sent = outgoing(alsoPrivate).post(url, CONTENT, ignore);
    const late = outgoing(alsoPrivate).post(
      new URL(`http://127.0.0.1:${(await tcp(() => {})).port}/`),
      CONTENT,
      ignore,
    );
    expect(await Promise.race([sent, late])).toEqual({ status: 200 });
  });

  // Node takes seconds to write the message of an assertion in a library.
  test.each(['101 Switching Protocols', '000 None', '099 None'])(
    'a status that nobody asked for ends the connection: %s',
    async (status) => {
      const errors: unknown[] = [];
      const note = (message: unknown) => void errors.push((message as { error: Error }).error.name);
      diagnostics.subscribe('undici:request:error', note);
      const { port } = await tcp((socket) => {
        socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
      });
      expect(await post(to(port))).toEqual({ reason: 'CONNECTION' });
      diagnostics.unsubscribe('undici:request:error', note);
      expect(errors).toEqual(['AbortError']);
    },
  );

  test('ten interim responses may precede the status', async () => {
    const { port } = await tcp((socket) => {
      const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10);
      socket.write(`${interim}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(await post(to(port))).toEqual({ status: 200 });
  });

  test('a body in chunks of one byte is read to 64 of them, not to 64 KiB', async () => {
    let sent = 0;
    const { port } = await tcp((socket) => {
      socket.setNoDelay();
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const more = () => {
        if (socket.destroyed || sent === 30_000) return;
        sent += 1;
        socket.write('1\r\na\r\n', () => setImmediate(more));
      };
      more();
    });
    expect(await post(to(port))).toEqual({ status: 200 });
    expect(sent).toBeLessThan(10_000);
  });

  test('a connection that has ended is not kept until its deadline', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const { port } = await tcp((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
    const dialled: WeakRef<object>[] = [];
    const note = (message: unknown) =>
      void dialled.push(new WeakRef((message as { socket: object }).socket));
    diagnostics.subscribe('net.client.socket', note);
    const { post } = outgoing(alsoPrivate);
    for (let sent = 0; sent < 5; sent += 1) await post(to(port), CONTENT, ignore);
    diagnostics.unsubscribe('net.client.socket', note);
    const left = () => {
      collect();
      return dialled.filter((socket) => socket.deref() !== undefined).length;
    };
    for (let tries = 0; tries < 20 && left() > 1; tries += 1) await pause(20);
    // undici may still know the last one.
    expect([dialled.length, left() < 2]).toEqual([5, true]);
  });

  test('a response that breaks off in its body keeps its status', async () => {
    const { port } = await tcp((socket) => {
      socket.write('HTTP/1.1 204 OK\r\ncontent-length: 100\r\n\r\nhello', () => socket.destroy());
    });
    expect(await post(to(port))).toEqual({ status: 204 });
  });

  test.each<[string, string]>([
    ['that is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['with headers without end', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(100_000)}`],
    ['with one header without end', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(1_000_000)}`],
    ['with a status without end', `HTTP/1.1 200 ${'b'.repeat(1_000_000)}`],
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['that upgrades', 'HTTP/1.1 101 Upgrade\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['that continues', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('a response %s is a failure', async (_, response) => {
    const { port } = await tcp((socket) => {
      socket.write(response, () => socket.end());
    });
    expect(await post(to(port))).toEqual({
      reason: 'CONNECTION',
    });
  });

  test('a receiver that sends more than it was asked for gives no later request its response', async () => {
    let requests = 0;
    const { port } = await tcp((socket) => {
      socket.on('data', () => {
        requests += 1;
        const one = `HTTP/1.1 ${requests === 1 ? 200 : 500} OK\r\ncontent-length: 0\r\n\r\n`;
        socket.write(requests === 1 ? one + one.replace('200', '201') : one);
      });
    });
    const { post } = outgoing(alsoPrivate);
    const url = to(port);
    await post(url, CONTENT, ignore);
    expect(await post(url, CONTENT, ignore)).toEqual({ status: 500 });
  });

  test('without a server it is REFUSED, without an address it is DNS', async () => {
    const server = createTcpServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const { resolver } = await dns(() => []);
    const { post } = outgoing(alsoPrivate, resolver);
    expect([
      await post(to(port), CONTENT, ignore),
      await post(new URL(`http://localhost:${port}/`), CONTENT, ignore),
      await post(new URL('http://nobody.example/'), CONTENT, ignore),
    ]).toEqual([{ reason: 'REFUSED' }, { reason: 'REFUSED' }, { reason: 'DNS' }]);
  });

  test('a reset, before and after the request was read, is a failure', async () => {
    const early = await tcp((socket) => socket.resetAndDestroy());
    const late = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { post } = outgoing(alsoPrivate);
    for (const { port } of [early, late])
      expect(await post(to(port), CONTENT, ignore)).toEqual({
        reason: expect.stringMatching(/^(CONNECTION|REFUSED)$/),
      });
  });

  test('a receiver that nobody has certified, or that speaks no TLS, is refused', async () => {
    const plain = await http((_, response) => response.end());
    // Without a certificate, the handshake fails.
    const bare = await listening(createTlsServer());
    const { post } = outgoing(alsoPrivate);
    for (const { port } of [plain, bare])
      expect(await post(new URL(`https://127.0.0.1:${port}/`), CONTENT, ignore)).toEqual({
        reason: 'TLS',
      });
  });

  test('TLS: a receiver chooses no group for a key exchange, which could take seconds', async () => {
    let hello = Buffer.alloc(0);
    const { port } = await tcp((socket) =>
      socket.once('data', (bytes) => {
        hello = bytes;
        socket.destroy();
      }),
    );
    await outgoing(alsoPrivate).post(new URL(`https://127.0.0.1:${port}/`), CONTENT, ignore);
    // RFC 5246, section 7.4.1.2: the cipher suites follow the session ID.
    const start = 44 + hello.readUInt8(43);
    const suites = Array.from({ length: hello.readUInt16BE(start) / 2 }, (_, n) =>
      hello.readUInt16BE(start + 2 + 2 * n),
    );
    const [ecdhe, dhe] = [0xc0_2f, [0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xcc_aa]];
    expect(suites).toContain(ecdhe);
    expect(suites.filter((suite) => dhe.includes(suite))).toEqual([]);
  });

  const HELLO_REQUEST = Buffer.from([22, 3, 3, 0, 4, 0, 0, 0, 0]);
  const sendForEver = (socket: Socket, what: Buffer) => {
    const part = Buffer.concat(Array.from({ length: 1_000 }, () => what));
    const go = () => {
      while (!socket.destroyed && socket.write(part));
      socket.once('drain', go);
    };
    go();
  };

  test('TLS: what a receiver sends instead of a handshake ends it', async () => {
    const { port } = await tcp((socket) =>
      socket.once('data', () => sendForEver(socket, HELLO_REQUEST)),
    );
    const { post } = outgoing(alsoPrivate);
    expect(await post(new URL(`https://127.0.0.1:${port}/`), CONTENT, ignore)).toEqual({
      reason: 'CONNECTION',
    });
  });

  describe('TLS: a certificate', () => {
    const der = (tag: number, ...parts: Buffer[]): Buffer => {
      const content = Buffer.concat(parts);
      const length = Buffer.from([tag, 0x82, content.length >> 8, content.length & 255]);
      return Buffer.concat([length, content]);
    };
    const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
    const sized = (content: Buffer): Buffer => {
      const size = Buffer.alloc(3);
      size.writeUIntBE(content.length, 0, 3);
      return Buffer.concat([size, content]);
    };
    const key = (algorithm: string, bits: Buffer = Buffer.alloc(40)) =>
      der(0x30, der(0x30, hex(algorithm)), der(3, Buffer.from([0]), bits));
    const rsa = (exponent: number) =>
      key(
        '06092a864886f70d010101 0500',
        der(0x30, der(2, Buffer.alloc(256, 1)), der(2, Buffer.alloc(exponent, 1))),
      );
    const made = (type: 'rsa' | 'ec' | 'ed25519', options: object) =>
      // Cast: the overloads are one for each type.
      generateKeyPairSync(type as 'ec', {
        ...(options as { namedCurve: string }),
        publicKeyEncoding: { type: 'spki', format: 'der' },
        privateKeyEncoding: { type: 'pkcs8', format: 'der' },
      }).publicKey;
    const onCurve = (namedCurve: string, paramEncoding = 'named') =>
      made('ec', { namedCurve, paramEncoding });
    const certificate = (ofKey: Buffer) => {
      const part = der(0x30, Buffer.from([5, 0]));
      const version = hex('a003020102');
      return der(0x30, der(0x30, version, hex('020101'), part, part, part, part, ofKey), part);
    };

    /** The error of a connection to a receiver that has these certificates. */
    async function codeOf(certificates: readonly Buffer[], bytes = 16_000): Promise<unknown> {
      const codes: unknown[] = [];
      const note = (message: unknown) =>
        void codes.push((message as { error: NodeJS.ErrnoException }).error.code);
      diagnostics.subscribe('undici:client:connectError', note);
      const list = sized(Buffer.concat(certificates.map(sized)));
      // A request for a handshake, which is ignored, comes before them.
      const content = Buffer.concat([hex('00000000 0b'), sized(list)]);
      const { port } = await tcp((socket) =>
        socket.once('data', () => {
          const records: Buffer[] = [];
          for (let from = 0; from < content.length; from += bytes) {
            const part = content.subarray(from, from + bytes);
            records.push(Buffer.from([22, 3, 3, part.length >> 8, part.length & 255]), part);
          }
          socket.write(Buffer.concat(records));
        }),
      );
      await outgoing(alsoPrivate).post(new URL(`https://127.0.0.1:${port}/`), CONTENT, ignore);
      diagnostics.unsubscribe('undici:client:connectError', note);
      return codes[0];
    }
    /** OpenSSL reads them, but wants a greeting first. */
    const READ = 'ERR_SSL_UNEXPECTED_MESSAGE';
    const usual = onCurve('P-256');

    test.each<[string, Buffer]>([
      ['P-256', usual],
      ['P-384', onCurve('P-384')],
      ['P-521', onCurve('P-521')],
      ['Ed25519', made('ed25519', {})],
      ['RSA', made('rsa', { modulusLength: 2_048 })],
      ['RSA with the exponent 3', made('rsa', { modulusLength: 2_048, publicExponent: 3 })],
    ])('with a key that servers have is read: %s', async (_, ofKey) => {
      expect(await codeOf(Array(10).fill(certificate(ofKey)))).toBe(READ);
    });

    // OpenSSL takes half a second to read a point of a curve, or 10 ms to use a key.
    test.each<[string, Buffer, number?]>([
      ['its own curve', onCurve('P-256', 'explicit')],
      ['its own curve, a byte at a time', onCurve('P-256', 'explicit'), 1],
      ['a binary curve', key('06072a8648ce3d0201 06052b81040027')],
      ['a Brainpool curve', key('06072a8648ce3d0201 06092b2403030208010107')],
      ['P-256, encoded otherwise', key('06072a8648ce3d0201 0681082a8648ce3d030107')],
      ['DSA', key('06072a8648ce380401')],
      ['SM2', key('06072a8648ce3d0201 06082a811ccf5501822d')],
      ['RSA with a large exponent', rsa(4)],
      ['RSA without an exponent', rsa(0)],
      ['RSA with parameters', key('06092a864886f70d01010a 3000')],
      ['an unknown key', key('06032a0304')],
      ['none', Buffer.alloc(0)],
    ])('with a key that takes long is not read: %s', async (_, ...[ofKey, bytes]) => {
      const certificates = [certificate(usual), certificate(ofKey)];
      expect(await codeOf(certificates, bytes)).toBe('CERT');
    });

    test('is not read if there are more than 10', async () => {
      expect(await codeOf(Array(11).fill(certificate(usual)))).toBe('CERT');
    });

    test.each([
      ['no certificate', Buffer.alloc(9)],
      ['of unknown length', Buffer.concat([hex('3080'), certificate(usual)])],
    ])('is not read if it is %s', async (_, bytes) => {
      expect(await codeOf([bytes])).toBe('CERT');
    });
  });

  test('TLS: no certificate comes encrypted', async () => {
    const { port } = await listening(
      createTlsServer({ key: KEY, cert: CERTIFICATE, minVersion: 'TLSv1.3' }),
    );
    const { post } = outgoing(alsoPrivate);
    expect(await post(new URL(`https://127.0.0.1:${port}/`), CONTENT, ignore)).toEqual({
      reason: 'TLS',
    });
  });

  describe('TLS: behind the handshake', () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    beforeEach(() => {
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    });
    afterEach(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    });

    /** A receiver that does this, below TLS, when the request has come. */
    const receiver = (act: (socket: Socket, secured: TLSSocket) => void) =>
      tcp((socket) => {
        const secured = new TLSSocket(socket, { isServer: true, key: KEY, cert: CERTIFICATE });
        secured.on('error', () => {});
        secured.once('data', () => act(socket, secured));
      });
    const send = (port: number) =>
      outgoing(alsoPrivate).post(new URL(`https://127.0.0.1:${port}/`), CONTENT, ignore);

    test('a response comes', async () => {
      const { port } = await receiver((_, secured) =>
        secured.end(`HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n${'x'.repeat(60_000)}`),
      );
      expect(await send(port)).toEqual({ status: 200 });
    });

    test('a response counts though its connection has closed, and every connection ends', async () => {
      let [begun, ended] = [0, 0];
      // Cast: what undici publishes.
      const count = (message: unknown) => {
        begun += 1;
        (message as { socket: Socket }).socket.once('close', () => {
          ended += 1;
        });
      };
      subscribe('undici:client:connected', count);
      closing.push(() => unsubscribe('undici:client:connected', count));
      const { port } = await receiver((_, secured) =>
        secured.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
      );
      const url = new URL(`https://127.0.0.1:${port}/`);
      const { post } = outgoing(alsoPrivate);
      const several = async () => {
        for (let n = 0; n < 20; n += 1)
          expect(await post(url, CONTENT, ignore)).toEqual({ status: 200 });
      };
      await Promise.all(Array.from({ length: 20 }, several));
      await until(() => begun === 400 && ended === begun);
    });

    test('what is no record ends the connection', async () => {
      const { port } = await receiver((socket) => sendForEver(socket, Buffer.from('GGGG')));
      expect(await send(port)).toEqual({ reason: 'TLS' });
    });
  });

  test('a name server that never answers keeps no thread busy, and the request ends', async () => {
    const { port } = await http((_, response) => response.end());
    const silent = await dns((name) => (name === 'silent.example' ? undefined : ['127.0.0.1']));
    const { post } = outgoing(alsoPrivate, silent.resolver);
    const waiting = Array.from({ length: 20 }, () =>
      post(new URL('http://silent.example/'), CONTENT, ignore),
    );
    // Four threads read files and resolve names by getaddrinfo.
    const first = await Promise.race([...waiting, readFile(__filename).then(() => 'a file')]);
    const other = post(to(port, 'other.example'), CONTENT, ignore);
    expect([first, await Promise.race([...waiting, other])]).toEqual(['a file', { status: 200 }]);
    for (const sent of await Promise.all(waiting))
      expect(sent).toEqual({ reason: expect.stringMatching(/^(DNS|TIMEOUT)$/) });
  });

  test('one that is aborted ends at once, whatever the receiver does', async () => {
    const abort = new AbortController();
    const { port } = await tcp((socket) => {
      socket.once('data', () => abort.abort());
    });
    const url = to(port);
    expect(await outgoing(alsoPrivate).post(url, CONTENT, abort.signal)).toEqual({
      reason: 'CONNECTION',
    });
  });
});
