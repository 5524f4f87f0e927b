// Connections to others' servers, which end if these send far more than a response.
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS } from 'node:tls';
import { buildConnector } from 'undici';
import { createTurns } from '../eventloop/turns.ts';

/** Of a handshake: OpenSSL verifies each certificate, trusted or not, and all names of each. */
const MAX_HANDSHAKE_BYTES = 16 * 1_024;
/** For a request, of what is no data: sessions, new keys, empty records, and a record of 16 KiB. */
const MAX_OTHER_BYTES = 48 * 1_024;
/** The bytes on the network that a byte of data may take. */
const MAX_BYTES_OF_DATA = 1.5;

/** The types of records and their content begin so (RFC 5246, section 6.2.1). */
const RECORD_HEADER_BYTES = 5;
const HANDSHAKE_RECORD = 22;
/** Handshake messages begin so, and certificates have this type (RFC 5246, section 7.4). */
const MESSAGE_HEADER_BYTES = 4;
const CERTIFICATES = 11;

/** Servers send about three. */
const MAX_CERTIFICATES = 10;
/** For 65537 and less. */
const MAX_EXPONENT_BYTES = 3;
/** The tags of DER. */
const [INTEGER, BITS, SEQUENCE, VERSION] = [0x02, 0x03, 0x30, 0xa0];
const RSA = '06092a864886f70d0101010500';
const QUICK: ReadonlySet<string> = new Set([
  '06072a8648ce3d020106082a8648ce3d030107', // P-256
  '06072a8648ce3d020106052b81040022', // P-384
  '06072a8648ce3d020106052b81040023', // P-521
  '06032b6570', // Ed25519
  '06032b6571', // Ed448
]);

/**
 * A connector that makes a connection one of TLS. The server does not choose how long a key
 * exchange takes, as it does with finite-field groups of its own (RFC 9325, section 4.1), nor have
 * another one, and the connection ends at an error, or with too many bytes that are no data. Unless
 * it is trusted, TLS is 1.2, whose certificates can be looked at before OpenSSL reads them.
 */
export function secureConnector(timeoutMs: number, isTrusted: boolean) {
  const secure = buildConnector({
    timeout: timeoutMs,
    ciphers: `${DEFAULT_CIPHERS}:!DHE`,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(!isTrusted && { maxVersion: 'TLSv1.2' as const }),
  });
  return (
    target: buildConnector.Options,
    socket: Socket,
    callback: buildConnector.Callback,
  ): void => {
    const wire = new Wire(socket, target.hostname, isTrusted);
    // Cast: TLS takes any stream.
    secure({ ...target, httpSocket: wire as Duplex as Socket }, (...result) => {
      const [, secured] = result;
      wire.secured = secured ?? undefined;
      secured?.on('error', () => secured.destroy());
      if (!secured) wire.destroy();
      callback(...result);
    });
  };
}

/** A host may send on many connections at once: hosts take turns, for handshakes and reading. */
const turns = createTurns();

/** The bytes below TLS. */
class Wire extends Duplex {
  /** The connection above it, after the handshake. */
  secured: Socket | undefined = undefined;
  private readonly socket: Socket;
  private arrived = 0;
  /** What of it TLS had, when a part arrived last, and what data that was. */
  private taken = 0;
  private data = 0;
  private sent = 0;
  private other = 0;
  private readonly host: string;
  private readonly isSlow: (part: Buffer) => boolean;
  /** The parts of a handshake that wait for a turn, and what follows them. */
  private waiting: (() => void)[] = [];

  constructor(socket: Socket, host: string, isTrusted: boolean) {
    super();
    this.host = host;
    this.isSlow = isTrusted ? () => false : createKeyCheck();
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (part: Buffer) => this.received(part));
    socket.once('end', () => this.inOrder(() => void this.push(null)));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.inOrder(() => this.ended()));
  }

  /** TLS has what arrived before; without a wire, it would lose that, and close within a read. */
  private ended(): void {
    if (this.secured === undefined || this.secured.readableEnded) this.destroy();
    else this.secured.once('end', () => this.destroy());
  }

  private received(part: Buffer): void {
    const taken = this.arrived - this.readableLength;
    const { bytesRead = 0, bytesWritten = 0 } = this.secured ?? {};
    const ofData = MAX_BYTES_OF_DATA * (bytesRead - this.data);
    const isOfRequest = bytesWritten === this.sent;
    this.other = isOfRequest ? Math.max(0, this.other + taken - this.taken - ofData) : 0;
    [this.taken, this.data, this.sent] = [taken, bytesRead, bytesWritten];
    this.arrived += part.length;
    const isOver =
      this.secured === undefined
        ? this.arrived > MAX_HANDSHAKE_BYTES
        : this.other > MAX_OTHER_BYTES;
    if (isOver) this.destroy(tooMany());
    else if (this.secured === undefined && this.isSlow(part)) this.destroy(slowKey());
    else this.inOrder(() => void (this.push(part) || this.socket.pause()), true);
  }

  private inOrder(act: () => void, isPart = false): void {
    if (this.waiting.length === 0 && !(isPart && this.secured === undefined)) act();
    else if (this.waiting.push(act) === 1) turns.add(this.host, '', { run: () => this.catchUp() });
  }

  private catchUp(): void {
    const acts = this.waiting;
    this.waiting = [];
    for (const act of acts) act();
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(part: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.socket.write(part, done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}

const slowKey = () =>
  Object.assign(new Error('certificates have too many keys, or slow ones'), { code: 'CERT' });

/**
 * Returns a function that looks at the certificates in the parts of a handshake, when all are
 * there, and says whether OpenSSL would take long: it reads and uses the key of each.
 */
function createKeyCheck(): (part: Buffer) => boolean {
  const content = Buffer.allocUnsafe(MAX_HANDSHAKE_BYTES);
  let [size, message, place, type, length] = [0, 0, 0, 0, 0];
  return (part) => {
    for (const byte of part) {
      if (place < RECORD_HEADER_BYTES) {
        if (place === 0) type = byte;
        length = ((length << 8) | byte) & 0xffff;
        place += 1;
      } else {
        length -= 1;
        if (type === HANDSHAKE_RECORD) content[size++] = byte;
      }
      if (place === RECORD_HEADER_BYTES && length === 0) place = 0;
    }
    while (message + MESSAGE_HEADER_BYTES <= size) {
      const start = message + MESSAGE_HEADER_BYTES;
      const end = start + content.readUIntBE(message + 1, 3);
      if (end > size) break;
      if (content[message] === CERTIFICATES && !areQuick(content.subarray(start + 3, end)))
        return true;
      message = end;
    }
    return false;
  };
}

function areQuick(certificates: Buffer): boolean {
  let rest = certificates;
  for (let count = 0; rest.length > 0; count += 1) {
    if (count === MAX_CERTIFICATES || rest.length < 3) return false;
    const end = 3 + rest.readUIntBE(0, 3);
    if (!hasQuickKey(rest.subarray(3, end))) return false;
    rest = rest.subarray(end);
  }
  return true;
}

/** Whether a certificate (RFC 5280, section 4.1) has a key that servers have. */
function hasQuickKey(certificate: Buffer): boolean {
  const [signed] = element(element(certificate, SEQUENCE)[0], SEQUENCE);
  let rest = signed[0] === VERSION ? element(signed, VERSION)[1] : signed;
  for (const tag of [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE])
    [, rest] = element(rest, tag);
  const [algorithm, key] = element(element(rest, SEQUENCE)[0], SEQUENCE);
  const name = algorithm.toString('hex');
  if (name !== RSA) return QUICK.has(name);
  // OpenSSL takes exponents of 3072 bits. The first byte of a bit string counts unused bits.
  const [, exponent] = element(element(element(key, BITS)[0].subarray(1), SEQUENCE)[0], INTEGER);
  const { length } = element(exponent, INTEGER)[0];
  return length > 0 && length <= MAX_EXPONENT_BYTES;
}

const NONE = Buffer.alloc(0);

/** The content of an element of DER, and what follows it; nothing if it has another tag. */
function element(der: Buffer, tag: number): [content: Buffer, rest: Buffer] {
  const [first, size = 0] = der;
  const more = size > 0x80 ? size - 0x80 : 0;
  if (first !== tag || size === 0x80 || more > 2 || der.length < 2 + more) return [NONE, NONE];
  const start = 2 + more;
  const end = start + (more === 0 ? size : der.readUIntBE(2, more));
  return [der.subarray(start, end), der.subarray(end)];
}

const tooMany = () => Object.assign(new Error('too many bytes'), { code: 'BYTES' });

/**
 * A connector that also limits the bytes that arrive for a request to `most`, and the lines to some
 * 32,000: undici reports no chunk extensions, blank lines or zeros before a size. Beyond it, the
 * connection fails with the code BYTES. Not for pipelined requests.
 */
export function limitBytes(
  connector: buildConnector.connector,
  most: number,
): buildConnector.connector {
  return (options, callback) =>
    connector(options, (...result) => {
      const [, socket] = result;
      // Contrary to its type, undici leaves the socket out after an error.
      if (socket) limitReads(socket, options.hostname, most);
      callback(...result);
    });
}

function limitReads(socket: Socket, host: string, most: number): void {
  let written = 0;
  let read = 0;
  /** What had arrived before the request. */
  let earlier = 0;
  let parts = 0;
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket;
    if (bytesWritten !== written) [earlier, parts] = [read, 0];
    written = bytesWritten;
    read = bytesRead;
    if (read - earlier > most) socket.destroy(tooMany());
  });
  const readAll: Socket['read'] = socket.read.bind(socket);
  let turn: 'none' | 'asked' | 'now' = 'none';
  const run = () => {
    turn = 'now';
    socket.emit('readable');
  };
  // undici reads until there is nothing.
  socket.read = (size?: number) => {
    if (size !== undefined || socket.readableLength === 0) return readAll(size);
    if (socket.destroyed) return null;
    if (turn !== 'now') {
      if (turn === 'none') turns.add(host, '', { run });
      turn = 'asked';
      return null;
    }
    turn = 'none';
    const all: Buffer = readAll();
    const end = endOfLines(all);
    if (end === all.length) return all;
    parts += 1;
    if (parts > MAX_PARTS) {
      socket.destroy(tooMany());
      return null;
    }
    socket.unshift(all.subarray(end));
    return all.subarray(0, end);
  };
}

/**
 * The most lines of a part. Each turn reads one part: undici parses all that it is given, and makes
 * an error for every name once there are too many.
 */
const MAX_LINES = 128;
/** Parts with so many lines in a response: whoever lays JSON out for readers has fewer. */
const MAX_PARTS = 256;
const LINE_FEED = 10;

function endOfLines(part: Buffer): number {
  let end = 0;
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    end = part.indexOf(LINE_FEED, end) + 1;
    if (end === 0) return part.length;
  }
  return end;
}
