// What operators see: log lines, metrics, repeated lines.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LogFields } from './fields.ts';
import { createLabels } from './labels.ts';
import { describeError, jsonFields } from './log.ts';
import { createMetrics, METRICS } from './metrics.ts';
import { createRepeated } from './repeated.ts';
import { hasSecret, withoutSecrets } from './secrets.ts';

const LOG = resolve(import.meta.dirname, 'log.ts');

test('lines are JSON with the level as a word, and all are written when the process exits', () => {
  const lines = run(
    "log.debug({}, 'hidden'); for (let i = 0; i < 1000; i++) log.info({ count: i, code: undefined }, 'counted');",
  );
  expect(lines).toHaveLength(1000);
  expect(lines[999]).toMatchObject({
    level: 'info',
    count: 999,
    msg: 'counted',
    pid: expect.any(Number),
    time: expect.any(Number),
  });
});

test('the end of an outage comes after all that was counted of it', () => {
  const lines = run(
    "for (let i = 0; i < 3; i++) log.outage({}, 'away'); log.recovered({}, 'back');",
  );
  expect(lines.map(({ msg, count }) => [msg, count])).toEqual([
    ['away', 1],
    ['away', 2],
    ['back', undefined],
  ]);
});

test.each([
  ['when the process crashes', "setTimeout(() => { throw new Error('crash'); });"],
  [
    'within about a second without a flush',
    "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2500);",
  ],
])('lines are written %s', (_, script) => {
  expect(run(`log.info({}, 'before'); ${script}`).map(({ msg }) => msg)).toEqual(['before']);
});

test('a process whose reader is gone still ends when asked to', () => {
  const script = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog('info'); setInterval(() => log.info({}, 'x'.repeat(9000)), 5);
    process.on('SIGTERM', () => { log.info({}, 'stopping'); log.flush(); process.exit(7); }); setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300);`;
  const command = `{ "${process.execPath}" --import tsx --input-type=module -e "$SCRIPT"; echo $? >&2; } | head -c 1 >/dev/null`;
  const { stderr } = spawnSync('sh', ['-c', command], {
    encoding: 'utf8',
    env: { ...process.env, SCRIPT: script },
    timeout: 100_000,
  });
  expect(stderr.trim().split('\n').at(-1)).toBe('7');
});

test('a process whose reader does not read drops lines, and still ends when asked to', async () => {
  const script = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog('info');
    for (let i = 0; i < 20_000; i++) log.info({ count: i }, 'x'.repeat(2000)); log.flush(); process.exit(7);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  const [code] = await once(child, 'exit');
  expect(code).toBe(7);
  expect((await text(child.stdout)).length).toBeLessThan(20_000 * 1000);
});

test('a silent log writes nothing', () => {
  expect(run("log.fatal({}, 'hidden'); log.flush();", 'silent')).toEqual([]);
});

test('an error is logged without its message, which may quote a member', () => {
  const error = new Error('dup key: { address: "ann@example.com" }\n    at ann@example.com', {
    cause: new TypeError('ann@example.com'),
  });
  const described = describeError(Object.assign(error, { code: 11000 }));
  expect(JSON.stringify(described)).not.toContain('ann@example.com');
  expect(described).toMatchObject({ type: 'Error', code: 11000, cause: { type: 'TypeError' } });
  expect(JSON.stringify(described)).toContain('observe.test.ts');
});

test('fields that are made once for many lines hold no key or token either', () => {
  const key = `pk_test_${'a'.repeat(36)}`;
  expect(jsonFields({ partner: key, operation: `x${key}`, count: 1 })).toBe(
    ',"partner":"withheld","operation":"xwithheld","count":1',
  );
  expect(jsonFields({ keyId: 'key_a', partner: undefined })).toBe(',"keyId":"key_a"');
  expect(jsonFields({})).toBe('');
});

test('a key or token in any field is withheld', () => {
  const key = `pk_test_${'k'.repeat(36)}`;
  const [line] = run(
    `log.info({ requestId: 'a-${key}', reason: 'see ${key}.', err: Object.assign(new Error('x'), { name: '${key}', code: '${key}' }) }, 'used ${key}');`,
  );
  expect(line).toMatchObject({
    requestId: 'a-withheld',
    reason: 'see withheld.',
    msg: 'used withheld',
    err: { type: 'withheld', code: 'withheld' },
  });
  expect(JSON.stringify(line)).not.toContain('kkk');
});

test('a thrown value that is not an error is not logged', () => {
  expect(describeError('ann@example.com')).toEqual({ type: 'string' });
});

function run(script: string, level = 'info'): Record<string, unknown>[] {
  const source = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog('${level}'); ${script}`;
  const { stdout } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', source],
    { encoding: 'utf8' },
  );
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

// An outage in the log: one line a second, however many requests meet it.
describe('repeated', () => {
  function setUp() {
    const lines: (LogFields & { message: string })[] = [];
    const repeated = createRepeated((fields, message) => void lines.push({ ...fields, message }));
    return { lines, ...repeated, written: () => lines.splice(0) };
  }

  const REFUSED = Object.assign(new Error('ann@example.com'), { code: 'ECONNREFUSED' });

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('the first line is written at once, the next with the count of a second', () => {
    const { write, written } = setUp();
    write({ requestId: 'a', store: 'keys' }, 'gone');
    expect(written()).toEqual([{ requestId: 'a', store: 'keys', count: 1, message: 'gone' }]);
    for (const requestId of ['b', 'c', 'd']) write({ requestId, store: 'keys' }, 'gone');
    write({ requestId: 'e', store: 'keys', count: 7 }, 'gone');
    expect(written()).toEqual([]);
    jest.advanceTimersByTime(2_000);
    expect(written()).toEqual([{ requestId: 'b', store: 'keys', count: 10, message: 'gone' }]);
  });

  test('an outage of ten seconds is about ten lines, then nothing', () => {
    const { write, written } = setUp();
    for (let ms = 0; ms < 10_000; ms += 5) {
      write({ store: 'keys' }, 'gone');
      jest.advanceTimersByTime(5);
    }
    const lines = written();
    expect(lines.length).toBeLessThanOrEqual(11);
    jest.advanceTimersByTime(10_000);
    lines.push(...written());
    expect(lines.reduce((sum, { count }) => sum + Number(count), 0)).toBe(2_000);
    expect(jest.getTimerCount()).toBe(0);
    write({ store: 'keys' }, 'gone');
    expect(written()).toHaveLength(1);
  });

  test('each message, subgraph, store and reason has lines of its own', () => {
    const { write, written } = setUp();
    for (const fields of [
      { store: 'keys' },
      { store: 'graph' },
      { subgraph: 'a' },
      { reason: 'r' },
    ])
      for (const message of ['gone', 'late']) write(fields, message);
    expect(written()).toHaveLength(8);
  });

  test('an outage has its reason and no stack, and any other error its stack', () => {
    const { write, written } = setUp();
    write({ store: 'keys', err: new Error('not found', { cause: REFUSED }) }, 'gone');
    expect(written()).toEqual([
      { store: 'keys', reason: 'ECONNREFUSED', count: 1, message: 'gone' },
    ]);
    const bug = new TypeError('oops');
    write({ store: 'graph', err: bug }, 'gone');
    expect(written()).toEqual([{ store: 'graph', err: bug, count: 1, message: 'gone' }]);
  });

  test('a line names the fields of all that it stands for', () => {
    const { write, written } = setUp();
    for (const field of ['a', 'b', 'c', 'b']) write({ subgraph: 'things', field }, 'gone');
    expect(written()).toEqual([expect.objectContaining({ field: 'a', count: 1 })]);
    jest.advanceTimersByTime(2_000);
    expect(written()).toEqual([expect.objectContaining({ field: 'b, c', count: 3 })]);
  });

  test('an address has one line a second, whatever it sends, and beyond 1,000 addresses they share one', () => {
    const { write, written } = setUp();
    for (const reason of ['missing', 'unknown', 'expired'])
      write({ clientAddress: 'a', reason }, 'page');
    expect(written()).toMatchObject([{ clientAddress: 'a', reason: 'missing', count: 1 }]);
    for (let n = 0; n < 100_000; n += 1) write({ clientAddress: `${n}` }, 'page');
    const lines = written();
    expect(lines).toHaveLength(1_000);
    expect(lines.at(-1)).toEqual({ clientAddress: undefined, count: 1, message: 'page' });
    jest.advanceTimersByTime(10_000);
    lines.push(...written());
    expect(lines).toHaveLength(1_002);
    expect(lines.reduce((sum, { count }) => sum + Number(count), 0)).toBe(100_002);
    expect(jest.getTimerCount()).toBe(0);
  });
});

// What counts as a key or token in a text, and what does not.

const RANDOM = 'qZ3xT0c8Vb1Nm5Kj7Hg9Fd2Sa4Lp6WoIuYtRe_-AaBb';
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJtLWJvdGgifQ.c2lnbmF0dXJl';

const SECRETS: [string, string][] = [
  ['a partner key', `pk_test_${RANDOM.slice(0, 36)}`],
  ['a key of the other environment', `pk_live_${RANDOM.slice(0, 36)}`],
  ['a key of another kind', `mk_live_${RANDOM.slice(0, 36)}`],
  ['a key in capitals', `PK_TEST_${RANDOM.slice(0, 36).toUpperCase()}`],
  ['a key that was cut off', 'pk_test_qZ3'],
  ...['ml', 'si', 'ec', 'eu', 'co', 'in', 'st', 'Ml'].map((prefix): [string, string] => [
    `a mailed token ${prefix}_`,
    `${prefix}_${RANDOM}`,
  ]),
  ['an ID token', JWT],
  ['a part of an ID token', JWT.split('.')[0] ?? ''],
];

test.each(SECRETS)('%s is recognized wherever it stands, and taken out whole', (_, secret) => {
  for (const [before, after] of [
    ['', ''],
    ['req-', ''],
    ['trace.', '.7'],
    ['x', ''],
    ['/graphql?key=', '&a=b'],
    ['Bearer ', ' {"a":1}'],
  ] as const) {
    const text = before + secret + after;
    expect(hasSecret(text)).toBe(true);
    const rest = withoutSecrets(text);
    expect(rest.startsWith(`${before}withheld`)).toBe(true);
    expect(rest).not.toContain(secret.slice(8));
  }
});

test.each([
  'tL2d16ULX1DZ-c0',
  '3f0a6c1e-8c1b-4a59-9a7e-0f8d7c6b5a49',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '01EYJ9Z3NDEKTSV4RRFFQ69G5F',
  'checkin_2026-05-15',
  'pk_prod_1',
  '{"level":"info","requestId":"a","status":200,"code":"SERVICE_UNAVAILABLE"}',
])('%s has no secret', (text) => {
  expect(hasSecret(text)).toBe(false);
  expect(withoutSecrets(text)).toBe(text);
});

// What /metrics contains after observations, and which names get series of their own.
describe('metrics', () => {
  afterEach(() => jest.useRealTimers());

  test('what is observed is exposed with its labels, and durations in seconds', async () => {
    const metrics = createMetrics();
    metrics.request(200, 'OK', 3);
    metrics.request(200, 'OK', 3000);
    metrics.request(429, 'RATE_LIMITED', 0.1);
    metrics.subgraphCall('members', 'timeout', 2000);
    metrics.limit('key', 'taken');
    metrics.limit('key', 'taken');
    const text = await metrics.text();
    const duration = 'loyalty_request_duration_seconds';
    for (const line of [
      `${duration}_bucket{le="0.005",status="200",code="OK"} 1`,
      `${duration}_bucket{le="2",status="200",code="OK"} 1`,
      `${duration}_bucket{le="+Inf",status="200",code="OK"} 2`,
      `${duration}_count{status="429",code="RATE_LIMITED"} 1`,
      'loyalty_subgraph_duration_seconds_sum{subgraph="members",outcome="timeout"} 2',
      'loyalty_limit_total{policy="key",outcome="taken"} 2',
    ])
      expect(text).toContain(`${line}\n`);
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

  test('the fullest that budgets of a partner were is shown for a minute or two', async () => {
    jest.useFakeTimers({ now: 0, doNotFake: ['nextTick'] });
    const metrics = createMetrics();
    const used = async () =>
      [...(await metrics.text()).matchAll(/^loyalty_budget_used_ratio(.*)$/gm)].map(
        ([, one]) => one,
      );
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

  test('a gauge is read when metrics are', async () => {
    const metrics = createMetrics('0123abc');
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
      /loyalty_build_info\{version="[\d.]+",commit="0123abc",node="v[\d.]+"\} 1\n/,
    );
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
});
