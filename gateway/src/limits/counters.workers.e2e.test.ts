// Budgets that the workers of one machine share.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../../test/support/folder.ts';

const from = (file: string) => JSON.stringify(join(import.meta.dirname, file));

/** Two workers, then a third, consume 200 times each from a budget of 100 and count successes. */
const CLUSTER = `
import cluster from 'node:cluster';
import { once } from 'node:events';
import { serveClusterCounters } from ${from('counters.workers.ts')};
import { openCounters } from ${from('counters.open.ts')};
import { createLimiter } from ${from('limiter.ts')};

if (cluster.isPrimary) {
  await serveClusterCounters('sandbox');
  const run = async (count) => {
    const workers = Array.from({ length: count }, () => cluster.fork());
    return Promise.all(workers.map(async (worker) => {
      const exited = once(worker, 'exit');
      let allowed;
      worker.on('message', (message) => { allowed = message.allowed ?? allowed; });
      await exited;
      return allowed;
    }));
  };
  const [one, other] = await run(2);
  const [late] = await run(1);
  console.log(JSON.stringify({ one, other, late }));
} else {
  const limiter = createLimiter(await openCounters({ environment: 'sandbox' }, true, console), 60);
  const consumptions = Array.from({ length: 200 }, async (_, i) => {
    await new Promise((resolve) => setTimeout(resolve, i % 10));
    return limiter.consume('key', 'k', 1, 100);
  });
  let allowed = (await Promise.all(consumptions)).filter((verdict) => verdict.allowed).length;
  // The budget is spent. A worker that is busy when the primary's answer comes still reads it.
  const last = limiter.consume('key', 'k', 1, 100);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const end = performance.now() + 1_200;
  while (performance.now() < end);
  if ((await last).allowed) allowed += 1;
  process.send({ allowed }, () => process.exit());
}
`;

test('a budget is exact across the workers of a cluster, late ones included', async () => {
  const folder = temporaryFolder();
  const script = join(folder.path, 'cluster.mts');
  writeFileSync(script, CLUSTER);
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script], {
    timeout: 90_000,
  });
  const { one, other, late } = JSON.parse(stdout);
  expect(one + other).toBe(100);
  expect(late).toBe(0);
  folder.remove();
});
