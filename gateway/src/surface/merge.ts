// Merges the fetches of a plan that ask the same of entities at different paths.
import type { FetchNode, FlattenNode, PlanNode } from '@apollo/query-planner';

/** A fetch of entities at its path and at others. */
export type MergedFlatten = FlattenNode & { others?: readonly FlattenNode['path'][] };

/**
 * The same plan with one fetch for all places of a `Parallel` node of which the same is asked, such
 * as several aliases of a root field.
 */
export function mergeFetches(node: PlanNode): PlanNode {
  switch (node.kind) {
    case 'Sequence':
      return { ...node, nodes: node.nodes.map(mergeFetches) };
    case 'Parallel':
      return mergeParallel(node.nodes.map(mergeFetches));
    case 'Condition': {
      const { ifClause, elseClause, ...rest } = node;
      return {
        ...rest,
        ...(ifClause && { ifClause: mergeFetches(ifClause) }),
        ...(elseClause && { elseClause: mergeFetches(elseClause) }),
      };
    }
    default:
      return node;
  }
}

function mergeParallel(nodes: readonly PlanNode[]): PlanNode {
  const merged: PlanNode[] = [];
  const others = new Map<string, FlattenNode['path'][]>();
  for (const node of nodes) {
    const asked = node.kind === 'Flatten' && node.node.kind === 'Fetch' && textOf(node.node);
    if (node.kind !== 'Flatten' || !asked) {
      merged.push(node);
      continue;
    }
    const known = others.get(asked);
    if (known !== undefined) {
      known.push(node.path);
      continue;
    }
    const paths: FlattenNode['path'][] = [];
    others.set(asked, paths);
    const first: MergedFlatten = { ...node, others: paths };
    merged.push(first);
  }
  const [only] = merged;
  return only !== undefined && merged.length === 1 ? only : { kind: 'Parallel', nodes: merged };
}

/** What a fetch asks, and of whom; undefined if it is not of entities. */
function textOf({ serviceName, operation, requires }: FetchNode): string | undefined {
  return requires && JSON.stringify([serviceName, operation, requires]);
}
