// Bounds the connections of a server, in all and for each client address.
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
