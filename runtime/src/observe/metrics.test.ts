// What /metrics contains after observations, and which names get series of their own.

import { createLabels } from './labels.ts';
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

test('a name that becomes known starts a series of its own, and the others go on', async () => {
  const metrics = createMetrics();
  for (let n = 0; n < 150; n += 1) metrics.executed('partner', 'FindMember', 1);
  metrics.executed('member', undefined, 1);
  const text = await metrics.text();
  const count = (labels: string) => `loyalty_operation_duration_seconds_count{${labels}}`;
  expect(text).toContain(`${count('surface="partner",operation="other"')} 99\n`);
  expect(text).toContain(`${count('surface="partner",operation="FindMember"')} 51\n`);
  expect(text).toContain(`${count('surface="member",operation="other"')} 1\n`);
});

test('partners beyond the first 300 share a series', async () => {
  const metrics = createMetrics();
  for (let n = 0; n < 310; n += 1) metrics.partner(`p${n}`, 'OK');
  metrics.partner(undefined, 'UNAUTHENTICATED');
  // The ID of a partner is what an operator chose.
  metrics.partner('none', 'OK');
  const text = await metrics.text();
  expect(text).toContain('loyalty_partner_requests_total{partner="p299",code="OK"} 1\n');
  expect(text).toContain('loyalty_partner_requests_total{partner="other",code="OK"} 11\n');
  expect(text).toContain('{partner="none",code="UNAUTHENTICATED"} 1\n');
  expect(text).not.toContain('{partner="none",code="OK"}');
});

test('partners share the series of limited mail as they share those of requests', async () => {
  const metrics = createMetrics();
  for (let n = 0; n < 300; n += 1) metrics.partner(`p${n}`, 'OK');
  for (const partnerId of ['p299', 'p300', 'p301']) metrics.mailLimited(partnerId);
  const text = await metrics.text();
  expect(text).toContain('loyalty_mail_limited_total{partner="p299"} 1\n');
  expect(text).toContain('loyalty_mail_limited_total{partner="other"} 2\n');
});

test('a gauge is read when metrics are', async () => {
  const metrics = createMetrics();
  let bytes = 100;
  metrics.dependencyUp(async () => [[{ dependency: 'keys' }, 1]]);
  metrics.dependencyUp(() => [[{ dependency: 'members' }, 0]]);
  metrics.cacheBytes(() => [[{}, bytes]]);
  bytes = 200;
  const text = await metrics.text();
  expect(text).toContain('dependency_up{dependency="keys"} 1\n');
  expect(text).toContain('dependency_up{dependency="members"} 0\n');
  expect(text).toContain('loyalty_cache_bytes 200\n');
  expect(text).toMatch(/loyalty_build_info\{version="[\d.]+",node="v[\d.]+"\} 1\n/);
});

test('two registries share nothing', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.keyCache('hit');
  expect(await other.text()).not.toContain('outcome="hit"');
});

test('a name is a label from the use on that makes it known, and for good', () => {
  const labelOf = createLabels(2, 3);
  expect(['a', 'a', 'a', 'a'].map(labelOf)).toEqual(['other', 'other', 'a', 'a']);
  expect(['b', 'b', 'b', 'c', 'c', 'c', 'c', 'a'].map(labelOf)).toEqual([
    'other',
    'other',
    'b',
    'other',
    'other',
    'other',
    'other',
    'a',
  ]);
  expect(labelOf(undefined)).toBe('other');
});

test('a flood of names neither becomes known nor keeps a busy name from it', () => {
  const labelOf = createLabels(50, 100);
  const ofFlood = new Set<string>();
  for (let n = 0; n < 100; n += 1) {
    labelOf('busy');
    for (let flood = 0; flood < 900; flood += 1) ofFlood.add(labelOf(`${n}.${flood}`));
  }
  expect([...ofFlood]).toEqual(['other']);
  expect(labelOf('busy')).toBe('busy');
});
