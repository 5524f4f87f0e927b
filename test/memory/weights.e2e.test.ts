// Caches say at least what they keep, measured on the heap of a process of its own.
import { join } from 'node:path';
import { run } from '../support/servers/process.ts';

/** The heap varies by this much for reasons of its own. */
const SLACK_BYTES = 400 * 1024;

type Weight = { kept: number; said: number };
type Line = { kind: string } & Record<'documents' | 'plans' | 'once' | 'compiled', Weight>;

test('no hostile document takes more memory than its cache says', async () => {
  const script = join(import.meta.dirname, 'weigh.ts');
  const output = await run('node', ['--expose-gc', '--import', 'tsx', script]);
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
