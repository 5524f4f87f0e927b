// Budgets in a Redis Cluster of three nodes, and while one of them is away.
import slotOf from 'cluster-key-slot';
import { Redis } from 'ioredis';
import {
  type RedisCluster,
  startRedisCluster,
} from '../../../test/support/servers/redis/server.ts';
import { until } from '../../../test/support/until.ts';
import { openRedisCounters } from './counters.redis.ts';
import type { Counters } from './counters.ts';
import { createLimiter, type Limiter } from './limiter.ts';

type Gateway = { limiter: Limiter; counters: Counters; messages: string[]; outcomes: string[] };

const LOST = 'Redis does not respond: each process counts budgets on its own';
const FOUND = 'Redis responds again: budgets are shared';

let cluster: RedisCluster;
const opened: Counters[] = [];

beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterEach(() => {
  for (const counters of opened.splice(0)) counters.close();
});
afterAll(() => cluster.stop());

async function openGateway(url = cluster.url): Promise<Gateway> {
  const messages: string[] = [];
  const outcomes: string[] = [];
  const log = {
    recovered: ({ node }: { node?: unknown }, message: string) =>
      void messages.push(said(node, message)),
    // It is called for each consumption during an outage.
    outage: ({ node }: { node?: unknown }, message: string) => {
      if (messages.at(-1) !== said(node, message)) messages.push(said(node, message));
    },
  };
  const counters = await openRedisCounters(url, 'sandbox', log);
  opened.push(counters);
  const metrics = {
    limit: (_: string, outcome: string) => void outcomes.push(outcome),
  };
  return { limiter: createLimiter(counters, 60, metrics), counters, messages, outcomes };
}

const said = (node: unknown, message: string) =>
  node === undefined ? message : `${node}: ${message}`;

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
  const gateways = [await openGateway(), await openGateway()];
  for (const node of [0, 1, 2]) expect(await allowed(gateways, keyOn(node, 'exact'))).toBe(40);
  expect(gateways.map(({ counters }) => counters.state?.())).toEqual(['up', 'up']);
  expect(gateways.flatMap(({ messages }) => messages)).toEqual([]);
  expect(gateways.flatMap(({ outcomes }) => outcomes)).not.toContain('insurance');
});

test('a key that has moved to another node is followed, and counted once', async () => {
  const gateway = await openGateway();
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
    const gateways = [await openGateway(), await openGateway()];
    const node = cluster.nodes[1];
    const keys = [0, 1, 2].map((each) => keyOn(each, how));
    const before = keyOn(1, `${how}-before`);
    expect(await gateways[0]?.limiter.consume('key', before, 30, 40)).toMatchObject({
      allowed: true,
    });
    if (how === 'killed') await node?.kill();
    else node?.pause();
    const name = `127.0.0.1:${node?.port}`;
    for (const { limiter, messages } of gateways)
      await until(async () => {
        await limiter.consume('key', keyOn(1, `${how}-probe`), 1, 1_000_000);
        return messages.includes(`${name}: ${LOST}`);
      });

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
  const gateways = [await openGateway(), await openGateway()];
  const key = keyOn(2, 'away');
  expect(await allowed(gateways, key)).toBe(60);
  expect(gateways.map(({ messages }) => messages[0])).toEqual([LOST, LOST]);
  for (const node of cluster.nodes) await node.restart();
  for (const { counters } of gateways) await until(() => counters.state?.() === 'up');
  expect(await allowed(gateways, keyOn(2, 'back'))).toBe(40);
});
