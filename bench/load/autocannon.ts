// Load by autocannon, for machines without wrk.
import { join } from 'node:path';
import { runGenerator } from './generator.ts';
import type { ListLoad, Load, LoadResult } from './load.ts';

const SCRIPT = join(import.meta.dirname, 'autocannon.mjs');

/** Runs autocannon in a separate process. Rejects if a request fails or its status is an error. */
export async function autocannon(load: Load | ListLoad): Promise<LoadResult> {
  const { failed, ...result } = await runGenerator<LoadResult & { failed: number }>(
    load.cores,
    SCRIPT,
    load,
  );
  if (failed > 0 || result.requests === 0)
    throw new Error(`autocannon reports ${failed} of ${result.requests} requests as failed`);
  return result;
}
