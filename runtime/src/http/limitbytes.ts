// Connections to others' servers, which end if these send far more than a response.
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { DEFAULT_CIPHERS } from 'node:tls';
import { buildConnector } from 'undici';

/** A server sends some two of them after a handshake (RFC 8446, section 4.6.1). */
const MAX_TICKETS = 16;

/**
 * A connector for TLS. The server does not choose how long a key exchange takes, as it does with
 * finite-field groups of its own (RFC 9325, section 4.1), nor have another one.
 */
export function secureConnector(timeoutMs: number): buildConnector.connector {
  return buildConnector({
    timeout: timeoutMs,
    ciphers: `${DEFAULT_CIPHERS}:!DHE`,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

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
  let tickets = 0;
  const end = () => socket.destroy(Object.assign(new Error('too many bytes'), { code: 'BYTES' }));
  // Outside of what is read; emitted by TLS sockets only.
  socket.on('session', () => {
    tickets += 1;
    if (tickets > MAX_TICKETS) end();
  });
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket;
    if (bytesWritten !== written) earlier = read;
    written = bytesWritten;
    read = bytesRead;
    if (read - earlier > most) end();
  });
}
