// Connections to this service's own subgraphs: HTTP/1.1 without TLS, one request at a time each.
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Batch } from './batch.ts';

/** What happens to a request. */
type Handler = Pick<
  Batch,
  'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
>;
type Headers = Readonly<Record<string, string>>;
/** Sends a POST. */
export type Post = (path: string, headers: Headers, body: string, handler: Handler) => void;
/** The response repeats the ID. */
type Request = { text: string; encoding: 'latin1' | 'utf8'; id: string; handler: Handler };
type Connection = ReturnType<typeof openConnection>;
type Listener = {
  /** The connection may send the next request. */
  free(connection: Connection): void;
  ended(connection: Connection): void;
};

/** The maximum length of the head of a response, and of a line between chunks. */
const MAX_HEAD = 16_384;
/** Shorter than the server's, so that no request is sent on a connection that is about to close. */
const IDLE_MS = 30_000;
/** Headers that a response has once at most. */
const FRAMING = new Set(['connection', 'content-length', 'transfer-encoding', 'x-request-id']);
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * At most `size` connections to an origin, opened when they are needed. A response has at most
 * `mostBytes` with its framing. undici lets a turn of the event loop pass before it uses an idle
 * connection again, and costs a tenth of a look-up's CPU time (bench/ATTEMPTS.md).
 */
export function createPool({ hostname, port, host }: URL, size: number, mostBytes: number) {
  const address = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 80) };
  const all = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: Request[] = [];
  let isClosed = false;
  const listener: Listener = {
    free(connection) {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        if (connection.send(next)) return;
      idle.push(connection);
      if (isClosed) closeIdle();
    },
    ended(connection) {
      all.delete(connection);
      const next = waiting.shift();
      if (next !== undefined) send(next);
    },
  };

  function send(request: Request): void {
    // The one that has been idle the longest, so that its end, if it has come, is known.
    let connection = idle.shift();
    while (connection?.isEnded()) connection = idle.shift();
    if (connection === undefined && all.size < size) {
      connection = openConnection(address, listener, mostBytes);
      all.add(connection);
    }
    if (connection === undefined) waiting.push(request);
    else if (!connection.send(request)) listener.free(connection);
  }

  function closeIdle(): void {
    for (const connection of idle.splice(0)) connection.end();
  }

  const post: Post = (path, headers, body, handler) => {
    const isBroken = Object.values(headers).some((value) => /[^\t -~]/.test(value));
    if (isClosed || isBroken) {
      handler.onResponseError(null, new Error(isBroken ? 'a broken header' : 'closed'));
      return;
    }
    let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
    const length = Buffer.byteLength(body);
    // The head is ASCII.
    const encoding = length === body.length ? 'latin1' : 'utf8';
    const { 'x-request-id': id = '' } = headers;
    send({ text: `${head}content-length: ${length}\r\n\r\n${body}`, encoding, id, handler });
  };

  return {
    post,
    /** What has begun ends as usual. */
    close(): void {
      isClosed = true;
      closeIdle();
    },
  };
}

/** Reads responses as RFC 9112, section 6 frames them. A malformed one ends the connection. */
function openConnection(
  address: { host: string; port: number },
  listener: Listener,
  mostBytes: number,
) {
  const socket = connect({ ...address, noDelay: true, timeout: IDLE_MS });
  let handler: Handler | undefined;
  let requestId = '';
  /** An error made in advance keeps each `this` of its stack, such as the connection before. */
  let cause: Error | undefined;
  /** What has come and is not read yet. */
  let rest = NOTHING;
  /** The bytes of the response so far. */
  let bytes = 0;
  let part: 'head' | 'data' | 'end of chunk' | 'size of chunk' | 'trailer' = 'head';
  /** The bytes of `data` that have not come yet. */
  let left = 0;
  let isChunked = false;
  let isLast = false;

  socket.on('timeout', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.on('error', (error) => {
    cause = error;
  });
  socket.on('close', (hasFailed) => {
    const lost = handler;
    handler = undefined;
    if (left === Number.POSITIVE_INFINITY && !hasFailed) lost?.onResponseEnd();
    else lost?.onResponseError(null, cause ?? new Error('the connection ended'));
    listener.ended(connection);
  });
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    bytes += chunk.length;
    try {
      if (bytes > mostBytes) throw Object.assign(new Error('too many bytes'), { code: 'BYTES' });
      while (rest.length > 0 && !socket.destroyed && read());
    } catch (error) {
      socket.destroy(error as Error); // Cast: nothing else is thrown.
    }
  });

  /** Reads the next part of the response; false if it has not come yet. */
  function read(): boolean {
    if (handler === undefined) throw new Error('a response without a request');
    if (part === 'data') {
      readData(handler);
      return true;
    }
    const text = takeUntil(part === 'head' ? '\r\n\r\n' : '\r\n');
    if (text === undefined) return false;
    if (part === 'head') readHead(text, handler);
    else if (part === 'size of chunk') readSize(text);
    else if (text === '' && part === 'trailer') complete(handler);
    else if (text === '') part = 'size of chunk';
    else if (part === 'end of chunk') throw new Error('a chunk is longer than its size');
    return true;
  }

  function takeUntil(mark: string): string | undefined {
    const end = rest.indexOf(mark, 0, 'latin1');
    if ((end === -1 ? rest.length : end) > MAX_HEAD) throw new Error('a head is too long');
    if (end === -1) return undefined;
    const text = rest.toString('latin1', 0, end);
    rest = rest.subarray(end + mark.length);
    return text;
  }

  function readHead(head: string, to: Handler): void {
    const [first = '', ...lines] = head.split('\r\n');
    const [, minor, code = ''] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(first) ?? [];
    if (code === '') throw new Error('no HTTP/1.1');
    if (code.startsWith('1')) return;
    const headers = readHeaders(lines);
    const { connection, 'transfer-encoding': coding, 'content-length': length } = headers;
    // It may have been sent, without a request, before this one was.
    if ((headers['x-request-id'] ?? requestId) !== requestId)
      throw new Error('a response to another request');
    isLast = minor === '0' || /(?:^|,)\s*close\s*(?:,|$)/i.test(connection ?? '');
    isChunked = coding?.toLowerCase() === 'chunked';
    const isFramed = coding === undefined ? /^\d{1,10}$/.test(length ?? '0') : isChunked && !length;
    if (!isFramed) throw new Error('a body without an end');
    left = isChunked || code === '204' ? 0 : Number(length ?? Number.POSITIVE_INFINITY);
    part = isChunked ? 'size of chunk' : 'data';
    to.onResponseStart(null, Number(code), headers);
    if (left === 0 && !isChunked) complete(to);
  }

  function readSize(line: string): void {
    const [, size] = /^([\da-f]{1,8})[\t ]*(?:;|$)/i.exec(line) ?? [];
    if (size === undefined) throw new Error('a chunk without a size');
    left = Number.parseInt(size, 16);
    part = left === 0 ? 'trailer' : 'data';
  }

  function readData(to: Handler): void {
    const data = rest.subarray(0, left);
    rest = rest.subarray(data.length);
    left -= data.length;
    to.onResponseData(null, data);
    if (left > 0) return;
    if (isChunked) part = 'end of chunk';
    else complete(to);
  }

  function complete(to: Handler): void {
    handler = undefined;
    part = 'head';
    to.onResponseEnd();
    if (isLast || rest.length > 0) socket.destroy();
    // Its handler may have aborted it.
    if (!socket.destroyed) listener.free(connection);
  }

  const connection = {
    /** False if the request is aborted before it is sent. */
    send({ text, encoding, id, handler: next }: Request): boolean {
      let isAborted = false;
      next.onRequestStart({
        abort(reason: Error) {
          isAborted = true;
          if (handler === next) socket.destroy(reason);
        },
      });
      if (isAborted) next.onResponseError(null, new Error('aborted'));
      else {
        handler = next;
        requestId = id;
        bytes = 0;
        socket.write(text, encoding);
      }
      return !isAborted;
    },
    isEnded: () => socket.destroyed,
    end: () => void socket.destroy(),
  };
  return connection;
}

function readHeaders(lines: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = Object.create(null);
  for (const line of lines) {
    const [, name = '', value] = /^([^\s:]+):(.*)$/.exec(line) ?? [];
    const key = name.toLowerCase();
    if (key === '' || (FRAMING.has(key) && headers[key] !== undefined))
      throw new Error('headers that can be read in two ways');
    headers[key] = value?.trim();
  }
  return headers;
}
