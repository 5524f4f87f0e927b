// A process that starts, is told to stop, and ends, seen from outside.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const INDEX = resolve(import.meta.dirname, '../index.ts');
const PRELUDE = `import { createLog, runProcess } from ${JSON.stringify(INDEX)};
const say = (text) => process.stderr.write(text + '\\n');
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const open = (lifecycle, name) => lifecycle.opened(name, async () => { await later(20); say('closed ' + name + (lifecycle.draining() ? ' draining' : '')); });
const alive = setInterval(() => {}, 1000);
`;

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s closes everything in reverse order and exits with 0',
  async (signal) => {
    const { child, said } = run(
      "open(lifecycle, 'store'); open(lifecycle, 'server'); say('started');",
    );
    await said('started');
    child.kill(signal);
    expect(await ended(child)).toBe(0);
    expect(await said('')).toEqual(['started', 'closed server draining', 'closed store draining']);
  },
);

test('a second signal ends it at once', async () => {
  const { child, said } = run(
    "lifecycle.opened('slow', () => { say('closing'); return new Promise(() => {}); }); say('started');",
  );
  await said('started');
  child.kill('SIGTERM');
  await said('closing');
  child.kill('SIGINT');
  expect(await ended(child)).toBe(1);
});

test('a signal that comes twice, from the terminal and from npm, counts once', async () => {
  const { child, said } = run(
    "lifecycle.opened('slow', async () => { say('closing'); await later(200); say('closed'); }); say('started');",
  );
  await said('started');
  child.kill('SIGINT');
  await said('closing');
  child.kill('SIGINT');
  expect(await ended(child)).toBe(0);
  expect(await said('')).toEqual(['started', 'closing', 'closed']);
});

test('what cannot be closed does not keep the rest open', async () => {
  const { child, said } = run(
    "open(lifecycle, 'store'); lifecycle.opened('broken', async () => { throw new Error('no'); }); say('started');",
  );
  await said('started');
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(1);
  expect(await said('')).toEqual(['started', 'closed store draining']);
});

test('a start that fails says why in one line, closes what it opened and exits with 1', async () => {
  const { child, said } = run("open(lifecycle, 'store'); throw new Error('the port is taken');");
  expect(await ended(child)).toBe(1);
  expect(await said('')).toEqual(['the port is taken', 'closed store draining']);
});

test.each([
  "setTimeout(() => { throw new Error('oops ann@example.com'); });",
  "Promise.reject(new Error('oops ann@example.com'));",
])('an error that nobody caught is logged and ends it with 1: %s', async (fault) => {
  const { child, logged } = run(`${fault} await later(100);`);
  expect(await ended(child)).toBe(1);
  expect(logged()).toContain('"level":"fatal"');
  expect(logged()).not.toContain('ann@example.com');
});

function run(script: string) {
  const source = `${PRELUDE} await runProcess(createLog('info'), async (lifecycle) => { ${script} });`;
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', source],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  const lines = () => err.split('\n').filter((line) => line !== '');
  const said = async (line: string) => {
    while (line !== '' && !lines().includes(line)) await once(child.stderr, 'data');
    return lines();
  };
  return { child, said, logged: () => out };
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close');
  return code;
}
