// The messages between the process and its planner thread.

import type { RootScopes } from '../schema/scopes.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import type { Ownership } from './ownership.ts';
import type { GraphFields } from './rename.ts';

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
  | { opened: OpenedPlanner }
  | { planned: PlannedText }
  | { error: string }
);

/** What the process needs to know about a graph to prepare operations and complete responses. */
export type OpenedPlanner = {
  /** The schema that callers see. */
  api: string;
  subgraphs: string[];
  fields: GraphFields;
  ownership: Ownership;
  /** The types of `api` whose member ID is hidden from callers. */
  hiddenMembers: ReadonlySet<string>;
  scopes: RootScopes;
};

export type PlannedText = {
  /** A QueryPlan in JSON. */
  plan: string;
  /** Whether runPlan can run it. */
  isUsual: boolean;
};
