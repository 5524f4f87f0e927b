// What a log line holds and what it must never hold, seen from outside the process.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describeError, jsonFields } from './log.ts';

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
  expect(JSON.stringify(described)).toContain('log.test.ts');
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
