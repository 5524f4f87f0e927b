// Serves HTTP: node:http on the outside, plain requests and responses on the inside.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createIds } from '../ids.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { createTrust, maskedAddress } from './address.ts';
import { Connection } from './connection.ts';
import { type ConnectionLimits, createConnections } from './connections.ts';
import { createResponder, type Handle, MAX_HEADERS } from './respond.ts';
import { createShares } from './shares.ts';
import { writeRawError } from './write.ts';

export type HttpServer = {
  port: number;
  /**
   * Stops accepting, answers the requests that are running, and resolves when every connection is
   * closed, after 10 seconds at most.
   */
  drain(): Promise<void>;
  /** Closes every connection at once. */
  close(): Promise<void>;
};

const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  // Bodies are bounded by their rate.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
};

/** The limits of a port that only this service's own processes and its operators reach. */
const LIMITS_OF_CONNECTIONS = { maxConnections: 4_096, maxConnectionsPerAddress: 4_096 };
/** How long a connection that has sent no request yet may still send one during a drain. */
const UNUSED_MS = 500;
/**
 * How long a drain waits for responses. Our own work has far shorter deadlines: whatever is left
 * after this time waits for its client.
 */
const DRAIN_MS = 10_000;
/** How long a line stands for all requests whose x-forwarded-for is ignored. */
const IGNORED_MS = 60_000;

type Outgoing = ServerResponse<IncomingMessage>;

/**
 * Listens, and answers each request with what `handle` returns. If it throws an ApiError, the
 * response is the error of its code; if it throws anything else, a 500. Every response carries a
 * request ID, also to malformed HTTP. Rejects if the port is taken.
 */
export async function serveHttp(options: {
  port: number;
  host: string;
  handle: Handle;
  /** CIDR ranges of the proxies whose x-forwarded-for is trusted. */
  trustedProxies: readonly string[];
  limits?: ConnectionLimits;
  metrics?: Pick<Metrics, 'shed' | 'closed'>;
  log: Log;
}): Promise<HttpServer> {
  const { handle, limits = LIMITS_OF_CONNECTIONS, metrics, log } = options;
  const isTrusted = createTrust(options.trustedProxies);
  const shares = createShares(() => {
    metrics?.shed();
    log.outage({ reason: 'overload' }, 'a request was refused');
  });
  const server = createServer({ ...LIMITS, requireHostHeader: false });
  server.maxHeadersCount = MAX_HEADERS;
  const connections = createConnections(server, { limits, shares, metrics, log });
  const newId = createIds();
  let isDraining = false;
  const serveRequest = createResponder(handle, {
    context: { newId, trusted: isTrusted, ignored: createIgnored(log), shares },
    isDraining: () => isDraining,
    log,
  });
  const bySocket = new WeakMap<Duplex, Connection>();
  const parts = { ...shares, ...connections, isTrusted, serve: serveRequest };
  server.on('connection', (socket) => {
    shares.accepted();
    const connection = new Connection(socket, parts);
    bySocket.set(socket, connection);
    connections.add(connection);
  });
  const received = (awaitsContinue: boolean) => (incoming: IncomingMessage, outgoing: Outgoing) =>
    bySocket.get(incoming.socket)?.begin({ incoming, outgoing, awaitsContinue });
  server.on('request', received(false));
  server.on('checkContinue', received(true));
  // Any other expectation may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', received(false));
  server.on('connect', (_incoming, socket) => {
    bySocket.get(socket)?.stop();
    writeRawError(socket, 'METHOD_NOT_ALLOWED', 405, newId());
  });
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = bySocket.get(socket);
    connection?.stop();
    // Whatever the client sends after a refusal is malformed too.
    if (refused.has(socket)) return;
    refused.add(socket);
    if (!socket.writable || connection?.serving?.headersSent) socket.destroy();
    else writeRawError(socket, 'BAD_REQUEST', statusOf(error.code), newId());
  });
  await listen(server, options);
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  return {
    // Cast: the address of a server that listens on a port is an AddressInfo.
    port: (server.address() as AddressInfo).port,
    drain: () => {
      isDraining = true;
      server.close();
      // node:http considers connections without a request busy and would wait for them forever.
      setTimeout(() => {
        for (const connection of connections.all())
          if (connection.isUnused) connection.socket.destroy();
      }, UNUSED_MS).unref();
      setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
      return closed;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Without its proxy in TRUSTED_PROXIES, a service takes all callers for one client. */
function createIgnored(log: Pick<Log, 'warn'>): (sender: string) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (sender) => {
    if (performance.now() - saidAt < IGNORED_MS) return;
    saidAt = performance.now();
    const fields = { clientAddress: maskedAddress(sender) };
    log.warn(fields, 'x-forwarded-for is ignored: TRUSTED_PROXIES does not have its sender');
  };
}

function listen(server: Server, { port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function statusOf(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}
