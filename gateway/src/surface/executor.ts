// Executes the operations of one surface: plans them, runs the plans, shapes the responses.
import type { Caches, Scope, SubgraphError, Transport } from '@partner-loyalty/runtime';
import type { GraphQLSchema } from 'graphql';
import type { ResponseSize } from '../operation/responsesize.ts';
import { type SurfaceName, surfaceSdl } from './contract.ts';
import { type Data, type PlanRun, runPlan } from './plan.ts';
import { createPlanner } from './planner.ts';
import type { Path, Shape } from './shape.ts';
import { runStockPlan } from './stockplan.ts';

export type Execution = {
  /** A validated document with one operation, printed: the key of the plan. */
  key: string;
  /** As the caller sent them. */
  variables: Record<string, unknown>;
  /** With the default values of the document. */
  coerced: Record<string, unknown>;
  scope: Scope;
  requestId: string;
  /** Counts the response. */
  size: ResponseSize;
};

export type ExecutionResult = {
  data: Record<string, unknown> | null;
  errors: SubgraphError[];
  /** The paths of nulls and values from subgraphs that the schema does not allow. */
  nullViolations: Path[];
};

export type Executor = {
  schema: GraphQLSchema;
  /** Plans a validated document with one operation, printed. */
  plan(key: string): void;
  execute(execution: Execution): ExecutionResult | Promise<ExecutionResult>;
};

/** Builds the executor of a surface of a supergraph. Throws as createExecutor does. */
export function openExecutor(
  surface: SurfaceName,
  supergraphSdl: string,
  transports: Readonly<Record<string, Transport>>,
  caches: Caches,
): Executor {
  return createExecutor(surfaceSdl(supergraphSdl, surface), transports, caches);
}

/**
 * Builds an executor over the transports, found by subgraph name. Throws if the supergraph is
 * invalid or names a subgraph without a transport.
 */
export function createExecutor(
  supergraphSdl: string,
  transports: Readonly<Record<string, Transport>>,
  caches: Caches,
): Executor {
  const { schema, supergraph, subgraphs, plan } = createPlanner(supergraphSdl, caches);
  for (const name of subgraphs)
    if (!Object.hasOwn(transports, name))
      throw new Error(`the supergraph names a subgraph "${name}" that is not configured`);
  return {
    schema,
    plan: (key) => void plan(key).shapeFor({}),
    execute({ key, variables, coerced, scope, requestId, size }) {
      const planned = plan(key);
      const shape = planned.shapeFor(coerced);
      const run: PlanRun = {
        transports,
        supergraph,
        variables,
        coerced,
        scope,
        requestId,
        data: {},
        errors: [],
      };
      if (planned.plan.kind === 'stock')
        return runStockPlan(planned.plan.stock, run).then(({ data, violations }) =>
          resultOf(data, violations, run, shape, size),
        );
      const { node } = planned.plan;
      const running = node && runPlan(node, run);
      return running
        ? running.then(() => resultOf(run.data, [], run, shape, size))
        : resultOf(run.data, [], run, shape, size);
    },
  };
}

function resultOf(
  data: Data | null,
  violations: readonly Path[],
  { errors }: PlanRun,
  shape: Shape,
  size: ResponseSize,
): ExecutionResult {
  const nullViolations = violations.flatMap((path) => shape.responsePaths(path));
  return {
    data:
      data &&
      shape.complete(data, { size, violation: (path: Path) => void nullViolations.push(path) }),
    errors: errors.flatMap((error) => placedIn(shape, error)),
    nullViolations,
  };
}

// An error about a field that the caller selects under several aliases is about each of them.
function placedIn(shape: Shape, error: SubgraphError): SubgraphError[] {
  if (error.path === undefined) return [error];
  return shape.responsePaths(error.path).map((path) => ({ ...error, path }));
}
