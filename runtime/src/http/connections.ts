// A server's connections: how many there may be, which one goes for a new one, and how they end.
import type { Server } from 'node:http';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Connection } from './connection.ts';
import { Account } from './memory.ts';
import type { Shares } from './shares.ts';

export type ConnectionLimits = {
  maxConnections: number;
  maxConnectionsPerAddress: number;
};

/** How long a connection counts as one of a caller after it showed a valid credential. */
const SHOWN_MS = 60_000;
const CHECK_MS = 1_000;
/** A body begins in this time; then its bytes arrive at this rate, measured over the time. */
const BODY_BEGINS_MS = 10_000;
const RATE_MS = 5_000;
const BYTES_PER_SECOND = 1_024;
/** How long a response may wait without its client reading any of it. */
const STALLED_MS = 15_000;
/** The same while requests of the same owner wait for the memory that it takes. */
const IN_THE_WAY_MS = 5_000;

/** The progress of a body, or of a client that reads a response. */
type Progress = { bytes: number; since: number };

type Parts = {
  limits: ConnectionLimits;
  shares: Pick<Shares, 'isStarved' | 'overfull'>;
  metrics: Pick<Metrics, 'closed'> | undefined;
  log: Pick<Log, 'outage'>;
};

/** Looks after the connections of a server until it closes. */
export function createConnections(server: Server, { limits, shares, metrics, log }: Parts) {
  const all = new Set<Connection>();
  const bodies = new Map<Connection, Progress & { hasBegun: boolean }>();
  const unread = new Map<Connection, Progress>();
  const arrivingBytes = new Account();
  /** By address, the connections that are not read until the data of others is processed. */
  const resting = new Map<string, Set<Connection>>();

  function close(connection: Connection, reason: 'full' | 'unread' | 'memory'): void {
    metrics?.closed(reason);
    log.outage({ reason }, 'connections are closed');
    connection.socket.destroy();
    forget(connection);
  }

  function forget(connection: Connection): void {
    if (!all.delete(connection)) return;
    unread.delete(connection);
    bodies.delete(connection);
    countArriving(connection, 0);
    resting.get(connection.block)?.delete(connection);
    connection.stop();
  }

  /**
   * Adds a connection that was accepted. If there are too many, one of them is closed, which may be
   * the new one (docs/callers/errors.md).
   */
  function add(connection: Connection): void {
    const { block, isProxy } = connection;
    const beside = isProxy ? [] : of(block);
    const isAddressFull = !isProxy && beside.length >= limits.maxConnectionsPerAddress;
    if (isAddressFull || all.size >= limits.maxConnections) {
      const leaving = isAddressFull
        ? longestIdle(beside.filter(isUnknown))
        : (longestIdle(largestGroup([...all].filter(isUnknown), 'site')) ?? knownFor(block));
      close(leaving ?? connection, 'full');
      if (leaving === undefined) return;
    }
    all.add(connection);
    connection.socket.once('close', () => forget(connection));
    const idle = resting.get(block);
    if (idle !== undefined && !isProxy) restIn(idle, connection);
  }

  /** Without a valid credential in the last minute. */
  function isUnknown({ shownAt, isProxy }: Connection): boolean {
    return !isProxy && performance.now() - shownAt > SHOWN_MS;
  }

  /** A connection of the address with most callers', for a new one of an address that has few. */
  function knownFor(block: string): Connection | undefined {
    const known = [...all].filter((one) => !isUnknown(one));
    const callers = new Set(known.map((one) => one.block)).size;
    if (of(block).length >= limits.maxConnections / callers) return undefined;
    const idle = known.filter((one) => one.serving === undefined && !one.isProxy);
    return longestIdle(largestGroup(idle, 'block'));
  }

  const of = (block: string) => [...all].filter((one) => one.block === block);

  function countArriving(connection: Connection, bytes: number): void {
    arrivingBytes.add(connection.block, bytes - connection.countedBytes);
    connection.countedBytes = bytes;
  }

  /** It has a body that is not complete, or bytes that wait; or it had until now. */
  function arriving(connection: Connection): void {
    if (!all.has(connection)) return;
    const { block, isProxy, isSigned, body, isArriving, parsedBytes } = connection;
    countArriving(connection, connection.arrivingBytes);
    if (!isArriving || body === undefined) bodies.delete(connection);
    else if (!bodies.has(connection))
      bodies.set(connection, {
        bytes: parsedBytes,
        since: performance.now(),
        hasBegun: body.length > 0,
      });
    const hasShare = !isProxy && !isSigned;
    if (hasShare) restOrWake(connection);
    if (hasShare && arrivingBytes.partOf(block) > 1) closeLargest(of(block), 'memory');
    else if (arrivingBytes.isFull()) closeLargest(of(arrivingBytes.largest() ?? block), 'memory');
  }

  /** What is not read waits in the kernel, so that complete requests need not be closed. */
  function restOrWake(connection: Connection): void {
    const { block } = connection;
    const others = resting.get(block);
    if (arrivingBytes.partOf(block) < 0.5) {
      resting.delete(block);
      for (const one of others ?? []) one.wake();
    } else if (others === undefined) {
      const idle = new Set<Connection>();
      resting.set(block, idle);
      for (const one of of(block)) restIn(idle, one);
    } else restIn(others, connection);
  }

  function restIn(idle: Set<Connection>, connection: Connection): void {
    if (connection.isArriving) return;
    idle.add(connection);
    connection.rest();
  }

  function closeLargest(
    connections: Connection[],
    reason: 'memory' | 'unread',
    bytesOf = (one: Connection) => one.arrivingBytes,
  ): void {
    const [largest] = connections.sort((a, b) => bytesOf(b) - bytesOf(a));
    if (largest !== undefined) close(largest, reason);
  }

  function checkBodies(now: number): void {
    for (const [connection, { bytes, since, hasBegun }] of bodies) {
      const { body, parsedBytes } = connection;
      const isDue = now - since >= (hasBegun ? RATE_MS : BODY_BEGINS_MS);
      const least = hasBegun ? (BYTES_PER_SECOND * RATE_MS) / 1_000 : 1;
      if (parsedBytes - bytes < least && isDue) body?.tooSlow();
      else if (parsedBytes - bytes >= least && (isDue || !hasBegun))
        bodies.set(connection, { bytes: parsedBytes, since: now, hasBegun: true });
    }
  }

  function checkUnread(now: number): void {
    for (const [connection, { bytes, since }] of unread) {
      const left = connection.socket.writableLength;
      if (left === 0) {
        unread.delete(connection);
        // Behind a whole response, node:http sets its own timeout.
        if (connection.serving !== undefined) connection.socket.setTimeout(0);
      } else if (left !== bytes) unread.set(connection, { bytes: left, since: now });
      else if (now - since >= IN_THE_WAY_MS && shares.isStarved(connection.owner))
        close(connection, 'unread');
    }
    closeOverfull();
  }

  /** One at a time: what it takes is free when it has closed. */
  function closeOverfull(): void {
    const owner = shares.overfull();
    if (owner === undefined) return;
    const own = [...unread.keys()].filter((connection) => connection.owner === owner);
    closeLargest(own, 'unread', ({ socket }) => socket.writableLength);
  }

  const timer = setInterval(() => {
    const now = performance.now();
    checkBodies(now);
    checkUnread(now);
  }, CHECK_MS).unref();
  server.once('close', () => clearInterval(timer));
  // Node sees each part of a write that the kernel takes.
  server.on('timeout', (socket) => {
    const stalled = [...unread.keys()].find((connection) => connection.socket === socket);
    if (stalled === undefined) socket.destroy();
    else close(stalled, 'unread');
  });

  return {
    add,
    arriving,
    /** A response was written that the kernel has not taken. */
    unread(connection: Connection): void {
      if (!all.has(connection)) return;
      const { socket } = connection;
      unread.set(connection, { bytes: socket.writableLength, since: performance.now() });
      socket.setTimeout(STALLED_MS);
      closeOverfull();
    },
    all: (): Iterable<Connection> => all,
  };
}

function longestIdle(connections: Connection[]): Connection | undefined {
  return connections.sort((one, other) => one.activeAt - other.activeAt)[0];
}

/** Those of the address that has most of them. */
function largestGroup(connections: Connection[], unit: 'block' | 'site'): Connection[] {
  const groups = new Map<string, Connection[]>();
  let largest: Connection[] = [];
  for (const one of connections) {
    const group = groups.get(one[unit]) ?? [];
    groups.set(one[unit], group);
    if (group.push(one) > largest.length) largest = group;
  }
  return largest;
}
