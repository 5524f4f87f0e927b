// Connections to others' servers, which end if these send far more than a response.
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS } from 'node:tls';
import { buildConnector } from 'undici';

/** Of a handshake: OpenSSL verifies each certificate, trusted or not, and some take 10 ms. */
const MAX_HANDSHAKE_BYTES = 24 * 1_024;
/** For a request, of what is no data: sessions, new keys, empty records, and a record of 16 KiB. */
const MAX_OTHER_BYTES = 48 * 1_024;
/** The bytes on the network that a byte of data may take. */
const MAX_BYTES_OF_DATA = 1.5;

/** The types of records and their content begin so (RFC 5246, section 6.2.1). */
const RECORD_HEADER_BYTES = 5;
const HANDSHAKE_RECORD = 22;
/** Where the fields of curves have their names (RFC 3279, section 2.3.5). */
const FIELD_TYPE = Buffer.from('2a8648ce3d01', 'hex');

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
    const wire = new Wire(socket);
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

/** The bytes below TLS. */
class Wire extends Duplex {
  /** The connection above it, after the handshake. */
  secured: Pick<Socket, 'bytesRead' | 'bytesWritten'> | undefined = undefined;
  private readonly socket: Socket;
  private arrived = 0;
  /** What of it TLS had, when a part arrived last, and what data that was. */
  private taken = 0;
  private data = 0;
  private sent = 0;
  private other = 0;
  private readonly hasOwnCurve = createCurveCheck();

  constructor(socket: Socket) {
    super();
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (part: Buffer) => this.received(part));
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
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
    else if (this.secured === undefined && this.hasOwnCurve(part)) this.destroy(ownCurve());
    else if (!this.push(part)) this.socket.pause();
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

const ownCurve = () =>
  Object.assign(new Error('a certificate has its own curve'), { code: 'CERT' });

/**
 * Returns a function that finds a key with a curve of its own, which no certificate may have (RFC
 * 5480, section 2.1.1), in the parts of a handshake: OpenSSL takes half a second to read a point of
 * one, in each of many certificates.
 */
function createCurveCheck(): (part: Buffer) => boolean {
  let [place, type, length, matched] = [0, 0, 0, 0];
  return (part) => {
    for (const byte of part) {
      if (place < RECORD_HEADER_BYTES) {
        if (place === 0) type = byte;
        length = ((length << 8) | byte) & 0xffff;
        place += 1;
      } else {
        length -= 1;
        if (type === HANDSHAKE_RECORD)
          matched = byte === FIELD_TYPE[matched] ? matched + 1 : byte === FIELD_TYPE[0] ? 1 : 0;
      }
      if (matched === FIELD_TYPE.length) return true;
      if (place === RECORD_HEADER_BYTES && length === 0) place = 0;
    }
    return false;
  };
}

const tooMany = () => Object.assign(new Error('too many bytes'), { code: 'BYTES' });

/**
 * A connector that also limits the bytes that arrive for a request to `most`: undici reports no
 * chunk extensions, blank lines or zeros before a size. Beyond it, the connection fails with the
 * code BYTES. Not for pipelined requests.
 */
export function limitBytes(
  connector: buildConnector.connector,
  most: number,
): buildConnector.connector {
  return (options, callback) =>
    connector(options, (...result) => {
      const [, socket] = result;
      // Contrary to its type, undici leaves the socket out after an error.
      if (socket) limitReads(socket, most);
      callback(...result);
    });
}

function limitReads(socket: Socket, most: number): void {
  let written = 0;
  let read = 0;
  /** What had arrived before the request. */
  let earlier = 0;
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket;
    if (bytesWritten !== written) earlier = read;
    written = bytesWritten;
    read = bytesRead;
    if (read - earlier > most) socket.destroy(tooMany());
  });
}
