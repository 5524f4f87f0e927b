// Budgets across processes that share a Redis: exact counts, and outages.
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
