// Sends raw HTTP requests over plain sockets: light enough to share a core with the subgraphs.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export type RawLoad = {
  url: string;
  /** Returns the full text of the next request, in ASCII. */
  next: () => string;
  seconds: number;
  connections: number;
  /** The addresses that the connections come from, in turn. */
  addresses?: string[];
  /** The rate to offer. Without it, each request is sent as soon as a connection is free. */
  ratePerSecond?: number;
};

export type RawResult = {
  answered: number;
  failed: number;
  seconds: number;
  /** The latencies of each request except the first of each connection, which is slower. */
  latenciesMs: number[];
  p50Ms: number;
  p99Ms: number;
  /** How late the generator itself was, as a 99th percentile. Latencies do not include it. */
  lagP99Ms: number;
};

type Connection = { socket: Socket; startedAt: number; received: string; isNew: boolean };

type Session = {
  load: RawLoad;
  answered: number;
  latencies: number[];
  lags: number[];
  /** When each request that no connection was free for became due. */
  queue: number[];
  idle: Connection[];
  pending: number;
  failed: number;
  over: boolean;
};

const LAST_ANSWERS_MS = 2_000;

/**
 * Sends requests for a time, one at a time on each connection, and then waits up to 2 s for pending
 * answers. With a rate, requests arrive at random times (Poisson), and latencies include the wait
 * for a free connection.
 */
export async function sendRaw(load: RawLoad): Promise<RawResult> {
  const session: Session = {
    load,
    answered: 0,
    latencies: [],
    lags: [],
    queue: [],
    idle: [],
    pending: 0,
    failed: 0,
    over: false,
  };
  const connections = await Promise.all(
    Array.from({ length: load.connections }, (_, n) => openConnection(session, n)),
  );
  const startedAt = performance.now();
  if (load.ratePerSecond === undefined) {
    for (const connection of connections) send(session, connection, startedAt);
  } else {
    session.idle.push(...connections);
    offerFrom(session, load.ratePerSecond, startedAt);
  }
  await pause(load.seconds * 1_000);
  session.over = true;
  const seconds = (performance.now() - startedAt) / 1_000;
  const { answered } = session;
  const deadline = performance.now() + LAST_ANSWERS_MS;
  while (session.pending > 0 && performance.now() < deadline) await pause(5);
  for (const { socket } of connections) socket.destroy();
  return { answered, seconds, ...summaryOf(session) };
}

async function openConnection(session: Session, number: number): Promise<Connection> {
  const { url, addresses = [] } = session.load;
  const { hostname: host, port } = new URL(url);
  const localAddress = addresses[number % addresses.length];
  const socket = connect({ host, port: Number(port), ...(localAddress && { localAddress }) });
  const connection: Connection = { socket, startedAt: 0, received: '', isNew: true };
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('data', (part: string) => {
    connection.received += part;
    if (isComplete(connection.received)) receive(session, connection);
  });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.once('close', () => {
    if (session.over) return;
    const index = session.idle.indexOf(connection);
    if (index !== -1) session.idle.splice(index, 1);
    else session.failed++;
  });
  return connection;
}

function send(session: Session, connection: Connection, startedAt: number): void {
  connection.startedAt = startedAt;
  connection.received = '';
  session.pending++;
  connection.socket.write(session.load.next(), 'latin1');
}

function receive(session: Session, connection: Connection): void {
  const { received } = connection;
  session.pending--;
  session.answered++;
  if (!connection.isNew) session.latencies.push(performance.now() - connection.startedAt);
  connection.isNew = false;
  if (!received.startsWith('HTTP/1.1 200') || received.includes('"errors":')) session.failed++;
  if (session.over) return;
  const saturates = session.load.ratePerSecond === undefined;
  const startedAt = saturates ? performance.now() : session.queue.shift();
  if (startedAt === undefined) session.idle.push(connection);
  else send(session, connection, startedAt);
}

function offerFrom(session: Session, ratePerSecond: number, startedAt: number): void {
  let due = startedAt;
  const tick = () => {
    const now = performance.now();
    for (; due <= now; due += (-Math.log(1 - Math.random()) / ratePerSecond) * 1_000) {
      session.lags.push(now - due);
      // The longest idle one first, so that none is idle until the server closes it.
      const connection = session.idle.shift();
      if (connection === undefined) session.queue.push(now);
      else send(session, connection, now);
    }
    if (!session.over) setTimeout(tick, 1);
  };
  tick();
}

function summaryOf({ load, latencies, lags, queue, pending, failed }: Session) {
  // Requests without an answer took at least the whole time of the load.
  const unanswered = Array.from({ length: pending + queue.length }, () => load.seconds * 1_000);
  const latenciesMs = [...latencies, ...unanswered];
  const [p50Ms, p99Ms] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)];
  return { failed, latenciesMs, p50Ms, p99Ms, lagP99Ms: percentile(lags, 0.99) };
}

// A connection carries one request at a time, so whatever ends like an answer is all of it.
function isComplete(received: string): boolean {
  const head = received.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const [, length] = /content-length: (\d+)/i.exec(received.slice(0, head)) ?? [];
  return length === undefined
    ? received.endsWith('\r\n0\r\n\r\n')
    : received.length >= head + 4 + Number(length);
}

/** The value below which `share` of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const index = Math.min(values.length - 1, Math.floor(values.length * share));
  return Float64Array.from(values).sort()[index] ?? Number.NaN;
}
