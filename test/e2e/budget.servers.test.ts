// Budgets across processes that share a Redis: exact counts, and outages.
import { newKey } from '@partner-loyalty/gateway';
import { Redis } from 'ioredis';
import { flood } from '../support/requests/flood.ts';
import { type OwnRedis, startRedis } from '../support/servers/redis/server.ts';
import {
  type ApiRequest,
  type ApiResponse,
  type Client,
  createClient,
} from '../support/service/client.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { addKey } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

const QUERY = '{ memberByEmail(email: "both@example.com") { memberId } }';

const remaining = ({ headers }: ApiResponse) => Number(headers.get('ratelimit-remaining'));

describe('two gateways with one Redis', () => {
  let redis: OwnRedis;
  let service: DeployedService;
  let gateways: Client[];
  let adminUrls: string[];

  beforeAll(async () => {
    redis = await startRedis();
    service = await startDeployed('three processes on MongoDB and Redis', {
      RATE_LIMIT_BUDGET: '100',
      REDIS_URL: redis.url,
      TRUSTED_PROXIES: '127.0.0.1',
    });
    const second = await service.stack.addGateway();
    gateways = [service.send, createClient(second.url, service.keys.alpha)];
    adminUrls = [service.stack.gateway.adminUrl, second.adminUrl];
  });
  afterAll(async () => {
    await service.close();
    await redis.stop();
  });

  const freshKey = () => addKey(service.stack.stores.keys, 'alpha');

  test('answer exactly 100 of 400 concurrent requests', async () => {
    const statuses = await floodTogether(400, async () => ({
      query: QUERY,
      key: await freshKey(),
    }));
    expect(statuses).toEqual({ 200: 100, 429: 300 });
  });

  test('answer exactly 33 of 100 concurrent requests that cost 3 each', async () => {
    const query = '{ a: __typename b: __typename c: __typename }';
    const statuses = await floodTogether(100, async () => ({ query, key: await freshKey() }));
    expect(statuses).toEqual({ 200: 33, 429: 67 });
  });

  test('count the requests of a member together, and refused credentials too', async () => {
    let members = 0;
    const statuses = await floodTogether(200, async () => ({
      query: '{ __typename }',
      token: await service.provider.issue(`m-flood${members++}`),
    }));
    expect(statuses).toEqual({ 200: 120, 429: 80 });
    // All of them come from one address, so that a flood cannot be repeated with another budget.
    const before = await decidedAlone();
    // Not the address of the other tests, where a new key works only a moment later after this.
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const refused = await flood(gateways, 100, { query: QUERY, key: newKey('sandbox'), headers });
    const alone = (await decidedAlone()) - before;
    const { 401: unknown = 0, 429: limited = 0, ...others } = refused;
    expect([unknown + limited, others]).toEqual([100, {}]);
    expect(Math.abs(unknown - 60)).toBeLessThanOrEqual(alone);
  });

  test('name the environment in the keys of their counters', async () => {
    const client = new Redis(redis.url);
    const names = await client.keys('*');
    client.disconnect();
    expect(names.length).toBeGreaterThan(3);
    expect(names.filter((name) => !name.includes('sandbox'))).toEqual([]);
    for (const name of names) expect(name).not.toMatch(/pk_test_|@/);
  });

  test('each apply the whole budget without Redis, and share it again when Redis is back', async () => {
    const key = await freshKey();
    expect(remaining(await service.send({ query: QUERY, key }))).toBe(99);
    await redis.kill();
    const before = await decidedAlone();
    expect(await flood(gateways, 20, { query: QUERY, key })).toEqual({ 200: 20 });
    expect(await decidedAlone()).toBe(before + 20);
    const { 200: answered = 0, 429: refused = 0 } = await flood(gateways, 400, {
      query: QUERY,
      key: await freshKey(),
    });
    expect([answered, refused]).toEqual([200, 200]);
    await redis.restart();
    await sharing();
    const statuses = await floodTogether(400, async () => ({
      query: QUERY,
      key: await freshKey(),
    }));
    expect(statuses).toEqual({ 200: 100, 429: 300 });
  });

  test('answer while Redis hangs', async () => {
    redis.pause();
    try {
      expect(await flood(gateways, 20, { query: QUERY, key: await freshKey() })).toEqual({
        200: 20,
      });
    } finally {
      redis.resume();
    }
    await sharing();
  });

  /**
   * The statuses of a flood during which Redis always responded in time, as it may not on a busy
   * machine: only then do the gateways promise exact counts. Each attempt gets its own request.
   */
  async function floodTogether(
    count: number,
    nextRequest: () => Promise<ApiRequest>,
  ): Promise<Record<number, number>> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const before = await decidedAlone();
      const statuses = await flood(gateways, count, await nextRequest());
      if ((await decidedAlone()) === before) return statuses;
      await sharing();
    }
    throw new Error('Redis was late in each of 10 floods');
  }

  /** How many decisions a gateway has made without Redis. */
  async function decidedAlone(): Promise<number> {
    const metrics = await Promise.all(
      adminUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    const counts = metrics.join('\n').matchAll(/^loyalty_limit_total\{.*"insurance"\} (\d+)$/gm);
    return Array.from(counts, ([, made]) => Number(made)).reduce((sum, made) => sum + made, 0);
  }

  /** Waits until the gateways count together again. */
  async function sharing(): Promise<void> {
    await until(async () => {
      const key = await freshKey();
      const [first, second] = gateways as [Client, Client];
      const before = remaining(await first({ query: QUERY, key }));
      return (
        remaining(await second({ query: QUERY, key })) === before - 1 &&
        remaining(await first({ query: QUERY, key })) === before - 2
      );
    });
  }
});
