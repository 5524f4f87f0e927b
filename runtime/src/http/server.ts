// node:http on one side, plain request and reply on the other; every answer has a request id, also those to broken HTTP.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors.ts';
import type { Log } from '../observe/log.ts';
import { createTrust } from './address.ts';
import { HEADERS } from './headers.ts';
import { errorBody, errorReply, type HttpReply, writeRawReply, writeReply } from './reply.ts';
import { type HttpRequest, NodeRequest } from './request.ts';

export type HttpServer = {
  port: number;
  /** Stops accepting, lets what runs finish, resolves when every connection is closed: after 10 seconds at most. */
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

/** How long a connection on which nothing was asked yet may do so after the draining began: what is on its way gets its answer. */
const SILENT_MS = 500;
/** How long the draining waits for requests. Our own work has deadlines far below: what is left by then waits for its client. */
const DRAINING_MS = 10_000;

/** Listens, and answers each request with what `handle` returns. A Failure it throws becomes its code's reply, anything else a 500. Rejects where the port is taken. */
export async function serveHttp(options: {
  port: number;
  host: string;
  handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>;
  /** CIDR ranges whose x-forwarded-for is believed. */
  trustedProxies: readonly string[];
  log: Log;
}): Promise<HttpServer> {
  const { handle, log } = options;
  const origin = { newId: createIds(), trusted: createTrust(options.trustedProxies) };
  let draining = false;

  async function reply(request: HttpRequest): Promise<HttpReply> {
    try {
      return await handle(request);
    } catch (error) {
      if (error instanceof ApiError) return errorReply(error.code, request.requestId);
      log.error(
        { requestId: request.requestId, method: request.method, err: error },
        'a request failed',
      );
      return errorReply('INTERNAL_SERVER_ERROR', request.requestId);
    }
  }

  async function answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    awaitsContinue: boolean,
  ): Promise<void> {
    const request = new NodeRequest(incoming, outgoing, origin, awaitsContinue);
    const { requestId } = request;
    silent.delete(incoming.socket);
    try {
      const hostless =
        incoming.headers[HEADERS.host.name] === undefined && incoming.httpVersion === '1.1';
      const made = hostless ? errorReply('BAD_REQUEST', requestId) : await reply(request);
      await writeReply(
        incoming,
        outgoing,
        made,
        requestId,
        () => draining || request.awaitsContinue,
      );
    } catch (error) {
      log.error({ requestId, err: error }, 'an answer failed');
      if (outgoing.headersSent) outgoing.destroy();
      else
        await writeReply(
          incoming,
          outgoing,
          errorReply('INTERNAL_SERVER_ERROR', requestId),
          requestId,
          () => true,
        );
    }
  }

  // A missing host header is refused above, since node:http would answer it without JSON.
  const server = createServer(
    { ...LIMITS, requireHostHeader: false },
    (incoming, outgoing) => void answer(incoming, outgoing, false),
  );
  // Connections on which nothing was asked yet; node:http takes them for busy and would wait for them without end.
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('checkContinue', (incoming, outgoing) => void answer(incoming, outgoing, true));
  // Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (incoming, outgoing) => void answer(incoming, outgoing, false));
  server.on('connect', async (incoming: IncomingMessage, socket: Duplex) => {
    const request = new NodeRequest(incoming, undefined, origin, false);
    const made = await reply(request);
    writeRawReply(
      socket,
      { ...made, body: String(typeof made.body === 'function' ? '' : made.body) },
      request.requestId,
    );
  });
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // What the client goes on sending after it was refused is broken too.
    if (refused.has(socket)) return;
    refused.add(socket);
    const requestId = origin.newId();
    if (!socket.writable || answerBegun(socket)) socket.destroy();
    else writeRawReply(socket, brokenHttpReply(error.code, requestId), requestId);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  return {
    // Cast: a server that listens on a port has an address with a port.
    port: (server.address() as AddressInfo).port,
    drain: () => {
      draining = true;
      server.close();
      setTimeout(() => {
        for (const socket of silent) socket.destroy();
      }, SILENT_MS).unref();
      setTimeout(() => server.closeAllConnections(), DRAINING_MS).unref();
      return closed;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Ids that differ over processes and servers: a random start and a count. */
function createIds(): () => string {
  const start = randomBytes(9).toString('base64url');
  let count = 0;
  return () => `${start}-${(count++).toString(36)}`;
}

/** Whether bytes of an answer are out already. Cast: node:http's own handling of client errors looks at the same field. */
function answerBegun(socket: Duplex): boolean {
  return (
    (socket as Duplex & { _httpMessage?: { _headerSent: boolean } | null })._httpMessage
      ?._headerSent ?? false
  );
}

function brokenHttpReply(
  code: string | undefined,
  requestId: string,
): HttpReply & { body: string } {
  const status =
    code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  return { status, headers: {}, body: errorBody('BAD_REQUEST', requestId) };
}
