// Decides which plans runPlan can run.
import type { FetchNode, PlanNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import { type GraphQLSchema, isObjectType } from 'graphql';

/**
 * Whether runPlan can run a plan: every subgraph knows the types of the objects that it receives by
 * the same names. Otherwise, data has to be rewritten, which is left to the stock executor.
 */
export function isUsualPlan(node: PlanNode, supergraph: GraphQLSchema): boolean {
  switch (node.kind) {
    case 'Fetch':
      return isUsualFetch(node, supergraph);
    case 'Flatten':
      return isUsualPlan(node.node, supergraph);
    case 'Sequence':
    case 'Parallel':
      return node.nodes.every((each) => isUsualPlan(each, supergraph));
    case 'Condition':
      return [node.ifClause, node.elseClause].every(
        (each) => each === undefined || isUsualPlan(each, supergraph),
      );
    case 'Defer':
      return false;
  }
}

function isUsualFetch(
  { requires = [], inputRewrites = [], outputRewrites = [] }: FetchNode,
  supergraph: GraphQLSchema,
): boolean {
  return (
    inputRewrites.length === 0 &&
    outputRewrites.length === 0 &&
    requires.every(
      (each) =>
        each.kind === 'InlineFragment' &&
        each.typeCondition !== undefined &&
        isObjectType(supergraph.getType(each.typeCondition)) &&
        each.selections.every(isField),
    )
  );
}

function isField(selection: QueryPlanSelectionNode): boolean {
  return selection.kind === 'Field' && (selection.selections ?? []).every(isField);
}
