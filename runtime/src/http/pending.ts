// Bounds the responses that wait for their clients to read them.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../observe/log.ts';

/** How long a response may wait without its client reading any of it. */
const STALLED_MS = 15_000;
/** How many bytes of responses may wait in this process. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const CHECK_MS = 1_000;
/** After this many bytes of responses, the sockets are checked without waiting for the timer. */
const CHECK_BYTES = 8 * 1024 * 1024;

export type PendingResponses = {
  /** Notes that this many bytes of a response were written to a socket. */
  wrote(bytes: number): void;
};

type Waiting = { bytes: number; since: number };

/**
 * Watches the connections of a server. Closes those that make no progress for 15 seconds, and,
 * while more than 64 MiB wait in all, those for which the most bytes wait.
 */
export function boundPendingResponses(server: Server, log: Pick<Log, 'warn'>): PendingResponses {
  const sockets = new Map<Socket, Waiting | undefined>();
  let sinceCheck = 0;

  function close(chosen: readonly Socket[]): void {
    for (const socket of chosen) socket.destroy();
    const count = chosen.length;
    if (count > 0) log.warn({ count, reason: 'unread responses' }, 'connections closed');
  }

  // Only from a timer: within one long callback, what was just written waits for its end.
  function closeStalled(): void {
    const now = performance.now();
    const stalled: Socket[] = [];
    for (const [socket, before] of sockets) {
      const bytes = socket.writableLength;
      const since = before?.bytes === bytes ? before.since : now;
      if (bytes > 0 && now - since >= STALLED_MS) stalled.push(socket);
      else sockets.set(socket, bytes === 0 ? undefined : { bytes, since });
    }
    close(stalled);
  }

  function closeLargest(): void {
    sinceCheck = 0;
    // The largest first: a small response may only have been written a moment ago.
    const waiting = [...sockets.keys()]
      .map((socket) => ({ socket, bytes: socket.destroyed ? 0 : socket.writableLength }))
      .filter(({ bytes }) => bytes > 0)
      .sort((one, other) => other.bytes - one.bytes);
    let pendingBytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    const largest: Socket[] = [];
    for (const { socket, bytes } of waiting) {
      if (pendingBytes <= MAX_PENDING_BYTES) break;
      largest.push(socket);
      pendingBytes -= bytes;
    }
    close(largest);
  }

  server.on('connection', (socket: Socket) => {
    sockets.set(socket, undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  const timer = setInterval(() => {
    closeStalled();
    closeLargest();
  }, CHECK_MS).unref();
  server.once('close', () => clearInterval(timer));

  return {
    wrote(bytes) {
      sinceCheck += bytes;
      if (sinceCheck > CHECK_BYTES) closeLargest();
    },
  };
}
