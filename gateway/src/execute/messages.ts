// The messages between the process and its planner thread.
import type { SurfaceName } from '../schema/surfaces.ts';
import type { SurfaceFacts } from './facts.ts';

/** `planner` is a number that the process gives each planner of the thread. */
export type PlannerRequest = { id: number; planner: number } & (
  | { kind: 'open'; supergraph: string; surface: SurfaceName | undefined }
  | { kind: 'plan'; operation: string; isAbstract: boolean; isWhole: boolean }
  | { kind: 'close' }
);

/**
 * The response to the request with the same `id`. The first message of a thread has its ID on Linux
 * instead.
 */
export type PlannerAnswer = { id: number } & (
  | { thread: number }
  | { opened: SurfaceFacts }
  | { planned: PlannedText }
  | { error: string }
);

export type PlannedText = {
  /** A QueryPlan in JSON. */
  plan: string;
  /** Whether runPlan can run it. */
  isUsual: boolean;
};
