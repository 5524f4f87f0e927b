// What a log line holds and what it must never hold, seen from outside the process that writes it.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describeError } from './log.ts';

const LOG = resolve(import.meta.dirname, 'log.ts');

test('lines are JSON with the level as a word, and are all there after the process ends', () => {
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

test('lines are there after a crash', () => {
  expect(
    run("log.info({}, 'before'); setTimeout(() => { throw new Error('crash'); });").map(
      (line) => line.msg,
    ),
  ).toEqual(['before']);
});

test('lines appear within about a second without being asked for', () => {
  expect(
    run(
      "log.info({}, 'buffered'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2500);",
    ).map((line) => line.msg),
  ).toEqual(['buffered']);
});

test('a process ends when asked to, also where nobody reads what it writes any more', () => {
  const script = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog('info'); setInterval(() => log.info({}, 'x'.repeat(9000)), 5);
    process.on('SIGTERM', () => { log.info({}, 'stopping'); log.flush(); process.exit(7); }); setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300);`;
  const command = `{ "${process.execPath}" --import tsx --input-type=module -e "$SCRIPT"; echo $? >&2; } | head -c 1 >/dev/null`;
  const { stderr } = spawnSync('sh', ['-c', command], {
    encoding: 'utf8',
    env: { ...process.env, SCRIPT: script },
    timeout: 20_000,
  });
  expect(stderr.trim().split('\n').at(-1)).toBe('7');
});

test('a silent log writes nothing', () => {
  expect(run("log.fatal({}, 'hidden'); log.flush();", 'silent')).toEqual([]);
});

test('an error is logged without its message, which may quote a member', () => {
  const error = new Error('dup key: { address: "ann@example.com" }\n    at ann@example.com', {
    cause: new TypeError('ann@example.com'),
  });
  const shown = describeError(Object.assign(error, { code: 11000 }));
  expect(JSON.stringify(shown)).not.toContain('ann@example.com');
  expect(shown).toMatchObject({ type: 'Error', code: 11000, cause: { type: 'TypeError' } });
  expect(JSON.stringify(shown)).toContain('log.e2e.test.ts');
});

test('what is thrown without being an error is not shown at all', () => {
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
