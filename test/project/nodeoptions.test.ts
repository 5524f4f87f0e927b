// The options in node.env take effect, and every start of the service uses them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

test('node.env sets the size of the young generation, which the limit of the heap includes', () => {
  const heapLimit = (flag: string) =>
    execFileSync(process.execPath, [flag, '-p', 'v8.getHeapStatistics().heap_size_limit'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: {},
    });
  expect(heapLimit('--env-file=node.env')).toBe(heapLimit('--max-semi-space-size=64'));
  expect(heapLimit('--env-file=node.env')).not.toBe(heapLimit('--max-semi-space-size=16'));
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
