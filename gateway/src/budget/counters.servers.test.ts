// Budgets in memory, in Redis and in a Redis Cluster, and while a server is away.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import slotOf from 'cluster-key-slot';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { redisUrl } from '../../../test/support/servers/databases.ts';
import {
  type OwnRedis,
  type RedisCluster,
  startRedis,
  startRedisCluster,
} from '../../../test/support/servers/redis/server.ts';
import { until } from '../../../test/support/until.ts';
import { openCounters } from '../stores.ts';
import { openRedisCounters } from './counters.redis.ts';
import type { Counters } from './counters.ts';
import { createLimiter, type Limiter } from './limiter.ts';

const HOUR_MS = 3_600_000;
const newSubject = () => `key_${randomBytes(8).toString('hex')}`;

describe.each(['memory', 'redis'])('a limiter that counts in %s', (engine) => {
  let counters: Counters;
  let limiter: Limiter;

  beforeAll(async () => {
    const url = engine === 'redis' ? { redisUrl: redisUrl() } : {};
    counters = await openCounters(
      { ...url, environment: 'sandbox' },
      { outage: () => {}, recovered: () => {} },
    );
    limiter = createLimiter(counters, 60);
  });

  afterAll(() => counters.close());

  test('subjects and policies are counted separately', async () => {
    const [one, other] = [newSubject(), newSubject()];
    await limiter.consume('key', one, 10, 10);
    expect(await limiter.consume('key', other, 10, 10)).toMatchObject({ allowed: true });
    expect(await limiter.consume('member', one, 10, 10)).toMatchObject({
      allowed: true,
      policy: 'member',
      windowSeconds: 60,
    });
    expect(await limiter.consume('key', one, 1, 10)).toMatchObject({ allowed: false });
  });

  test('a cost is taken if it is left, and else 1, for all of a tick as one after the other', async () => {
    const tick = fc.array(
      fc.record({ subject: fc.nat(2), cost: fc.integer({ min: 1, max: 10 }), budget: fc.nat(40) }),
      {
        maxLength: 30,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tick, { minLength: 1, maxLength: 3 }), async (ticks) => {
        const names = [newSubject(), newSubject(), newSubject()];
        const consumed = [0, 0, 0];
        for (const consumptions of ticks) {
          const verdicts = await Promise.all(
            consumptions.map(({ subject, cost, budget }) =>
              limiter.consume('key', names[subject] ?? '', cost, budget),
            ),
          );
          consumptions.forEach(({ subject, cost, budget }, i) => {
            const before = consumed[subject] ?? 0;
            const allowed = before + cost <= budget;
            const sum = before + (allowed ? cost : 1);
            consumed[subject] = sum;
            expect(verdicts[i]).toMatchObject({
              ...{ policy: 'key', allowed, limit: budget, windowSeconds: 60 },
              remaining: Math.max(0, budget - sum),
            });
            expect([58, 59, 60]).toContain(verdicts[i]?.resetSeconds);
          });
        }
      }),
      { numRuns: 30 },
    );
  });

  test('a window begins with the first consumption; its end restores the budget', async () => {
    const short = createLimiter(counters, 2);
    const subject = newSubject();
    const start = performance.now();
    let refused = 0;
    await short.consume('key', subject, 1, 1);
    while (!(await short.consume('key', subject, 1, 1)).allowed) {
      refused += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (performance.now() - start > 60_000) throw new Error('the window did not end');
    }
    expect(refused).toBeGreaterThan(0);
  });

  test('with the clock put back, no wait is longer than the window', async () => {
    const subject = newSubject();
    await limiter.consume('key', subject, 1, 1);
    const redis = engine === 'redis' ? new Redis(redisUrl()) : undefined;
    await redis?.pexpire(`loyalty:sandbox:key:${subject}`, HOUR_MS);
    if (redis === undefined) jest.spyOn(Date, 'now').mockReturnValue(Date.now() - HOUR_MS);
    for (const budget of [1, 10]) {
      const verdict = await limiter.consume('key', subject, 1, budget);
      expect(verdict).toMatchObject({ allowed: budget === 10, resetSeconds: 60 });
    }
    jest.restoreAllMocks();
    expect((await redis?.pttl(`loyalty:sandbox:key:${subject}`)) ?? 0).toBeLessThanOrEqual(60_000);
    redis?.disconnect();
  });

  test('refused credentials are counted by address, 60 in a window', async () => {
    const prefix = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}`;
    const verdicts = await Promise.all(
      Array.from({ length: 61 }, (_, i) => limiter.consumeRefusal(`${prefix}::${i}`)),
    );
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([...Array(60).fill(true), false]);
    expect(await limiter.consumeRefusal(`2001:db9:${newSubject().slice(4, 8)}:1::1`)).toMatchObject(
      { allowed: true },
    );
  });
});

type Gateway = {
  limiter: Limiter;
  counters: Counters;
  /** What it logs; a message of an outage is here once, and how often it came is in `outages`. */
  messages: string[];
  outages: string[];
  outcomes: string[];
};

const LOST = 'Redis does not respond: each process counts budgets on its own';
const FOUND = 'Redis responds again: budgets are shared';
const opened: Counters[] = [];
afterEach(() => {
  for (const counters of opened.splice(0)) counters.close();
});

async function openGateway(url: string): Promise<Gateway> {
  const messages: string[] = [];
  const outages: string[] = [];
  const outcomes: string[] = [];
  type Fields = { node?: unknown };
  const said = ({ node }: Fields, message: string) =>
    node === undefined ? message : `${node}: ${message}`;
  const log = {
    outage: (fields: Fields, message: string) => {
      outages.push(message);
      if (messages.at(-1) !== said(fields, message)) messages.push(said(fields, message));
    },
    recovered: (fields: Fields, message: string) => void messages.push(said(fields, message)),
  };
  const counters = await openRedisCounters(url, 'sandbox', log);
  opened.push(counters);
  const metrics = { limit: (_: string, outcome: string) => void outcomes.push(outcome) };
  return { limiter: createLimiter(counters, 60, metrics), counters, messages, outages, outcomes };
}

/** Consumes from one budget, one call after the other, until a message is logged. */
const consumeUntil = ({ limiter, messages }: Gateway, message: string, key = 'probe') =>
  until(async () => {
    await limiter.consume('key', key, 1, 1_000_000);
    return messages.at(-1) === message;
  });

describe('one Redis', () => {
  let server: OwnRedis;
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(() => server.stop());

  test('consumptions in a tick become one command for each 100, keyed by environment', async () => {
    const { limiter } = await openGateway(server.url);
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
    const { limiter } = await openGateway(server.url);
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
    const gateway = await openGateway(server.url);
    await gateway.limiter.consume('key', 'k', 60, 100);
    server.pause();
    await consumeUntil(gateway, LOST);
    expect(await gateway.limiter.consume('key', 'k', 30, 100)).toMatchObject({
      allowed: true,
      remaining: 10,
    });
    expect(await gateway.limiter.consume('key', 'k', 60, 100)).toMatchObject({ allowed: false });
    expect([gateway.outcomes.at(0), gateway.outcomes.at(-1)]).toEqual(['taken', 'insurance']);
    server.resume();
    await consumeUntil(gateway, FOUND);
    expect(await gateway.limiter.consume('key', 'k', 40, 100)).toMatchObject({
      allowed: true,
      remaining: 0,
    });
    expect(gateway.messages).toEqual([LOST, FOUND]);
  });

  test('a Redis that dies is detected at once and used again when it is back', async () => {
    const gateway = await openGateway(server.url);
    await gateway.limiter.consume('key', 'k', 60, 100);
    server.pause();
    const inFlight = Array.from({ length: 20 }, (_, i) =>
      gateway.limiter.consume('key', `k${i}`, 1, 10),
    );
    await server.kill();
    for (const verdict of await Promise.all(inFlight))
      expect(verdict).toMatchObject({ allowed: true, remaining: 9 });
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

  test('a Redis that responds but cannot write counts as down', async () => {
    const gateway = await openGateway(server.url);
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
    const gateway = await openGateway(
      `redis://127.0.0.1:${(middle.address() as AddressInfo).port}`,
    );
    for (const socket of sockets) socket.unpipe().pause();
    await consumeUntil(gateway, LOST);
    await consumeUntil(gateway, FOUND);
    // A busy machine may find Redis slow again.
    expect(gateway.messages.slice(0, 2)).toEqual([LOST, FOUND]);
    for (const socket of sockets) socket.destroy();
    middle.close();
  });

  test('a process busy for longer than the deadline does not report an outage', async () => {
    const gateway = await openGateway(server.url);
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
});

describe('a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  /** A key whose budget the node keeps. Its name is new in each test. */
  function keyOn(node: number, test: string): string {
    for (let number = 0; ; number++) {
      const key = `${test}-${number}`;
      if (Math.floor((slotOf(`loyalty:sandbox:key:${key}`) * 3) / 16_384) === node) return key;
    }
  }

  /** How many of 60 consumptions, by the gateways in turn, a budget of 40 allows. */
  async function allowed(gateways: Gateway[], key: string): Promise<number> {
    let count = 0;
    for (let turn = 0; turn < 60; turn++) {
      const verdict = await gateways[turn % gateways.length]?.limiter.consume('key', key, 1, 40);
      if (verdict?.allowed) count += 1;
    }
    return count;
  }

  test('budgets are exact across two gateways, whichever node keeps them', async () => {
    const gateways = [await openGateway(cluster.url), await openGateway(cluster.url)];
    for (const node of [0, 1, 2]) expect(await allowed(gateways, keyOn(node, 'exact'))).toBe(40);
    expect(gateways.map(({ counters }) => counters.state?.())).toEqual(['up', 'up']);
    expect(gateways.flatMap(({ messages }) => messages)).toEqual([]);
    expect(gateways.flatMap(({ outcomes }) => outcomes)).not.toContain('insurance');
  });

  test('a key that has moved to another node is followed, and counted once', async () => {
    const gateway = await openGateway(cluster.url);
    const key = keyOn(0, 'moved');
    const slot = slotOf(`loyalty:sandbox:key:${key}`);
    const clients = cluster.nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
    const [from, to] = clients;
    const id = String(await to?.call('CLUSTER', 'MYID'));
    for (const client of clients) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', id);
    expect(await gateway.limiter.consume('key', key, 30, 40)).toMatchObject({ remaining: 10 });
    expect(await gateway.limiter.consume('key', key, 5, 40)).toMatchObject({ remaining: 5 });
    const back = String(await from?.call('CLUSTER', 'MYID'));
    await to?.call('DEL', `loyalty:sandbox:key:${key}`);
    for (const client of clients) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', back);
    for (const client of clients) client.disconnect();
    expect(gateway.outcomes).toEqual(['taken', 'taken']);
  });

  test.each(['killed', 'hung'] as const)(
    'while a node is %s, its budgets are kept by each process, and the others exactly',
    async (how) => {
      const gateways = [await openGateway(cluster.url), await openGateway(cluster.url)];
      const node = cluster.nodes[1];
      const keys = [0, 1, 2].map((each) => keyOn(each, how));
      const before = keyOn(1, `${how}-before`);
      expect(await gateways[0]?.limiter.consume('key', before, 30, 40)).toMatchObject({
        allowed: true,
      });
      if (how === 'killed') await node?.kill();
      else node?.pause();
      const name = `127.0.0.1:${node?.port}`;
      for (const gateway of gateways)
        await consumeUntil(gateway, `${name}: ${LOST}`, keyOn(1, `${how}-probe`));

      const counted = await Promise.all(keys.map((key) => allowed(gateways, key)));
      // Each of the two takes 30 from a budget of 40 of its own.
      expect(counted).toEqual([40, 60, 40]);
      // What this process took before still counts here.
      expect(await gateways[0]?.limiter.consume('key', before, 20, 40)).toMatchObject({
        allowed: false,
      });
      expect(gateways.map(({ counters }) => counters.state?.())).toEqual(['degraded', 'degraded']);

      if (how === 'killed') await node?.restart();
      else node?.resume();
      for (const { messages, counters } of gateways)
        await until(() => messages.at(-1) === `${name}: ${FOUND}` && counters.state?.() === 'up');
      const after = [0, 1, 2].map((each) => keyOn(each, `${how}-after`));
      for (const key of after) expect(await allowed(gateways, key)).toBe(40);
      // It did not go back and forth, and no other node was taken for lost.
      for (const { messages } of gateways)
        expect(messages).toEqual([`${name}: ${LOST}`, `${name}: ${FOUND}`]);
    },
  );

  test('a gateway starts while the cluster is away, and uses it when it comes', async () => {
    for (const node of cluster.nodes) await node.kill();
    const gateways = [await openGateway(cluster.url), await openGateway(cluster.url)];
    const key = keyOn(2, 'away');
    expect(await allowed(gateways, key)).toBe(60);
    expect(gateways.map(({ messages }) => messages[0])).toEqual([LOST, LOST]);
    for (const node of cluster.nodes) await node.restart();
    for (const { counters } of gateways) await until(() => counters.state?.() === 'up');
    expect(await allowed(gateways, keyOn(2, 'back'))).toBe(40);
  });
});
