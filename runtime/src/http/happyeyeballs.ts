// Connects to the first address of a name that answers (RFC 8305, Happy Eyeballs version 2).
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { buildConnector } from 'undici';
import { secureConnector } from './limitbytes.ts';
import type { Addresses } from './names.ts';

/** How long the addresses of the other family wait for those of the preferred one. */
const RESOLUTION_DELAY_MS = 50;
/** How long after an attempt that has not failed the next one begins. */
const ATTEMPT_DELAY_MS = 250;
/** The most addresses of each family that are tried. */
const MAX_ADDRESSES = 10;

type ConnectorOptions = {
  lookUp(hostname: string): Addresses;
  /** Whether an address may be dialled for a host, as `URL.host` has it. */
  allows(address: string, host: string | undefined): boolean;
  timeoutMs: number;
  /** Whether the servers are this service's own. */
  isTrusted?: boolean;
};

/**
 * Makes an undici connector, which dials no address that is not allowed. It fails with the code DNS
 * if a name has no address, and ADDRESS if none is allowed.
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { lookUp, allows, timeoutMs, isTrusted = false } = options;
  const secure = secureConnector(timeoutMs, isTrusted);
  return (target, callback) => {
    const { host, hostname, protocol } = target;
    const isSecure = protocol === 'https:';
    const port = Number(target.port || (isSecure ? 443 : 80));
    const lookups = isIP(hostname) === 0 ? lookUp(hostname) : [Promise.resolve([hostname])];
    const isAllowed = (address: string) => allows(address, host);
    connectFirst(port, lookups, isAllowed, timeoutMs).then(
      (socket) =>
        isSecure ? secure(target, socket, callback) : callback(null, socket.setNoDelay(true)),
      (error: Error) => callback(error, null),
    );
  };
}

async function connectFirst(
  port: number,
  lookups: readonly Promise<string[]>[],
  isAllowed: (address: string) => boolean,
  timeoutMs: number,
): Promise<Socket> {
  const families = lookups.map((): string[] => []);
  const attempts = new Set<Socket>();
  let connected: Socket | undefined;
  /** An error made in advance keeps each `this` of its stack, such as the connection before. */
  let failure: Error | undefined;
  let lookupsLeft = lookups.length;
  let wake = () => {};
  /** When the next attempt may begin, by performance.now(). */
  let nextAt = 0;
  let isOverdue = false;
  let end = () => {};
  const overdue = new Promise<void>((resolve) => {
    end = resolve;
  });
  // A signal would keep the socket until then.
  const timer = setTimeout(() => {
    isOverdue = true;
    end();
    wake();
  }, timeoutMs);

  async function add(lookup: Promise<string[]>, index: number): Promise<void> {
    const found = await lookup.catch((error: Error) => {
      failure = error;
      return [];
    });
    const allowed = found.filter(isAllowed);
    if (allowed.length < found.length) failure = failed('ADDRESS');
    families[index]?.push(...allowed.slice(0, MAX_ADDRESSES));
    lookupsLeft -= 1;
    wake();
  }

  function attempt(host: string): void {
    const socket = connect({ host, port });
    attempts.add(socket);
    socket.once('connect', () => {
      connected ??= socket;
      wake();
    });
    socket.once('error', (error) => {
      attempts.delete(socket);
      failure = error;
      nextAt = 0;
      wake();
    });
  }

  try {
    const [preferred, other] = lookups.map(add);
    await Promise.race([preferred, other?.then(() => pause(RESOLUTION_DELAY_MS)), overdue]);
    for (let turn = 0; connected === undefined; ) {
      if (isOverdue) throw failed('UND_ERR_CONNECT_TIMEOUT');
      const wait = nextAt - performance.now();
      const [family, fallback] = turn % 2 === 0 ? families : families.toReversed();
      const address = wait > 0 ? undefined : (family?.shift() ?? fallback?.shift());
      if (address !== undefined) {
        attempt(address);
        turn += 1;
        nextAt = performance.now() + ATTEMPT_DELAY_MS;
      } else if (wait <= 0 && lookupsLeft === 0 && attempts.size === 0)
        throw failure ?? failed('DNS');
      await new Promise<void>((resolve) => {
        wake = resolve;
        const left = nextAt - performance.now();
        if (left > 0) setTimeout(resolve, left).unref();
      });
    }
    return connected;
  } finally {
    clearTimeout(timer);
    for (const socket of attempts) if (socket !== connected) socket.destroy();
  }
}

function failed(code: string): Error {
  return Object.assign(new Error(code), { code });
}
