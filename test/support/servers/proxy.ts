// A TCP proxy in front of a server, which a test can freeze or disconnect as a network does.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type TcpProxy = {
  /** The server's URL with the proxy's address. */
  url: string;
  /** Keeps connections open but forwards nothing. */
  freeze(): void;
  /** Closes the next connection that forwards `text`, once its server has replied. */
  loseReply(text: string): void;
  /** Closes connections and refuses new ones. */
  disconnect(): Promise<void>;
  /** Forwards again, what was frozen included, and accepts connections again. */
  restore(): Promise<void>;
  close(): Promise<void>;
};

/** Starts a proxy to the server of a URL such as mongodb://127.0.0.1:27017/name. */
export async function startProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let frozen = false;
  let lost: string | undefined;
  const server = createServer((near) => {
    // It may have been accepted before the server was closed.
    if (!server.listening) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    let isLosing = false;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (bytes) => {
        if (isLosing) near.destroy();
        else other.write(bytes);
        if (lost === undefined || socket === far || !bytes.includes(lost)) return;
        [isLosing, lost] = [true, undefined];
      });
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.on('error', () => undefined);
      if (frozen) socket.pause();
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const disconnect = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  // Cast: a server that listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo;
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  // Otherwise the driver would connect to the address that the server reports, past the proxy.
  url.searchParams.set('directConnection', 'true');
  return {
    url: url.href,
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    loseReply(text) {
      lost = text;
    },
    disconnect,
    async restore() {
      frozen = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) await listen(port);
    },
    close: disconnect,
  };
}
