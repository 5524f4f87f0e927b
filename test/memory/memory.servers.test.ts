// What processes hold: after updates of the graph, and of hostile documents in caches.
import { join } from 'node:path';
import { HEAVY } from '../support/cases/heavy.ts';
import { INSPECT, inspect } from '../support/servers/inspector.ts';
import { run } from '../support/servers/process.ts';
import { startDeployed } from '../support/service/stack.ts';

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

/** Without a bound, a heap of 256 MB was full after about 250 of the heaviest kind. */
const HEAP_MB = 128;
const DOCUMENTS = 240;
/** A quarter of the heap limit, of which three semi-spaces of 16 are a part, and the code. */
const GROWTH = ((HEAP_MB + 3 * 16) / 4 + 16) * 1024 * 1024;

test('a process survives 240 hostile documents of one partner with a heap of 128 MB', async () => {
  const service = await startDeployed('one process', {
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} ${INSPECT}`,
    RATE_LIMIT_BUDGET: '1000000',
  });
  const inspector = await inspect(service.stack.gateway);
  const kinds = [HEAVY['directives on fields'], ...Object.values(HEAVY)];
  const send = async (round: number) => {
    const kind = kinds[round % 2 && (round >> 1) % kinds.length];
    for (const request of Array(2).fill(kind?.(round)))
      expect(await service.send(request)).toMatchObject({ status: 200, code: undefined });
  };
  try {
    const before = await inspector.heapUsed();
    for (let round = 0; round < DOCUMENTS; round += 8)
      await Promise.all(Array.from({ length: 8 }, (_, each) => send(round + each)));
    expect((await inspector.heapUsed()) - before).toBeLessThan(GROWTH);
  } finally {
    inspector.close();
    await service.close();
  }
}, 900_000);
