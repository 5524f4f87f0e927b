// Builds planners and plans operations, in a thread of its own.
//
// Both would block the event loop of the process for too long, and neither can be done in steps.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { operationFromDocument, type Schema, Supergraph } from '@apollo/federation-internals';
import type { FetchNode, PlanNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import { QueryPlanner } from '@apollo/query-planner';
import { type ConstDirectiveNode, type DocumentNode, Kind, parse, printSchema } from 'graphql';
import { argumentsOf } from '../schema/definitions.ts';
import { surfaceDocument } from '../schema/surfaces.ts';
import { factsOf, type SurfaceFacts } from './facts.ts';
import type { PlannedText, PlannerRequest, PlannerResponse } from './plan.apollo.ts';

type Planner = {
  opened: SurfaceFacts;
  /** Takes longer than any plan. */
  build(): void;
  plan(operation: string, isAbstract: boolean, isWhole: boolean): PlannedText;
};

/** About a tenth of the CPU time that the main thread gets while both want all of it. */
const PRIORITY = 10;

const planners = new Map<number, Planner>();

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
        const opened = openPlanner(request);
        planners.set(planner, opened);
        return { id, opened: opened.opened };
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

type Opening = Extract<PlannerRequest, { kind: 'open' }>;

/** Its surfaces are as valid as it is. */
let lastValid: string | undefined;

function openPlanner({ supergraph, surface }: Opening): Planner {
  const parsed = parse(supergraph, { noLocation: true });
  const cut = surface === undefined ? parsed : surfaceDocument(parsed, surface);
  const validateSupergraph = supergraph !== lastValid;
  const federated = Supergraph.build(resolvableKeysFirst(cut), { validateSupergraph });
  lastValid = supergraph;
  const apiSchema = federated.apiSchema();
  let planner: QueryPlanner | undefined;
  const builtPlanner = () => {
    planner ??= new QueryPlanner(federated);
    return planner;
  };
  return {
    opened: factsOf(cut, printSchema(apiSchema.toGraphQLJSSchema())),
    build: () => void builtPlanner(),
    plan(operation, isAbstract, isWhole) {
      const schema = isWhole ? federated.schema : apiSchema;
      const plan = builtPlanner().buildQueryPlan(operationFromDocument(schema, parse(operation)));
      const { node } = plan;
      if (node?.kind === 'Subscription') throw new Error('no surface has subscriptions');
      const isDirect = !isAbstract && (node === undefined || isDirectPlan(node, federated.schema));
      return { plan: JSON.stringify(plan), isDirect };
    },
  };
}

function plannerOf(planner: number): Planner {
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

/**
 * A supergraph in which the resolvable keys come first. To return to a subgraph with the
 * fields that it requires, the planner takes the first key of the type there, even if it is not
 * resolvable. The order has no other meaning.
 */
function resolvableKeysFirst(supergraph: DocumentNode): DocumentNode {
  const definitions = supergraph.definitions.map((type) => {
    const isComposite =
      type.kind === Kind.OBJECT_TYPE_DEFINITION || type.kind === Kind.INTERFACE_TYPE_DEFINITION;
    const directives = (isComposite && type.directives) || [];
    const last = directives.filter(isUnresolvableKey);
    if (!isComposite || last.length === 0) return type;
    const first = directives.filter((directive) => !last.includes(directive));
    return { ...type, directives: [...first, ...last] };
  });
  return { ...supergraph, definitions };
}

function isUnresolvableKey(directive: ConstDirectiveNode): boolean {
  return argumentsOf([directive], 'join__type').some(({ resolvable }) => resolvable === false);
}

/**
 * Whether runDirectPlan can run a plan: every subgraph knows the types of the objects that it
 * receives by the same names. Otherwise, data has to be rewritten, which is left to Apollo's code.
 */
function isDirectPlan(node: PlanNode, supergraph: Schema): boolean {
  switch (node.kind) {
    case 'Fetch':
      return isDirectFetch(node, supergraph);
    case 'Flatten':
      return isDirectPlan(node.node, supergraph);
    case 'Sequence':
    case 'Parallel':
      return node.nodes.every((each) => isDirectPlan(each, supergraph));
    case 'Condition':
      return [node.ifClause, node.elseClause].every(
        (each) => each === undefined || isDirectPlan(each, supergraph),
      );
    case 'Defer':
      return false;
  }
}

function isDirectFetch(
  { requires = [], inputRewrites = [], outputRewrites = [] }: FetchNode,
  supergraph: Schema,
): boolean {
  return (
    inputRewrites.length === 0 &&
    outputRewrites.length === 0 &&
    requires.every(
      (each) =>
        each.kind === 'InlineFragment' &&
        each.typeCondition !== undefined &&
        supergraph.type(each.typeCondition)?.kind === 'ObjectType' &&
        each.selections.every(isField),
    )
  );
}

function isField(selection: QueryPlanSelectionNode): boolean {
  return selection.kind === 'Field' && (selection.selections ?? []).every(isField);
}
