// How much memory and time a process takes at most, for the limits of containers.
import { execFileSync } from 'node:child_process';
import { PLANNER_LIMITS } from '../../gateway/src/execute/plan.apollo.ts';

/** How long a process takes at most to finish its requests (docs/operators/running.md). */
export const CLOSING_SECONDS = 25;
/** The share of a container's memory for all heaps of V8: sockets and code are not on a heap. */
export const HEAP_PARTS = 0.7;

/** The limit of the heap with these options of node, with that of the gateway's planner. */
export function heapMegabytes(nodeOptions = '', isGateway = false): number {
  const bytes = execFileSync(
    process.execPath,
    [...nodeOptions.split(' '), '-p', 'v8.getHeapStatistics().heap_size_limit'],
    { encoding: 'utf8' },
  );
  // The thread that plans operations has a heap of its own.
  const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb } = PLANNER_LIMITS;
  const planner = isGateway ? maxOldGenerationSizeMb + maxYoungGenerationSizeMb : 0;
  return Number(bytes) / 2 ** 20 + planner;
}
