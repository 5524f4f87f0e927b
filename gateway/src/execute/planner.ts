// Plans the operations of one surface in the planner thread, and keeps what later requests reuse.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlanNode, QueryPlan } from '@apollo/query-planner';
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { bytesOfDocument, conditionsOf } from '@partner-loyalty/runtime/cache/document.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { type DocumentNode, type GraphQLSchema, parse } from 'graphql';
import { keyOf } from '../document/executable.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import { committedFacts } from './committed.ts';
import { graphAsSeen, type SurfaceFacts, schemaOf } from './facts.ts';
import { hiddenMembersOf, withMemberIds } from './members.ts';
import { openThreadPlanner } from './plan.apollo.ts';
import { planDirectly, tooLarge } from './plan.direct.ts';
import { type RenamedOperation, renameFields } from './rename.ts';
import type { ApolloPlan } from './run.apollo.ts';
import { compileShape, type Shape } from './shape.ts';
import { inLevels, type Together } from './together.ts';

export type Planned = {
  /** The operations for the subgraphs. */
  plan: Plan;
  /** The response's shape for these variables, which decide `@skip` and `@include`. */
  shapeFor(variables: Record<string, unknown>): Shape;
};

/**
 * A plan with the way it is run, and its length in JSON. The node is undefined if no field needs a
 * subgraph.
 */
type Plan = { characters: number; together?: Together | undefined } & (
  | { kind: 'direct'; node: PlanNode | undefined }
  | { kind: 'apollo'; apollo: ApolloPlan }
);

type Planner = SurfaceFacts & {
  /** The surface's schema, as its callers see it. */
  schema: GraphQLSchema;
  /**
   * Plans a validated document with one operation, printed; later calls find what it keeps. `owner`
   * waits for its turn in the thread; without one, there is no turn.
   */
  plan(key: string, owner?: string): Planned | Promise<Planned>;
  /** Lets go of what it keeps. */
  close(): void;
};

// Measured (test/memory): the bytes of any plan, of each character of its JSON, and of each
// selection of a shape.
const BYTES_PER_PLAN = 16_384;
const BYTES_PER_PLAN_CHARACTER = 8;
const BYTES_PER_OPERATION = 8_192;
const BYTES_PER_SHAPED_SELECTION = 512;
// An operation with many conditions has more shapes than are worth keeping; each request then
// compiles its own.
const MAX_SHAPES = 16;
const NO_TYPES: ReadonlySet<string> = new Set();

/**
 * Opens the planner of a surface of a supergraph, or of the supergraph as it is. With `audits`, the
 * data has the ID of every member in it. Rejects if the supergraph is invalid.
 */
export async function openPlanner(
  supergraphSdl: string,
  surface: SurfaceName | undefined,
  caches: Caches,
  audits = false,
): Promise<Planner> {
  const known = surface && committedFacts(supergraphSdl, surface);
  const thread = await openThreadPlanner(supergraphSdl, surface, known);
  const { sdl, fields, ownership, memberIdTypes } = thread;
  const api = parse(sdl, { noLocation: true });
  await nextTurn(); // For large graphs, each of the two takes tens of milliseconds.
  const schema = schemaOf(api);
  const hiddenMembers = audits ? hiddenMembersOf(memberIdTypes, schema) : NO_TYPES;
  let whole: GraphQLSchema | undefined;
  const supergraph = () => (whole ??= schemaOf(graphAsSeen(supergraphSdl, surface)));
  const operations = caches.open(weighOperation);
  const plans = caches.open(weighPlan);
  const pending = new Map<string, Promise<PlannedOperation>>();

  /** Adds the IDs of members; `whole` also has those that callers do not see, if there are any. */
  function withIds(document: DocumentNode): {
    document: DocumentNode;
    whole: DocumentNode | undefined;
  } {
    const seen = withMemberIds(document, schema, NO_TYPES);
    const whole = hiddenMembers.size === 0 ? seen : withMemberIds(seen, schema, hiddenMembers);
    return { document: seen, whole: whole === seen ? undefined : whole };
  }

  /** Operations that differ only in aliases share a plan. */
  function planRenamed(
    { document: renamed, isAbstract }: RenamedOperation,
    owner: string | undefined,
  ): MaybePromise<Plan> {
    const { document, whole } = audits ? withIds(renamed) : { document: renamed, whole: undefined };
    const key = keyOf(whole ?? document);
    const known = plans.get(key);
    if (known !== undefined) return known;
    const isWhole = whole !== undefined;
    const direct = isAbstract || isWhole ? undefined : planDirectly(document, schema, ownership);
    if (direct === undefined) return planInThread(document, key, { isAbstract, isWhole, owner });
    return keepPlan(key, {
      kind: 'direct',
      ...inLevels(direct.node),
      characters: direct.characters,
    });
  }

  async function planInThread(
    document: DocumentNode,
    key: string,
    asked: { isAbstract: boolean; isWhole: boolean; owner: string | undefined },
  ): Promise<Plan> {
    const { plan: text, isDirect } = await thread.plan(key, asked);
    if (text === undefined) return tooLarge();
    // Cast: the thread wrote it from a QueryPlan.
    const plan = JSON.parse(text) as QueryPlan;
    // No surface has subscriptions.
    const { node, together } = inLevels(plan.node as PlanNode | undefined);
    const common = { together, characters: text.length };
    if (isDirect) return keepPlan(key, { kind: 'direct', node, ...common });
    const levelled: QueryPlan = node === undefined ? plan : { ...plan, node };
    return keepPlan(key, {
      kind: 'apollo',
      apollo: { plan: levelled, document, supergraph },
      ...common,
    });
  }

  function keepPlan(key: string, plan: Plan): Plan {
    plans.set(key, plan);
    return plan;
  }

  // What is kept of the document is parsed from the key, so that it holds no part of the caller's
  // text: its names would keep all of that in memory, comments included.
  function build(key: string, owner: string | undefined): MaybePromise<PlannedOperation> {
    const document = parse(key, { noLocation: true });
    const renamed = renameFields(document, schema, fields);
    return mapMaybe(planRenamed(renamed, owner), (plan) => {
      const types = { schema, hiddenMembers };
      const shapes = createShapes(types, document, renamed, () => operations.weighAgain(key));
      const planned = { plan, document, shapes, shapeFor: shapes.find };
      operations.set(key, planned);
      return planned;
    });
  }

  function buildOnce(key: string, owner: string | undefined): MaybePromise<PlannedOperation> {
    const name = `${owner} ${key}`;
    const building = pending.get(name) ?? build(key, owner);
    if (!(building instanceof Promise) || pending.has(name)) return building;
    const ended = building.finally(() => pending.delete(name));
    pending.set(name, ended);
    return ended;
  }

  return {
    ...thread,
    schema,
    plan: (key, owner) => operations.get(key) ?? buildOnce(key, owner),
    close() {
      thread.close();
      operations.close();
      plans.close();
    },
  };
}

type PlannedOperation = Planned & { document: DocumentNode; shapes: Shapes };

type Shapes = {
  find: Planned['shapeFor'];
  /** How many fields of objects. */
  compiled(): number;
};

function weighPlan(planned: Plan): number {
  const bytes = BYTES_PER_PLAN + planned.characters * BYTES_PER_PLAN_CHARACTER;
  return planned.kind === 'direct' ? bytes : bytes + bytesOfDocument(planned.apollo.document);
}

function weighOperation({ document, shapes }: PlannedOperation): number {
  const bytes = shapes.compiled() * BYTES_PER_SHAPED_SELECTION;
  // Beside the document, each field has its name in the plan.
  return BYTES_PER_OPERATION + 2 * bytesOfDocument(document) + bytes;
}

/** The shapes of an operation; `onKept` is called for what it keeps of them. */
function createShapes(
  { schema, hiddenMembers }: { schema: GraphQLSchema; hiddenMembers: ReadonlySet<string> },
  document: DocumentNode,
  { nameOf }: RenamedOperation,
  onKept: () => void,
): Shapes {
  const conditions = conditionsOf(document);
  // Keys are the values of the variables that decide @skip and @include.
  const shapes = new Map<string, Shape>();
  let [compiled, weighed] = [0, 0];
  const weigh = () => {
    weighed = compiled;
    onKept();
  };
  const onCompiled = (fields: number) => {
    compiled += fields;
    if (weighed > 0 && compiled > 2 * weighed) weigh();
  };
  const find = (variables: Record<string, unknown>): Shape => {
    const values =
      conditions.length === 0
        ? ''
        : conditions.map((name) => (variables[name] === true ? '1' : '0')).join('');
    let shape = shapes.get(values);
    if (shape === undefined) {
      const isKept = shapes.size < MAX_SHAPES;
      const count = isKept ? onCompiled : undefined;
      shape = compileShape(schema, document, variables, nameOf, hiddenMembers, count);
      if (isKept) {
        shapes.set(values, shape);
        weigh();
      }
    }
    return shape;
  };
  return { find, compiled: () => compiled };
}
