// Load by autocannon, for machines without wrk.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { placed } from '../machine.ts';
import type { Load, LoadResult } from './load.ts';

/** Runs autocannon in a process of its own to its end. Rejects where a request failed or was refused. */
export async function autocannon(load: Load): Promise<LoadResult> {
  const run = placed(load.place, process.execPath, [
    join(import.meta.dirname, 'autocannon.mjs'),
    JSON.stringify(load),
  ]);
  const { stdout } = await promisify(execFile)(run.command, run.args);
  const { failed, ...result }: LoadResult & { failed: number } = JSON.parse(stdout);
  if (failed > 0 || result.requests === 0)
    throw new Error(`autocannon counts ${failed} failed of ${result.requests} requests`);
  return result;
}
