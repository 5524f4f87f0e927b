// A wire to a server that a test can hold still or cut, as a network does.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Wire = {
  /** The server's address, over this wire. */
  url: string;
  /** Connections stay open and carry nothing. */
  hold(): void;
  /** Connections end, and new ones are refused. */
  cut(): Promise<void>;
  /** Carries again what was held; what was cut may be connected again. */
  mend(): Promise<void>;
  close(): Promise<void>;
};

/** Lays a wire to the server of an address such as mongodb://127.0.0.1:27017/name. */
export async function layWire(address: string): Promise<Wire> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let held = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (bytes) => other.write(bytes));
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.on('error', () => undefined);
      if (held) socket.pause();
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  // Cast: a server that listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo;
  const url = new URL(address);
  url.host = `127.0.0.1:${port}`;
  // What the server says of its own address would lead around the wire.
  url.searchParams.set('directConnection', 'true');
  return {
    url: url.href,
    hold() {
      held = true;
      for (const socket of sockets) socket.pause();
    },
    cut,
    async mend() {
      held = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) await listen(port);
    },
    close: cut,
  };
}
