// Builds planners and plans operations, in a thread of its own.
//
// Both would block the event loop of the process for too long, and neither can be done in steps.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type Federated, openFederated } from './federated.ts';
import type { PlannerRequest, PlannerResponse } from './plan.apollo.ts';

/** About a tenth of the CPU time that the main thread gets while both want all of it. */
const PRIORITY = 10;

const planners = new Map<number, Federated>();
/** Its surfaces are as valid as it is. */
let lastValid: string | undefined;

yieldToRequests();

parentPort?.on('message', (request: PlannerRequest) => {
  const response = responseTo(request);
  if (response !== undefined) parentPort?.postMessage(response);
});

function responseTo(request: PlannerRequest): PlannerResponse | undefined {
  const { id, planner } = request;
  try {
    switch (request.kind) {
      case 'open': {
        const { supergraph, surface } = request;
        const opened = openFederated(supergraph, surface, supergraph !== lastValid);
        lastValid = supergraph;
        planners.set(planner, opened);
        return { id, opened: opened.facts };
      }
      case 'build':
        plannerOf(planner).build();
        return { id, built: true };
      case 'plan': {
        const { operation, isAbstract, isWhole } = request;
        return { id, planned: plannerOf(planner).plan(operation, isAbstract, isWhole) };
      }
      case 'close':
        planners.delete(planner);
        return undefined;
    }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

function plannerOf(planner: number): Federated {
  const opened = planners.get(planner);
  if (opened === undefined) throw new Error('the planner is closed');
  return opened;
}

/**
 * Gives the main thread precedence if both share a core, and sends it this thread's ID. On Linux,
 * each thread has its own priority, and this link shows a thread its ID. On other systems, both
 * have the same priority.
 */
function yieldToRequests(): void {
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1);
    setPriority(Number(thread), PRIORITY);
    parentPort?.postMessage({ id: 0, thread: Number(thread) } satisfies PlannerResponse);
  } catch {}
}
