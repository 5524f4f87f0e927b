// Ends connections that send far more than a response, in whatever part of HTTP.
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

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
    if (read - earlier > most)
      socket.destroy(Object.assign(new Error('too many bytes'), { code: 'BYTES' }));
  });
}
