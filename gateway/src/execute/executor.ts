// Executes the operations of one surface: plans them, runs the plans, shapes the responses.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Caller, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { GraphQLSchema } from 'graphql';
import { MAX_RESPONSE_BYTES, ResponseSize } from '../document/responsesize.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import type { SurfaceFacts } from './facts.ts';
import type { Accesses } from './members.ts';
import type { Data } from './merge.ts';
import { Pace } from './pace.ts';
import { inResponse, type PlacedError } from './places.ts';
import { openPlanner, type Planned } from './planner.ts';
import { type Asker, type PlanRun, runDirectPlan } from './run.direct.ts';
import { type Path, type Shape, type Shaping, Violations } from './shape.ts';

export type Execution = Asker & {
  /** A validated document with one operation, printed: the key of the plan. */
  key: string;
  /** The variables as the caller sent them. */
  variables: Record<string, unknown>;
  /** The variables with the default values of the document. */
  coerced: Record<string, unknown>;
  size: ResponseSize;
  /** Gets the members that the response shows or the operation has changed. */
  accesses?: Accesses | undefined;
};

export type ExecutionResult = {
  data: Record<string, unknown> | null;
  errors: PlacedError[];
  /** The paths of nulls and values from subgraphs that the schema does not allow. */
  nullViolations: Path[];
};

export type Executor = SurfaceFacts & {
  /** The schema that callers see. */
  schema: GraphQLSchema;
  /** Plans a validated document with one operation, printed. */
  prepare(key: string): Promise<void>;
  execute(execution: Execution): MaybePromise<ExecutionResult>;
  /** Lets go of the plans. What is being executed ends as usual. */
  close(): void;
};

export type Transports = Readonly<Record<string, Transport>>;

/**
 * Opens the executor of a surface of a supergraph, or of the supergraph as it is, over the
 * transports, found by subgraph name. With `audits`, executions can ask for accesses. Rejects if
 * the supergraph is invalid or names a subgraph without a transport.
 */
export async function openExecutor(
  surface: SurfaceName | undefined,
  supergraphSdl: string,
  transports: Transports,
  caches: Caches,
  audits = false,
): Promise<Executor> {
  const { plan, ...planner } = await openPlanner(supergraphSdl, surface, caches, audits);
  for (const name of planner.subgraphs)
    if (!Object.hasOwn(transports, name))
      throw new Error(`the supergraph names a subgraph "${name}" that is not configured`);
  return {
    ...planner,
    async prepare(key) {
      const planned = await plan(key);
      planned.shapeFor({});
    },
    execute(execution) {
      const planned = plan(execution.key, ownerOf(execution.caller));
      if (!(planned instanceof Promise)) return executePlanned(planned, execution, transports);
      // Hundreds of requests may have waited for the same.
      const run = (late: Planned) => executePlanned(late, execution, transports);
      return planned.then((late) => mapMaybe(execution.size.turn(), () => run(late)));
    },
  };
}

function ownerOf(caller: Caller): string | undefined {
  if (caller.kind === 'service') return undefined;
  const isOwn = caller.kind === 'member' && caller.partnerId === undefined;
  return isOwn ? `member ${caller.memberId}` : `partner ${caller.partnerId}`;
}

function executePlanned(
  { plan, shapeFor }: Planned,
  { variables, coerced, caller, requestId, sandboxNow, trace, size, accesses }: Execution,
  transports: Transports,
): MaybePromise<ExecutionResult> {
  const shape = shapeFor(coerced);
  const run: PlanRun = {
    transports,
    variables,
    coerced,
    caller,
    requestId,
    sandboxNow,
    trace,
    data: {},
    errors: [],
    pace: new Pace(size.turn),
    together: plan.together,
  };
  if (plan.kind === 'apollo' && plan.apollo.plan.node !== undefined)
    return import('./run.apollo.ts')
      .then(({ runApolloPlan }) => mapMaybe(size.turn(), () => runApolloPlan(plan.apollo, run)))
      .then(() => resultOf(run, shape, size, accesses));
  if (plan.kind === 'apollo' || plan.node === undefined)
    return mapMaybe(resultOf(run, shape, size, accesses), withoutFetches);
  const running = runDirectPlan(plan.node, run);
  return running
    ? running.then(() => resultOf(run, shape, size, accesses))
    : resultOf(run, shape, size, accesses);
}

/** A plan is empty for only type names, and for fields that the planner finds in no subgraph. */
function withoutFetches(result: ExecutionResult): ExecutionResult {
  if (result.data === null || Object.values(result.data).includes(null))
    throw new Error('the planner finds a field in no subgraph');
  return result;
}

function resultOf(
  { data, errors, shared }: PlanRun,
  shape: Shape,
  size: ResponseSize,
  accesses: Accesses | undefined,
): MaybePromise<ExecutionResult> {
  const placed: PlacedError[] = [];
  for (const error of errors) {
    if (placed.length >= 2 * MAX_PLACED) break;
    const isBrief = placed.length >= MAX_PLACED;
    placed.push(...inResponse(error, (path) => shape.responsePaths(path, isBrief)));
  }
  // Last: what throws beside it would leave a promise that nobody waits for.
  const violations = new Violations();
  const completed = completeAndRecord(data, shape, { size, violations, accesses, shared });
  const nullViolations = violations.paths;
  return mapMaybe(completed, (late) => ({ data: late, errors: placed, nullViolations }));
}

/** After so many places of errors, others are only about the first alias, up to as many again. */
const MAX_PLACED = 1_000;

/** If the response is too large, none of it is shown, but a mutation may have changed members. */
function completeAndRecord(data: Data, shape: Shape, shaping: Shaping): MaybePromise<Data | null> {
  return shaping.accesses === undefined
    ? shape.complete(data, shaping)
    : recordAll(data, shape, shaping);
}

/** Of a response that is too large. */
const MAX_RECORDED_BYTES = 4 * MAX_RESPONSE_BYTES;

async function recordAll(data: Data, shape: Shape, shaping: Shaping): Promise<Data | null> {
  try {
    return await shape.complete(data, shaping);
  } catch (error) {
    const { accesses, shared } = shaping;
    accesses?.refuse();
    const size = new ResponseSize(MAX_RECORDED_BYTES);
    const again = { size, violations: new Violations(), accesses, shared };
    try {
      await shape.complete(data, again);
    } catch {
      // What is larger still is not looked through.
    }
    throw error;
  }
}
