// The options in node.env take effect, and every start of the service uses them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

function evaluated(expression: string, flag: string): string {
  return execFileSync(process.execPath, [flag, '-p', expression], {
    cwd: ROOT,
    encoding: 'utf8',
    env: {},
  });
}

test('node.env sets the size of the young generation, which the limit of the heap includes', () => {
  const heapLimit = (flag: string) => evaluated('v8.getHeapStatistics().heap_size_limit', flag);
  expect(heapLimit('--env-file=node.env')).toBe(heapLimit('--max-semi-space-size=64'));
  expect(heapLimit('--env-file=node.env')).not.toBe(heapLimit('--max-semi-space-size=16'));
});

test('node.env sets the number of threads of V8 to that of the other cores', () => {
  const threads = (flag: string) =>
    Number(evaluated("fs.readdirSync('/proc/self/task').length", flag));
  const cores = availableParallelism();
  const others = Math.max(cores - 1, 1);
  expect(threads('--env-file=node.env')).toBe(threads(`--v8-pool-size=${others}`));
  expect(threads('--env-file=node.env')).not.toBe(threads(`--v8-pool-size=${others + 1}`));
});

test.each(['.', 'gateway', 'subgraphs/members', 'subgraphs/standings'])(
  'npm start in %s uses node.env, and replaces its shell so that signals reach node',
  (folder) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const [, file = '', launcher = ''] =
      /^exec node --env-file=(\S+) (\S+) \S+$/.exec(manifest.scripts.start) ?? [];
    expect(resolve(ROOT, folder, file)).toBe(join(ROOT, 'node.env'));
    expect(resolve(ROOT, folder, launcher)).toBe(join(ROOT, 'runtime/run.js'));
  },
);
