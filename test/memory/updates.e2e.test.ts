// A process holds as much after a hundred updates of the graph as after ten.
import { join } from 'node:path';
import { run } from '../support/servers/process.ts';

const SLACK_BYTES = 3 * 1024 * 1024;

test('a hundred updates leave heap, caches and sockets as they were', async () => {
  const script = join(import.meta.dirname, 'updates.ts');
  const output = await run('node', ['--expose-gc', '--import', 'tsx', script]);
  const [first, last] = output
    .trim()
    .split('\n')
    .map((line): { heapUsed: number; cached: number; sockets: number } => JSON.parse(line));
  if (first === undefined || last === undefined) throw new Error(`it printed ${output}`);
  expect(last.heapUsed - first.heapUsed).toBeLessThan(SLACK_BYTES);
  expect(last.cached).toBe(first.cached);
  expect(last.sockets).toBeLessThanOrEqual(first.sockets);
}, 600_000);
