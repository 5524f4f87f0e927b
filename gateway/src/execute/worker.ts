// Builds planners and plans operations, in a thread of its own.
//
// Both would block the event loop of the process for too long, and neither can be done in steps.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import { type GraphQLSchema, parse, printSchema } from 'graphql';
import { surfaceDocument } from '../schema/surfaces.ts';
import { factsOf, type SurfaceFacts } from './facts.ts';
import { resolvableKeysFirst } from './keys.ts';
import type { PlannedText, PlannerAnswer, PlannerRequest } from './messages.ts';
import { isUsualPlan } from './usual.ts';

type Planner = {
  opened: SurfaceFacts;
  plan(operation: string, isAbstract: boolean, isWhole: boolean): PlannedText;
};

/** About a tenth of the CPU time that the main thread gets while both want all of it. */
const PRIORITY = 10;

const planners = new Map<number, Planner>();

yieldToRequests();

parentPort?.on('message', (request: PlannerRequest) => {
  const answer = answerTo(request);
  if (answer !== undefined) parentPort?.postMessage(answer);
});

function answerTo(request: PlannerRequest): PlannerAnswer | undefined {
  const { id, planner } = request;
  try {
    switch (request.kind) {
      case 'open': {
        const built = buildPlanner(request);
        planners.set(planner, built);
        return { id, opened: built.opened };
      }
      case 'plan': {
        const built = planners.get(planner);
        if (built === undefined) throw new Error('the planner is closed');
        const { operation, isAbstract, isWhole } = request;
        return { id, planned: built.plan(operation, isAbstract, isWhole) };
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

function buildPlanner({ supergraph, surface }: Opening): Planner {
  const parsed = parse(supergraph, { noLocation: true });
  const cut = surface === undefined ? parsed : surfaceDocument(parsed, surface);
  const federated = Supergraph.build(resolvableKeysFirst(cut));
  const apiSchema = federated.apiSchema();
  const planner = new QueryPlanner(federated);
  const graph: GraphQLSchema = federated.schema.toGraphQLJSSchema();
  return {
    opened: factsOf(cut, printSchema(apiSchema.toGraphQLJSSchema())),
    plan(operation, isAbstract, isWhole) {
      const schema = isWhole ? federated.schema : apiSchema;
      const plan = planner.buildQueryPlan(operationFromDocument(schema, parse(operation)));
      const { node } = plan;
      if (node?.kind === 'Subscription') throw new Error('no surface has subscriptions');
      const isUsual = !isAbstract && (node === undefined || isUsualPlan(node, graph));
      return { plan: JSON.stringify(plan), isUsual };
    },
  };
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
    parentPort?.postMessage({ id: 0, thread: Number(thread) } satisfies PlannerAnswer);
  } catch {}
}
