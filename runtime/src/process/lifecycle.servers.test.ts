// A process that starts, receives a signal and exits, seen from outside.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { bareEnv } from '../../../test/support/service/loyalty.ts';

const LOG = resolve(import.meta.dirname, '../observe/log.ts');
const FAILED_START = resolve(import.meta.dirname, 'failedstart.ts');
const EVAL = ['--import', 'tsx', '--input-type=module', '--eval'];
const LIFECYCLE = resolve(import.meta.dirname, 'lifecycle.ts');
const PRELUDE = `import { createLog } from ${JSON.stringify(LOG)};
import { runProcess } from ${JSON.stringify(LIFECYCLE)};
const print = (text) => process.stderr.write(text + '\\n');
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const open = (lifecycle, name) => lifecycle.opened(name, async () => { await later(20); print('closed ' + name + (lifecycle.draining() ? ' draining' : '')); });
const alive = setInterval(() => {}, 1000);
`;

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s closes everything in reverse order and exits with 0',
  async (signal) => {
    const { child, printed } = run(
      "open(lifecycle, 'store'); open(lifecycle, 'server'); print('started');",
    );
    await printed('started');
    child.kill(signal);
    expect(await ended(child)).toBe(0);
    expect(await printed('')).toEqual([
      'started',
      'closed server draining',
      'closed store draining',
    ]);
  },
);

test('a second signal ends the process at once', async () => {
  const { child, printed } = run(
    "lifecycle.opened('slow', () => { print('closing'); return new Promise(() => {}); }); print('started');",
  );
  await printed('started');
  child.kill('SIGTERM');
  await printed('closing');
  child.kill('SIGINT');
  expect(await ended(child)).toBe(1);
});

test('a signal that arrives twice, from the terminal and from npm, counts once', async () => {
  const { child, printed } = run(
    "lifecycle.opened('slow', async () => { print('closing'); await later(200); print('closed'); }); print('started');",
  );
  await printed('started');
  child.kill('SIGINT');
  await printed('closing');
  child.kill('SIGINT');
  expect(await ended(child)).toBe(0);
  expect(await printed('')).toEqual(['started', 'closing', 'closed']);
});

test('a resource that cannot be closed does not keep the others open', async () => {
  const { child, printed } = run(
    "open(lifecycle, 'store'); lifecycle.opened('broken', async () => { throw new Error('no'); }); print('started');",
  );
  await printed('started');
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(1);
  expect(await printed('')).toEqual(['started', 'closed store draining']);
});

const CLOSED = 'closed store draining';
const WRONG =
  "{ message: 'wrong:\\n  A must be set\\n  B is no number', name: 'MongoServerError' }";

test.each([
  ['prints why in one line', "{ message: 'the port is taken' }", 'test', ['the port is taken'], ''],
  [
    'in production logs it',
    WRONG,
    'production',
    [],
    'MongoDB: wrong: A must be set; B is no number',
  ],
  [
    'for want of a store logs it without the address',
    "{ message: 'connect 10.0.0.7', code: 'ECONNREFUSED' }",
    ...(['test', [], 'ECONNREFUSED'] as const),
  ],
])(
  'a start that fails %s, closes what it opened and exits with 1',
  async (_, error, NODE_ENV, lines, reason) => {
    const script = `open(lifecycle, 'store'); throw Object.assign(new Error(), ${error});`;
    const { child, logged, printed } = run(script, { NODE_ENV });
    expect(await ended(child)).toBe(1);
    expect(await printed('')).toEqual([...lines, CLOSED]);
    if (reason === '') expect(logged()).toBe('');
    else expect(JSON.parse(logged())).toMatchObject({ level: 'fatal', reason });
  },
);

test.each([
  ['in words', 'test', /^wrong settings:\n {2}PORT must be [^\n]+\n {2}SUBGRAPH_SECRET [^\n]+\n$/],
  [
    'as a JSON line in production',
    'production',
    /^\{"level":"fatal",[^\n]+PORT[^\n]+SUBGRAPH[^\n]+\n$/,
  ],
])('wrong settings end a process %s', (_, NODE_ENV, expected) => {
  const source = `import { settingsOrExit } from ${JSON.stringify(FAILED_START)}; settingsOrExit('gateway');`;
  const env = { ...bareEnv(), NODE_ENV, PORT: 'any', LOG_LEVEL: 'silent' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...EVAL, source], {
    encoding: 'utf8',
    env,
  });
  expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(expected)]);
});

test.each([
  "setTimeout(() => { throw new Error('oops ann@example.com'); });",
  "Promise.reject(new Error('oops ann@example.com'));",
])('an uncaught error is logged and ends the process with 1: %s', async (fault) => {
  const { child, logged } = run(`${fault} await later(100);`);
  expect(await ended(child)).toBe(1);
  expect(logged()).toContain('"level":"fatal"');
  expect(logged()).not.toContain('ann@example.com');
});

function run(script: string, env: Record<string, string> = {}) {
  const source = `${PRELUDE} await runProcess(createLog('info'), async (lifecycle) => { ${script} });`;
  const child = spawn(process.execPath, [...EVAL, source], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  const lines = () => err.split('\n').filter((line) => line !== '');
  const printed = async (line: string) => {
    while (line !== '' && !lines().includes(line)) {
      if (child.stderr.readableEnded) throw new Error(`ended without printing ${line}: ${err}`);
      await Promise.race([once(child.stderr, 'data'), once(child.stderr, 'end')]);
    }
    return lines();
  };
  return { child, printed, logged: () => out };
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close');
  return code;
}
