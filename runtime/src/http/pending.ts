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

  function check(): void {
    sinceCheck = 0;
    const now = performance.now();
    const waiting: { socket: Socket; bytes: number; since: number }[] = [];
    for (const [socket, before] of sockets) {
      const bytes = socket.writableLength;
      if (bytes === 0) {
        if (before !== undefined) sockets.set(socket, undefined);
        continue;
      }
      const since = before?.bytes === bytes ? before.since : now;
      sockets.set(socket, { bytes, since });
      waiting.push({ socket, bytes, since });
    }
    closeStalled(waiting, now);
  }

  function closeStalled(
    waiting: { socket: Socket; bytes: number; since: number }[],
    now: number,
  ): void {
    const stalled = waiting.filter(({ since }) => now - since >= STALLED_MS);
    const rest = waiting.filter(({ since }) => now - since < STALLED_MS);
    let pendingBytes = rest.reduce((sum, { bytes }) => sum + bytes, 0);
    // The largest first: a small response may only have been written a moment ago.
    for (const largest of rest.sort((one, other) => other.bytes - one.bytes)) {
      if (pendingBytes <= MAX_PENDING_BYTES) break;
      stalled.push(largest);
      pendingBytes -= largest.bytes;
    }
    for (const { socket } of stalled) socket.destroy();
    const count = stalled.length;
    if (count > 0) log.warn({ count, reason: 'unread responses' }, 'connections closed');
  }

  server.on('connection', (socket: Socket) => {
    sockets.set(socket, undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  const timer = setInterval(check, CHECK_MS).unref();
  server.once('close', () => clearInterval(timer));

  return {
    wrote(bytes) {
      sinceCheck += bytes;
      if (sinceCheck > CHECK_BYTES) check();
    },
  };
}
