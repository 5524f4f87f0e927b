// What processes hold: after updates of the graph, and of hostile documents in caches.
import { join } from 'node:path';
import { run } from '../support/servers/process.ts';

/** For 40 updates. V8 itself takes half of it. */
const UPDATES_SLACK_BYTES = 1.3 * 1024 * 1024;

test('updates of the graph leave heap, caches and sockets as they were', async () => {
  const script = join(import.meta.dirname, 'updates.ts');
  const output = await run('node', ['--expose-gc', '--import', 'tsx', script]);
  const [first, last] = output
    .trim()
    .split('\n')
    .map((line): { heapUsed: number; cached: number; sockets: number } => JSON.parse(line));
  if (first === undefined || last === undefined) throw new Error(`it printed ${output}`);
  expect(last.heapUsed - first.heapUsed).toBeLessThan(UPDATES_SLACK_BYTES);
  expect(last.cached).toBe(first.cached);
  expect(last.sockets).toBeLessThanOrEqual(first.sockets);
}, 600_000);

/** The heap varies by this much for reasons of its own. */
const SLACK_BYTES = 400 * 1024;

type Weight = { kept: number; said: number };
type Line = { kind: string } & Record<'documents' | 'plans' | 'operations', Weight>;

test('no hostile document takes more memory than its cache says', async () => {
  const script = join(import.meta.dirname, 'weigh.ts');
  const output = await run('node', ['--expose-gc', '--import', 'tsx', script, `${SLACK_BYTES}`]);
  const lines: Line[] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.length).toBeGreaterThan(10);
  const heavier = lines.slice(1).flatMap(({ kind, ...weights }) =>
    Object.entries(weights)
      .filter(([, { kept, said }]) => kept > said + SLACK_BYTES)
      .map(([cache, weight]) => ({ kind, cache, ...weight })),
  );
  expect(heavier).toEqual([]);
}, 600_000);
