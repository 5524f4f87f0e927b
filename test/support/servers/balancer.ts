// A load balancer of HTTP, as a team has one in front of the processes of its subgraph.
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Balancer = {
  /** The URL of its /graphql. */
  url: string;
  /** Requests go to these URLs in turn from now on. */
  to(...urls: string[]): void;
  /** How often the server at this URL has answered with 200. */
  accepted(url: string): number;
  close(): void;
};

export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  let targets: string[] = [];
  const accepted = new Map<string, number>();
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn += 1;
    const { method, headers } = incoming;
    const target = targets[turn % targets.length] ?? '';
    const forwarded = request(target, { agent, method, headers });
    forwarded.on('response', (response) => {
      if (response.statusCode === 200) accepted.set(target, (accepted.get(target) ?? 0) + 1);
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Cast: a server that listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    to(...urls) {
      targets = urls;
    },
    accepted: (url) => accepted.get(url) ?? 0,
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
