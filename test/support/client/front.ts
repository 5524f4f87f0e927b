// An HTTP server in front of the service. It fails as proxies and networks do when tests say so.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** What it does with one request in place of forwarding it. */
export type Failure =
  /** It closes the connection: before it forwards, or in place of the response. */
  | 'close'
  | 'lose the response'
  /** It never responds. */
  | 'hang'
  | { status: number; headers?: Record<string, string>; body?: string | Iterable<string> };

export type Front = {
  /** Its /graphql. */
  url: string;
  /** What to do with the next requests, first to last; after that, it forwards. */
  failures: Failure[];
  /** The body of each request that it got. */
  requests: { query: string; variables: Record<string, unknown> }[];
  close(): Promise<void>;
};

/** `target` is the service's origin. */
export async function startFront(target: string): Promise<Front> {
  const front = { failures: [] as Failure[], requests: [] as Front['requests'] };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    front.requests.push(JSON.parse(body.toString()));
    const failure = front.failures.shift();
    if (failure === 'hang') return;
    if (failure === 'close') request.socket.destroy();
    else if (failure === undefined || failure === 'lose the response') {
      const reply = await forward(target, request, body);
      if (failure === undefined) await send(response, reply);
      else request.socket.destroy();
    } else await send(response, failure);
  };
  const server = createServer((request, response) => {
    // A client may give up at any time.
    answer(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Cast: a server that listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    ...front,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Reply = Exclude<Failure, string>;

async function forward(target: string, request: IncomingMessage, body: Buffer): Promise<Reply> {
  const names = ['content-type', 'x-partner-api-key', 'authorization', 'x-request-id'];
  const headers = names.flatMap((name): [string, string][] => {
    const value = request.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const response = await fetch(`${target}/graphql`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
  const { 'content-length': _, ...kept } = Object.fromEntries(response.headers);
  return { status: response.status, headers: kept, body: await response.text() };
}

async function send(response: ServerResponse, { status, headers = {}, body = '' }: Reply) {
  response.writeHead(status, headers);
  const parts = typeof body === 'string' ? [body] : body;
  // A client may close the connection before the end.
  await pipeline(Readable.from(parts), response).catch(() => undefined);
}
