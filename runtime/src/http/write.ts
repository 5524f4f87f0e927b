// Writes plain responses to those of node:http and to bare sockets.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../errors.ts';
import { afterPoll } from '../eventloop/afterpoll.ts';
import { areTooShort } from './body.ts';
import type { Connection, Exchange } from './connection.ts';
import type { HeaderName } from './headers.ts';
import { errorBody, type HttpResponse, type ResponseObserver } from './response.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** An unwanted body is read up to this size, so that the client gets to read the response. */
const DISCARDED_BYTES = 4 * 1024 * 1024;
/** The same for a chunked body, chunk headers included. */
const DISCARDED_CHUNKED_BYTES = 64 * 1024;
const DISCARD_MS = 2_000;

/**
 * Writes a response. If `closing` returns true before or after that, the connection ends with it.
 * Resolves when a body that comes in pieces is complete, and rejects if its function does.
 * The response's observer is not called in that case.
 */
export async function writeResponse(
  connection: Connection,
  exchange: Exchange,
  response: HttpResponse,
  requestId: string,
  closing: () => boolean,
): Promise<void> {
  const { incoming, outgoing } = exchange;
  const { body, observer, isDropped } = response;
  if (isDropped) outgoing.destroy();
  if (outgoing.destroyed) {
    observer?.ended(0, false);
    return;
  }
  const length = typeof body === 'function' ? undefined : Buffer.byteLength(body);
  const isRefused = response.closes === true || response.status === 408;
  const closes = connection.isStopped || connection.isOverrun || (isRefused && !connection.isProxy);
  const list = headerList(response, requestId, length, closes || closing());
  outgoing.writeHead(response.status, list);
  if (!closes && !incoming.complete) discardBody(connection, exchange);
  if (typeof body !== 'function') {
    // A write to a sleeping reader also wakes it, which costs several times as much as the write.
    // Writes in a row mostly meet a reader that is awake. With a reader on the same machine, this
    // takes 40 % off a subgraph's time per request.
    afterPoll(() => {
      writeAtOnce(outgoing, body, length);
      if (closes) void connection.discardRest().then(() => outgoing.end());
      else end(exchange, closing);
      connection.wrote();
      if (observer === undefined) return;
      observeEnd(outgoing, incoming.method === 'HEAD' ? 0 : (length ?? 0), observer);
    });
    return;
  }
  let bytes = 0;
  await body((piece) => {
    bytes += Buffer.byteLength(piece);
    outgoing.write(piece);
    connection.wrote();
  });
  if (closes) connection.stop();
  end(exchange, () => closes || closing());
  if (observer !== undefined) observeEnd(outgoing, bytes, observer);
}

/** Reports the end at once if the socket has taken all bytes, as it nearly always has. */
function observeEnd(outgoing: ServerResponse, bytes: number, observer: ResponseObserver): void {
  const { socket } = outgoing;
  if (outgoing.destroyed) observer.ended(0, false);
  else if (socket !== null && socket.writableLength === 0) observer.ended(bytes, true);
  else
    outgoing.once('close', () => {
      const isWhole = outgoing.writableFinished;
      observer.ended(isWhole ? bytes : 0, isWhole);
    });
}

/**
 * Writes the head together with a body of text, as one string. `end(body)` would add an empty one
 * and write the two as a list, which is 7 % of the CPU time of a plain server. A text of as many
 * bytes as characters is ASCII, which is written fastest as Latin-1.
 */
function writeAtOnce(
  outgoing: ServerResponse,
  body: string | Buffer,
  length: number | undefined,
): void {
  if (length === 0) return;
  outgoing.write(body, length === body.length ? 'latin1' : 'utf8');
  outgoing.socket?.uncork();
}

function end({ incoming, outgoing }: Exchange, closing: () => boolean): void {
  outgoing.end();
  // The head may have promised to keep the connection, and not all bytes are out yet.
  if (closing()) outgoing.once('finish', () => incoming.socket.destroySoon());
}

/**
 * Writes an error to a socket that node:http has given up or handed over, and closes the socket
 * after the client has had time to read.
 */
export function writeRawError(
  socket: Duplex,
  code: ErrorCode,
  status: number,
  requestId: string,
): void {
  const body = errorBody(code, requestId);
  // No path of this service is for a tunnel, which CONNECT asks for (RFC 9110, section 15.5.6).
  const headers = code === 'METHOD_NOT_ALLOWED' ? { allow: '' } : {};
  const list = headerList({ status, headers }, requestId, Buffer.byteLength(body), true);
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let i = 0; i < list.length; i += 2) head += `${list[i]}: ${list[i + 1]}\r\n`;
  socket.on('error', () => {});
  socket.end(`${head}\r\n${body}`);
  setTimeout(() => socket.destroy(), DISCARD_MS).unref();
}

/** Names and values alternating, the form that costs node:http the least work. */
function headerList(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  requestId: string,
  length: number | undefined,
  close: boolean,
): string[] {
  const hasContent = status !== 204 && status !== 304;
  const list = ['x-request-id', requestId];
  // Cast: the keys of an object of this type.
  for (const name in headers) {
    const value = headers[name as HeaderName] ?? '';
    if (typeof value === 'string') list.push(name, value);
    else for (const one of value) list.push(name, one);
  }
  if (headers['content-type'] === undefined && hasContent) list.push('content-type', JSON_TYPE);
  if (headers['cache-control'] === undefined) list.push('cache-control', 'no-store');
  if (headers['x-content-type-options'] === undefined)
    list.push('x-content-type-options', 'nosniff');
  if (length !== undefined && hasContent) list.push('content-length', String(length));
  if (status === 503 && headers['retry-after'] === undefined) list.push('retry-after', '1');
  if (close) list.push('connection', 'close');
  return list;
}

/**
 * Reads what is left of a body and drops it. Of a chunked one it reads less, because each chunk
 * costs CPU, however short it is.
 */
function discardBody(connection: Connection, { incoming }: Exchange): void {
  const { socket } = connection;
  const isChunked = incoming.headers['content-length'] === undefined;
  const end = connection.parsedBytes + (isChunked ? DISCARDED_CHUNKED_BYTES : DISCARDED_BYTES);
  let chunks = 0;
  let bytes = 0;
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS).unref();
  incoming.on('data', (piece: Buffer) => {
    chunks += 1;
    bytes += piece.length;
    if (connection.parsedBytes <= end && !areTooShort(chunks, bytes)) return;
    connection.stop();
    socket.destroySoon();
  });
  incoming.on('error', () => {});
  incoming.on('close', () => clearTimeout(timer));
  connection.readBody(undefined);
}
