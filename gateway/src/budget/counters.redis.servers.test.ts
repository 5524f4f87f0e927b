// Budgets in Redis, and during its outages.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { type OwnRedis, startRedis } from '../../../test/support/servers/redis/server.ts';
import { until } from '../../../test/support/until.ts';
import { openRedisCounters } from './counters.redis.ts';
import type { Counters } from './counters.ts';
import { createLimiter, type Limiter } from './limiter.ts';

let server: OwnRedis;
const opened: Counters[] = [];

beforeEach(async () => {
  server = await startRedis();
});

afterEach(async () => {
  for (const counters of opened.splice(0)) counters.close();
  await server.stop();
});

type Gateway = {
  limiter: Limiter;
  counters: Counters;
  /** What it logs; a message of an outage is here once, and how often it came is in `outages`. */
  messages: string[];
  outages: string[];
  outcomes: string[];
};

async function openGateway(url = server.url): Promise<Gateway> {
  const messages: string[] = [];
  const outages: string[] = [];
  const outcomes: string[] = [];
  const log = {
    outage: (_: object, message: string) => {
      outages.push(message);
      if (messages.at(-1) !== message) messages.push(message);
    },
    recovered: (_: object, message: string) => void messages.push(message),
  };
  const counters = await openRedisCounters(url, 'sandbox', log);
  opened.push(counters);
  const metrics = {
    limit: (policy: string, outcome: string) => void outcomes.push(`${policy} ${outcome}`),
  };
  return { limiter: createLimiter(counters, 60, metrics), counters, messages, outages, outcomes };
}

const LOST = 'Redis does not respond: each process counts budgets on its own';
const FOUND = 'Redis responds again: budgets are shared';

/** Consumes from one budget, one call after the other, until a message is logged. */
async function consumeUntil(gateway: Gateway, message: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (gateway.messages.at(-1) !== message) {
    if (performance.now() > deadline) throw new Error(`not logged: ${message}`);
    await gateway.limiter.consume('key', 'probe', 1, 1_000_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a budget is exact across two gateways with one Redis', async () => {
  const gateways = [await openGateway(), await openGateway()];
  const consumptions = Array.from({ length: 400 }, async (_, i) => {
    await new Promise((resolve) => setTimeout(resolve, i % 20));
    return gateways[i % 2]?.limiter.consume('key', 'k', 1, 100);
  });
  expect((await Promise.all(consumptions)).filter((verdict) => verdict?.allowed)).toHaveLength(100);
  expect(gateways.flatMap(({ messages }) => messages)).toEqual([]);
});

test('consumptions in a tick become one command for each 100, keyed by environment', async () => {
  const { limiter } = await openGateway();
  const redis = new Redis(server.url);
  const commands = async () => {
    const stats = await redis.info('commandstats');
    const calls = (command: string) =>
      Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    return calls('eval') + calls('evalsha');
  };
  await limiter.consume('key', 'k0', 1, 10);
  const before = await commands();
  const verdicts = await Promise.all(
    Array.from({ length: 250 }, (_, i) => limiter.consume('key', `k${i % 125}`, 1 + (i % 3), 10)),
  );
  expect((await commands()) - before).toBe(3);
  expect(verdicts.slice(1, 125).map(({ remaining }) => remaining)).toEqual(
    verdicts.slice(1, 125).map((_, i) => 10 - (1 + ((i + 1) % 3))),
  );
  expect(await redis.get('loyalty:sandbox:key:k7')).toBe('3');
  expect(await redis.pttl('loyalty:sandbox:key:k124')).toBeGreaterThan(0);
  redis.disconnect();
});

test('a count that has lost its end gets one', async () => {
  const { limiter } = await openGateway();
  const redis = new Redis(server.url);
  await redis.set('loyalty:sandbox:key:endless', 7);
  expect(await limiter.consume('key', 'endless', 1, 10)).toMatchObject({
    remaining: 2,
    resetSeconds: 60,
  });
  expect(await redis.pttl('loyalty:sandbox:key:endless')).toBeGreaterThan(0);
  redis.disconnect();
});

test('a Redis that hangs delays no request: each gateway counts alone meanwhile', async () => {
  const gateway = await openGateway();
  await gateway.limiter.consume('key', 'k', 60, 100);
  server.pause();
  await consumeUntil(gateway, LOST);
  expect(await gateway.limiter.consume('key', 'k', 30, 100)).toMatchObject({
    allowed: true,
    remaining: 10,
  });
  expect(await gateway.limiter.consume('key', 'k', 60, 100)).toMatchObject({ allowed: false });
  expect([gateway.outcomes.at(0), gateway.outcomes.at(-1)]).toEqual(['key taken', 'key insurance']);
  server.resume();
  await consumeUntil(gateway, FOUND);
  expect(await gateway.limiter.consume('key', 'k', 40, 100)).toMatchObject({
    allowed: true,
    remaining: 0,
  });
  expect(gateway.messages).toEqual([LOST, FOUND]);
});

test('a Redis that dies is detected at once and used again when it is back', async () => {
  const gateway = await openGateway();
  await gateway.limiter.consume('key', 'k', 60, 100);
  await server.kill();
  await consumeUntil(gateway, LOST);
  gateway.outages.length = 0;
  // What this gateway consumed before the outage still counts.
  expect(await gateway.limiter.consume('key', 'k', 60, 100)).toMatchObject({ allowed: false });
  expect(await gateway.limiter.consume('key', 'other', 60, 100)).toMatchObject({ allowed: true });
  expect(gateway.outages).toEqual([LOST, LOST]);
  await server.restart();
  await consumeUntil(gateway, FOUND);
  expect(await gateway.limiter.consume('key', 'k', 60, 100)).toMatchObject({
    allowed: true,
    remaining: 40,
  });
  expect(gateway.messages).toEqual([LOST, FOUND]);
});

test('a lost Redis is known without a request, and so is its return', async () => {
  const { counters } = await openGateway();
  await server.kill();
  await until(() => counters.state?.() === 'degraded');
  await server.restart();
  await until(() => counters.state?.() === 'up');
});

test('consumptions in flight when Redis dies are counted locally', async () => {
  const { limiter } = await openGateway();
  server.pause();
  const consumptions = Array.from({ length: 20 }, (_, i) => limiter.consume('key', `k${i}`, 1, 10));
  await server.kill();
  for (const verdict of await Promise.all(consumptions))
    expect(verdict).toMatchObject({ allowed: true, remaining: 9 });
});

test('a gateway starts while Redis is down and uses it when it comes up', async () => {
  await server.kill();
  const gateway = await openGateway();
  expect(gateway.messages).toEqual([LOST]);
  expect(await gateway.limiter.consume('key', 'k', 60, 100)).toMatchObject({
    allowed: true,
    remaining: 40,
  });
  await server.restart();
  await consumeUntil(gateway, FOUND);
  expect(gateway.messages).toEqual([LOST, FOUND]);
});

test('a Redis that responds but cannot write counts as down', async () => {
  const gateway = await openGateway();
  const redis = new Redis(server.url);
  await redis.replicaof('127.0.0.1', 1);
  await consumeUntil(gateway, LOST);
  expect(await gateway.limiter.consume('key', 'k', 60, 100)).toMatchObject({
    allowed: true,
    remaining: 40,
  });
  await redis.replicaof('NO', 'ONE');
  await consumeUntil(gateway, FOUND);
  expect(gateway.messages).toEqual([LOST, FOUND]);
  redis.disconnect();
});

test('a connection whose other end vanished is replaced', async () => {
  const port = Number(new URL(server.url).port);
  const sockets: Socket[] = [];
  const middle = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) sockets.push(socket.on('error', () => {}));
  });
  await once(middle.listen(0, '127.0.0.1'), 'listening');
  const gateway = await openGateway(`redis://127.0.0.1:${(middle.address() as AddressInfo).port}`);
  for (const socket of sockets) socket.unpipe().pause();
  await consumeUntil(gateway, LOST);
  await consumeUntil(gateway, FOUND);
  expect(gateway.messages).toEqual([LOST, FOUND]);
  for (const socket of sockets) socket.destroy();
  middle.close();
});

test('a process busy for longer than the deadline does not report an outage', async () => {
  const gateway = await openGateway();
  for (let i = 0; i < 5; i++) {
    const consumption = gateway.limiter.consume('key', 'k', 1, 100);
    // Let the command go out, then block the event loop so that it cannot read the response.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const end = performance.now() + 150;
    while (performance.now() < end);
    expect(await consumption).toMatchObject({ remaining: 99 - i });
  }
  expect(gateway.messages).toEqual([]);
});

test('a wrong password is an outage like any other and is not logged', async () => {
  const fields: unknown[] = [];
  const redis = new Redis(server.url);
  await redis.config('SET', 'requirepass', 'right');
  const log = { recovered: () => {}, outage: (line: object) => void fields.push(line) };
  const counters = await openRedisCounters(
    server.url.replace('redis://', 'redis://:wr0ng@'),
    'sandbox',
    log,
  );
  opened.push(counters);
  expect(await createLimiter(counters, 60).consume('key', 'k', 1, 10)).toMatchObject({
    allowed: true,
  });
  const line = { engine: 'redis', reason: 'WRONGPASS' };
  expect(fields).toEqual([line, line]);
  redis.disconnect();
});
