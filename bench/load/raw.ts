// Raw HTTP requests over plain sockets: a load generator light enough to share a core with the subgraphs.
import { connect, type Socket } from 'node:net';
import { percentile } from '../statistics.ts';

export type Drive = {
  url: string;
  /** The next request's whole text. Bodies are ASCII. */
  next: () => string;
  seconds: number;
  connections: number;
  /** Offered whether or not answers come; as fast as they come where it is left out. */
  ratePerSecond?: number;
};

export type Driven = {
  answered: number;
  failed: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** How late the generator itself was, in the 99th percentile; it is not part of the latencies. */
  lagP99Ms: number;
};

type Connection = { socket: Socket; askedAt: number; received: string };

/**
 * Sends requests for a time, one at once on each connection, and waits up to 2 s for what is left. Under an offered rate requests arrive at random
 * times (Poisson), and a latency counts from when its request was taken up, so waiting for a free connection is in it.
 */
export async function drive({
  url,
  next,
  seconds,
  connections,
  ratePerSecond,
}: Drive): Promise<Driven> {
  const { hostname, port } = new URL(url);
  const latencies: number[] = [];
  const lags: number[] = [];
  const waiting: number[] = [];
  const free: Connection[] = [];
  let failed = 0;
  let over = false;
  let busy = 0;

  const send = (connection: Connection, askedAt: number) => {
    connection.askedAt = askedAt;
    connection.received = '';
    busy++;
    connection.socket.write(next(), 'latin1');
  };
  const answered = (connection: Connection) => {
    busy--;
    latencies.push(performance.now() - connection.askedAt);
    if (
      !connection.received.startsWith('HTTP/1.1 200') ||
      connection.received.includes('"errors":')
    )
      failed++;
    if (over) return;
    const askedAt = ratePerSecond === undefined ? performance.now() : waiting.shift();
    if (askedAt === undefined) free.push(connection);
    else send(connection, askedAt);
  };

  const all = await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection: Connection = {
        socket: connect(Number(port), hostname),
        askedAt: 0,
        received: '',
      };
      connection.socket.setNoDelay(true).setEncoding('latin1');
      connection.socket.on('data', (part: string) => {
        connection.received += part;
        if (isWhole(connection.received)) answered(connection);
      });
      await new Promise((resolve, reject) =>
        connection.socket.once('connect', resolve).once('error', reject),
      );
      connection.socket.once('close', () => {
        if (over) return;
        const place = free.indexOf(connection);
        if (place !== -1) free.splice(place, 1);
        else failed++;
      });
      return connection;
    }),
  );

  const startedAt = performance.now();
  if (ratePerSecond === undefined) for (const connection of all) send(connection, startedAt);
  else {
    free.push(...all);
    let due = startedAt;
    const tick = () => {
      const now = performance.now();
      for (; due <= now; due += (-Math.log(1 - Math.random()) / ratePerSecond) * 1000) {
        lags.push(now - due);
        // The one that has been free the longest, so that none is idle until the server closes it.
        const connection = free.shift();
        if (connection === undefined) waiting.push(now);
        else send(connection, now);
      }
      if (!over) setTimeout(tick, 1);
    };
    tick();
  }
  await pause(seconds * 1000);
  over = true;
  const took = (performance.now() - startedAt) / 1000;
  const inTime = latencies.length;
  for (const patience = performance.now(); busy > 0 && performance.now() - patience < 2_000; )
    await pause(5);
  for (const { socket } of all) socket.destroy();
  const unanswered = busy + waiting.length;
  // What was never answered waited at least until now.
  latencies.push(...Array.from({ length: unanswered }, () => seconds * 1000));
  const values = Float64Array.from(latencies);
  return {
    answered: inTime,
    failed,
    seconds: took,
    p50Ms: percentile(values, 0.5),
    p99Ms: percentile(values, 0.99),
    lagP99Ms: percentile(Float64Array.from(lags), 0.99),
  };
}

// One request at once on a connection: what ends like an answer is the whole of it.
function isWhole(received: string): boolean {
  const head = received.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const [, length] = /content-length: (\d+)/i.exec(received.slice(0, head)) ?? [];
  return length === undefined
    ? received.endsWith('\r\n0\r\n\r\n')
    : received.length >= head + 4 + Number(length);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
