// Serves HTTP: node:http on the outside, plain requests and responses on the inside.

import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { createTrust } from './address.ts';
import { boundConnections, type ConnectionLimits, createDrain } from './connections.ts';
import { watchOverload } from './overload.ts';
import { boundPendingResponses } from './pending.ts';
import { createResponder, type Handle } from './respond.ts';
import { errorBody } from './response.ts';
import { writeRawResponse } from './write.ts';

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
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
};

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
  /** Set for a port that anyone may reach; requests are then refused under overload as well. */
  limits?: ConnectionLimits;
  metrics?: Pick<Metrics, 'shed'>;
  log: Log;
}): Promise<HttpServer> {
  const { handle, limits, metrics, log } = options;
  const context = { newId: createIds(), trusted: createTrust(options.trustedProxies) };
  const server = createServer({ ...LIMITS, requireHostHeader: false });
  if (limits !== undefined) boundConnections(server, limits, context.trusted);
  const drain = createDrain(server);
  const pending = boundPendingResponses(server, log);
  const overload = limits === undefined ? undefined : watchOverload();
  server.once('close', () => overload?.close());
  const responder = createResponder(handle, { context, drain, pending, overload, metrics, log });
  server.on('request', (incoming, outgoing) => responder.request(incoming, outgoing, false));
  server.on('checkContinue', (incoming, outgoing) => responder.request(incoming, outgoing, true));
  // Any other expectation may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (incoming, outgoing) =>
    responder.request(incoming, outgoing, false),
  );
  server.on('connect', responder.connect);
  server.on('clientError', createClientErrorListener(context.newId));
  await listen(server, options);
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  return {
    // Cast: the address of a server that listens on a port is an AddressInfo.
    port: (server.address() as AddressInfo).port,
    drain: () => {
      drain.begin();
      return closed;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Returns a source of IDs that are unique across processes: a random prefix and a counter. */
function createIds(): () => string {
  const prefix = randomBytes(9).toString('base64url');
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
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

/** A listener for node:http's `clientError`. */
function createClientErrorListener(
  newId: () => string,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const refused = new WeakSet<Duplex>();
  return (error, socket) => {
    // Whatever the client sends after a refusal is malformed too.
    if (refused.has(socket)) return;
    refused.add(socket);
    if (!socket.writable || responseBegun(socket)) {
      socket.destroy();
      return;
    }
    const requestId = newId();
    const body = errorBody('BAD_REQUEST', requestId);
    writeRawResponse(socket, { status: statusOf(error.code), headers: {}, body }, requestId);
  };
}

function statusOf(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

/** Whether bytes of a response are out. Cast: node:http looks at the same private field. */
function responseBegun(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as Duplex & {
    _httpMessage?: { _headerSent: boolean } | null;
  };
  return message?._headerSent ?? false;
}
