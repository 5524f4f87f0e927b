// What a change of the graph means: for callers, for the policy, and for the other subgraphs.
import type { GraphContent } from '@partner-loyalty/gateway/graph/committed.ts';
import type { SubgraphEntry, VersionChange } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { introspectionFaults, proseFaults } from './bounds.ts';
import {
  type SurfaceChange,
  type SurfaceSchemas,
  surfaceChanges,
  surfaceSchemas,
  versionChanges,
} from './changes.ts';
import { newProvider, withoutSubgraph, withSubgraph } from './content.ts';
import { CompositionError, UnservedError } from './faults.ts';
import { needsOf } from './needs.ts';
import { type Notice, noticesOf } from './notices.ts';
import { policyFaults } from './policy.ts';

/** `content` is what a rollback brings back. */
export type Step = { before: GraphContent } & (
  | {
      kind: 'subgraph';
      entry: SubgraphEntry;
      sdl: string;
      file: string;
      /** What it was when it was taken out of the graph, if it is to come back. */
      removed?: SubgraphEntry | undefined;
      /** The version that the subgraph goes back to, in which what it had was approved. */
      approved?: GraphContent;
    }
  | { kind: 'removal'; name: string }
  | { kind: 'content'; after: GraphContent }
);

export type Assessment = {
  after: GraphContent;
  changes: SurfaceChange[];
  policyFaults: string[];
  /** For the changelogs. */
  lines: VersionChange[];
  /** The subgraph that would replace another one as the identity provider, if one would. */
  newProvider?: string;
  /** What it touches that is not the publisher's own. Empty without a publisher. */
  needs: Need[];
  notices: Notice[];
};

/**
 * Assesses in this process, for seconds if the graph is large. Throws a CompositionError if the
 * schemas do not compose, are beyond their bounds, or could not be served by gateways, and an
 * UnservedError if gateways cannot serve what is published.
 */
export async function assessment(step: Step, publisher: string | undefined): Promise<Assessment> {
  const { before } = step;
  const past = step.kind === 'subgraph' ? step : {};
  const former = servedBefore(before);
  const after = contentAfter(step);
  const next = surfaceSchemas(after.supergraph);
  // An operator can take the whole graph back to what was served before there were bounds.
  if (step.kind !== 'content') refuseFaults(introspectionFaults(former, next));
  const changes = await surfaceChanges(former, next);
  const provider = newProvider(before, after);
  return {
    after,
    changes,
    policyFaults: policyFaults(former, next, new Date()),
    lines: versionChanges(changes, next),
    ...(provider !== undefined && { newProvider: provider }),
    needs: publisher === undefined ? [] : needsOf(before, after, publisher, past),
    notices: step.kind === 'subgraph' ? noticesOf(before, after, step) : [],
  };
}

function servedBefore({ supergraph }: GraphContent): SurfaceSchemas {
  try {
    return surfaceSchemas(supergraph);
  } catch (error) {
    if (error instanceof CompositionError) throw new UnservedError(error.message);
    throw error;
  }
}

function contentAfter(step: Step): GraphContent {
  if (step.kind === 'subgraph') {
    const after = withSubgraph(step.before, step.entry, step);
    // A subgraph can go back to what was published before there were bounds.
    if (step.approved === undefined) refuseFaults(proseFaults(step.sdl, step.file));
    return after;
  }
  return step.kind === 'removal' ? withoutSubgraph(step.before, step.name) : step.after;
}

function refuseFaults(faults: string[]): void {
  if (faults.length > 0) throw new CompositionError(faults);
}
