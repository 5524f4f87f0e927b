// Builds planners and plans operations, in a thread of its own.
//
// Both would block the event loop of the process for too long, and neither can be done in steps.
import { parentPort } from 'node:worker_threads';
import { yieldToMain } from '@partner-loyalty/runtime/process/thread.ts';
import { type Federated, openFederated } from './federated.ts';
import type { PlannerRequest, PlannerResponse } from './plan.apollo.ts';

const planners = new Map<number, Federated>();
/** Its surfaces are as valid as it is. */
let lastValid: string | undefined;

const thread = yieldToMain();
if (thread !== undefined) parentPort?.postMessage({ id: 0, thread } satisfies PlannerResponse);

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
