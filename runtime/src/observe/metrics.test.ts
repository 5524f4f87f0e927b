// What /metrics contains after observations, and which names get series of their own.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLabels } from './labels.ts';
import { createMetrics, METRICS } from './metrics.ts';

afterEach(() => jest.useRealTimers());

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

test('every metric exists from the start, at 0 if it has no partner and its labels are known', async () => {
  const text = await createMetrics().text();
  for (const { name, type, labels } of Object.values(METRICS)) {
    expect(text).toContain(`# TYPE ${name} ${type}\n`);
    const values = [...text.matchAll(new RegExp(`^${name}(?:_count)?(?:\\{.*\\})? (.+)$`, 'gm'))];
    const begins = type !== 'gauge' && !(labels as readonly string[]).includes('partner');
    if (begins)
      expect([name, new Set(values.map(([, value]) => value))]).toEqual([name, new Set(['0'])]);
    else if (name !== 'loyalty_build_info') expect([name, values]).toEqual([name, []]);
  }
  for (const series of [
    'loyalty_request_duration_seconds_count{status="200",code="OK"}',
    'loyalty_request_duration_seconds_count{status="503",code="SERVICE_UNAVAILABLE"}',
    'loyalty_operation_duration_seconds_count{surface="member",operation="other"}',
    'loyalty_subgraph_duration_seconds_bucket{le="+Inf",subgraph="standings",outcome="timeout"}',
    'loyalty_mail_total{letter="invitation",outcome="failed"}',
  ])
    expect(text).toContain(`${series} 0\n`);
});

/** What metrics count of operations with a name, or with `other`. */
const operations = (text: string, surface: string, operation: string) =>
  Number(
    text.match(
      `loyalty_operation_duration_seconds_count{surface="${surface}",operation="${operation}"} (\\d+)`,
    )?.[1] ?? 0,
  );

test('a name that becomes known starts a series of its own, and the others go on', async () => {
  const metrics = createMetrics();
  for (let n = 0; n < 150; n += 1) metrics.executed('partner', 'inn', 'FindMember', 1);
  metrics.executed('member', undefined, undefined, 1);
  const text = await metrics.text();
  expect(operations(text, 'partner', 'other')).toBe(99);
  expect(operations(text, 'partner', 'FindMember')).toBe(51);
  expect(operations(text, 'member', 'other')).toBe(1);
});

test('a partner that uses thousands of names takes ten series, and none of those of others', async () => {
  const metrics = createMetrics();
  const use = (partnerId: string | undefined, name: string, uses: number) => {
    metrics.partner(partnerId, 'OK');
    for (let n = 0; n < uses; n += 1)
      metrics.executed(partnerId === undefined ? 'member' : 'partner', partnerId, name, 1);
  };
  for (let n = 0; n < 60; n += 1) {
    use('flood', `Flood${n}`, 100);
    // Members whose tokens no partner holds are one owner.
    use(undefined, `Member${n}`, 100);
  }
  use('inn', 'FindMember', 100);
  use('spa', 'FindMember', 100);
  const text = await metrics.text();
  expect([...text.matchAll(/^loyalty_operation_duration_seconds_count.*"Flood/gm)]).toHaveLength(
    10,
  );
  expect([...text.matchAll(/^loyalty_operation_duration_seconds_count.*"Member/gm)]).toHaveLength(
    10,
  );
  // Both use the same series, from their own hundredth use on.
  expect(operations(text, 'partner', 'FindMember')).toBe(2);
});

test('names of partners beyond the first 300 are counted together', async () => {
  const metrics = createMetrics();
  for (let n = 0; n < 301; n += 1) metrics.partner(`p${n}`, 'OK');
  for (let n = 0; n < 150; n += 1) {
    metrics.executed('partner', 'p299', 'Early', 1);
    metrics.executed('partner', 'p300', 'Late', 1);
  }
  const text = await metrics.text();
  expect(operations(text, 'partner', 'Early')).toBe(51);
  expect(operations(text, 'partner', 'Late')).toBe(0);
  expect(operations(text, 'partner', 'other')).toBe(249);
});

test('the fullest that budgets of a partner were is shown for a minute or two', async () => {
  jest.useFakeTimers({ now: 0, doNotFake: ['nextTick'] });
  const metrics = createMetrics();
  const used = async () =>
    [...(await metrics.text()).matchAll(/^loyalty_budget_used_ratio(.*)$/gm)].map(([, one]) => one);
  expect(await used()).toEqual([]);
  metrics.budgetUsed('inn', 0.5);
  metrics.budgetUsed('inn', 0.75);
  metrics.budgetUsed('inn', 0.25);
  metrics.budgetUsed('spa', 1);
  expect(await used()).toEqual(['{partner="inn"} 0.75', '{partner="spa"} 1']);
  jest.advanceTimersByTime(60_000);
  metrics.budgetUsed('inn', 0.5);
  expect(await used()).toEqual(['{partner="inn"} 0.75', '{partner="spa"} 1']);
  jest.advanceTimersByTime(60_000);
  expect(await used()).toEqual(['{partner="inn"} 0.5']);
  jest.advanceTimersByTime(180_000);
  expect(await used()).toEqual([]);
});

test('partners beyond the first 300 share a series', async () => {
  const metrics = createMetrics();
  for (let n = 0; n < 310; n += 1) metrics.partner(`p${n}`, 'OK');
  metrics.partner(undefined, 'UNAUTHENTICATED');
  // The ID of a partner is what an operator chose.
  metrics.partner('none', 'OK');
  for (let n = 0; n < 310; n += 1) metrics.budgetUsed(`p${n}`, n / 310);
  const text = await metrics.text();
  expect(text).toContain('loyalty_partner_requests_total{partner="p299",code="OK"} 1\n');
  expect(text).toContain('loyalty_partner_requests_total{partner="other",code="OK"} 11\n');
  expect(text).toContain('{partner="none",code="UNAUTHENTICATED"} 1\n');
  expect([...text.matchAll(/^loyalty_budget_used_ratio\{/gm)]).toHaveLength(301);
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
  expect(text).toMatch(
    /loyalty_build_info\{version="[\d.]+",commit="unknown",node="v[\d.]+"\} 1\n/,
  );
});

test('the build has the commit that it was made from', async () => {
  expect(await createMetrics('0123abc').text()).toContain(',commit="0123abc",node="v');
});

test('two registries share nothing', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.keyCache('hit');
  expect(await other.text()).toContain('loyalty_key_cache_total{outcome="hit"} 0\n');
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
    for (let flood = 0; flood < 90; flood += 1) ofFlood.add(labelOf(`${n}.${flood}`));
  }
  expect([...ofFlood]).toEqual(['other']);
  expect(labelOf('busy')).toBe('busy');
});

test('a name does not keep the document that it is a slice of', () => {
  const labelOf = createLabels(10, 100);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < 100; n += 1)
    labelOf(`query NameOfAnOperation${n} ${'x'.repeat(1e6)}`.slice(6, 26));
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20e6);
});
