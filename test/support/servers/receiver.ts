// A receiver of webhooks on this machine, as a partner would run one.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };
/** The status of the response; it is sent once the promise resolves. */
export type Respond = (received: Received) => number | Promise<number>;

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts a receiver that answers with 204, unless `respond` says otherwise. */
export async function startReceiver(respond: Respond = () => 204) {
  const received: Received[] = [];
  const receiver = { url: '', received, respond, close: async () => {} };
  const server = createServer(async (request, response) => {
    // A sender that is killed closes its connection within a request.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const one = { path: request.url ?? '', headers: request.headers, body };
    received.push(one);
    response.writeHead(await receiver.respond(one)).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // Cast: it has a port.
  receiver.close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return receiver;
}
