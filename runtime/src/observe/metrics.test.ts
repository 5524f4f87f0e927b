// What /metrics contains after observations.
import { mergeMetrics, sumOfEnded } from './aggregate.ts';
import { createMetrics, METRICS } from './metrics.ts';

test('every metric of the table is exposed with its labels after one observation', async () => {
  const metrics = createMetrics();
  metrics.request(200, 'OK', 3);
  metrics.request(200, 'OK', 3000);
  metrics.request(429, 'RATE_LIMITED', 0.1);
  metrics.subgraphCall('members', 'timeout', 2000);
  metrics.limit('key', 'taken');
  metrics.limit('key', 'taken');
  metrics.keyCache('hit');
  metrics.documentCache('miss');
  const text = await metrics.text();
  for (const { name, type } of Object.values(METRICS))
    expect(text).toContain(`# TYPE ${name} ${type}\n`);
  expect(text).toContain(
    'loyalty_request_duration_seconds_bucket{le="0.005",status="200",code="OK"} 1\n',
  );
  expect(text).toContain(
    'loyalty_request_duration_seconds_bucket{le="2",status="200",code="OK"} 1\n',
  );
  expect(text).toContain(
    'loyalty_request_duration_seconds_bucket{le="+Inf",status="200",code="OK"} 2\n',
  );
  expect(text).toContain('loyalty_request_duration_seconds_count{status="200",code="OK"} 2\n');
  expect(text).toContain(
    'loyalty_request_duration_seconds_count{status="429",code="RATE_LIMITED"} 1\n',
  );
  expect(text).toContain(
    'loyalty_subgraph_duration_seconds_sum{subgraph="members",outcome="timeout"} 2\n',
  );
  expect(text).toContain('loyalty_limit_total{policy="key",outcome="taken"} 2\n');
  expect(text).toContain('loyalty_key_cache_total{outcome="hit"} 1\n');
  expect(text).toContain('loyalty_document_cache_total{outcome="miss"} 1\n');
  expect(text).toContain('nodejs_eventloop_lag_seconds');
});

test('two registries share nothing', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.keyCache('hit');
  expect(await other.text()).not.toContain('outcome="hit"');
});

test('the metrics of several processes add up', async () => {
  const parts = await Promise.all(
    [1, 2].map((ms) => {
      const metrics = createMetrics();
      metrics.request(200, 'OK', ms);
      return metrics.data();
    }),
  );
  expect(await mergeMetrics(JSON.parse(JSON.stringify(parts)))).toContain(
    'loyalty_request_duration_seconds_count{status="200",code="OK"} 2\n',
  );
});

test('counters and histograms of processes that ended are kept, gauges are not', async () => {
  const metrics = createMetrics();
  metrics.request(200, 'OK', 1);
  metrics.keyCache('hit');
  const parts = [await metrics.data(), await metrics.data()];
  const text = await mergeMetrics([
    await sumOfEnded(JSON.parse(JSON.stringify(parts))),
    await metrics.data(),
  ]);
  expect(text).toContain('loyalty_request_duration_seconds_count{status="200",code="OK"} 3\n');
  expect(text).toContain('loyalty_key_cache_total{outcome="hit"} 3\n');
  const versions = text.match(/^nodejs_version_info.*$/gm);
  expect(versions).toHaveLength(1);
  expect((await sumOfEnded(parts)).map(({ name }) => name)).not.toContain('nodejs_version_info');
});
