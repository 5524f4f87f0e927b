// What operators see: log lines, metrics, repeated lines.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LogFields } from './fields.ts';
import { describeError, jsonFields } from './log.ts';
import { createRepeated } from './repeated.ts';
import { hasSecret, withoutSecrets } from './secrets.ts';

// What a log line holds and what it must never hold, seen from outside the process.

const LOG = resolve(import.meta.dirname, 'log.ts');

test('lines are JSON with the level as a word, and all are written when the process exits', () => {
  const lines = run(
    "for (let i = 0; i < 1000; i++) log.info({ count: i, code: undefined }, 'counted');",
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

test('lines below the level are left out', () => {
  expect(run("log.debug({}, 'hidden'); log.error({}, 'shown');").map((line) => line.msg)).toEqual([
    'shown',
  ]);
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

test('lines are written when the process crashes', () => {
  expect(
    run("log.info({}, 'before'); setTimeout(() => { throw new Error('crash'); });").map(
      (line) => line.msg,
    ),
  ).toEqual(['before']);
});

test('lines are written within about a second without a flush', () => {
  expect(
    run(
      "log.info({}, 'buffered'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2500);",
    ).map((line) => line.msg),
  ).toEqual(['buffered']);
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

  test('a flush writes what is counted, once', () => {
    const { write, flush, written } = setUp();
    for (let i = 0; i < 3; i += 1) write({}, 'gone');
    written();
    flush();
    flush();
    expect(written()).toEqual([{ count: 2, message: 'gone' }]);
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
