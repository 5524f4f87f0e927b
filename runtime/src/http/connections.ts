// A server's connections: how many there may be, and how they end without losing requests.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressBlock, type createTrust, parseAddress } from './address.ts';

export type ConnectionLimits = {
  maxConnections: number;
  maxConnectionsPerAddress: number;
};

/**
 * Closes connections beyond the limits as soon as they are accepted. All addresses of an IPv6 /64
 * count as one. Trusted proxies are exempt from the limit for each address.
 */
export function boundConnections(
  server: Server,
  { maxConnections, maxConnectionsPerAddress }: ConnectionLimits,
  isTrusted: ReturnType<typeof createTrust>,
): void {
  const counts = new Map<string, number>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    const address = addressBlock(socket.remoteAddress ?? '');
    const parsed = parseAddress(socket.remoteAddress ?? '');
    const exempt = parsed !== undefined && isTrusted(parsed);
    const count = counts.get(address) ?? 0;
    if (total >= maxConnections || (!exempt && count >= maxConnectionsPerAddress)) {
      socket.destroy();
      return;
    }
    total += 1;
    counts.set(address, count + 1);
    socket.once('close', () => {
      total -= 1;
      const left = (counts.get(address) ?? 1) - 1;
      if (left === 0) counts.delete(address);
      else counts.set(address, left);
    });
  });
}

/** How long a connection that has sent no request yet may still send one. */
const UNUSED_MS = 500;
/**
 * How long a drain waits for responses. Our own work has far shorter deadlines: whatever is left
 * after this time waits for its client.
 */
const DRAIN_MS = 10_000;

export type Drain = {
  /** Whether the drain has begun. */
  begun(): boolean;
  /** Notes that a connection has sent a request. */
  used(socket: Socket): void;
  /** Stops accepting, and closes what is still open after 10 seconds. */
  begin(): void;
};

/** Prepares a server for draining; create it before the server listens. */
export function createDrain(server: Server): Drain {
  let begun = false;
  // node:http considers connections without a request busy and would wait for them forever.
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  return {
    begun: () => begun,
    used: (socket) => void unused.delete(socket),
    begin: () => {
      begun = true;
      server.close();
      setTimeout(() => {
        for (const socket of unused) socket.destroy();
      }, UNUSED_MS).unref();
      setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
    },
  };
}
