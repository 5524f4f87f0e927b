// Plans the operations of one surface with Apollo's planner and keeps what later requests reuse.
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { type PlanNode, QueryPlanner } from '@apollo/query-planner';
import { bytesOfDocument, type Caches, expandedSelections } from '@partner-loyalty/runtime';
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  stripIgnoredCharacters,
  visit,
} from 'graphql';
import { fieldsOf, type RenamedOperation, renameFields } from './alias.ts';
import { isUsualPlan } from './plan.ts';
import { compileShape, type Shape } from './shape.ts';
import type { StockPlan } from './stockplan.ts';

/** A planned operation. */
export type Planned = {
  /** What the subgraphs are asked. */
  plan: Plan;
  /** The response's shape for these variables, which decide `@skip` and `@include`. */
  shapeFor(variables: Record<string, unknown>): Shape;
};

/** A plan with the way it is run. The node is undefined if no field needs a subgraph. */
export type Plan =
  | { kind: 'usual'; node: PlanNode | undefined }
  | { kind: 'stock'; stock: StockPlan };

export type Planner = {
  /** The surface's schema, as its callers see it. */
  schema: GraphQLSchema;
  /** The whole graph, hidden fields included. */
  supergraph: GraphQLSchema;
  subgraphs: readonly string[];
  /** Plans a validated document with one operation, printed. */
  plan(key: string): Planned;
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

/** Builds the planner of a surface from its SDL (contract.ts). */
export function createPlanner(surfaceSdl: string, caches: Caches): Planner {
  const federated = Supergraph.build(surfaceSdl);
  const planner = new QueryPlanner(federated);
  const apiSchema = federated.apiSchema();
  const schema = apiSchema.toGraphQLJSSchema();
  const supergraph = federated.schema.toGraphQLJSSchema();
  const fields = fieldsOf(supergraph);
  const operations = caches.open(weighOperation);
  const plans = caches.open(weighPlan);

  /** Operations that differ only in the aliases of leaves share a plan. */
  function planRenamed({ document, isAbstract }: RenamedOperation): Plan {
    const key = stripIgnoredCharacters(print(document));
    let planned = plans.get(key);
    if (planned === undefined) {
      const plan = planner.buildQueryPlan(operationFromDocument(apiSchema, document));
      const { node } = plan;
      if (node?.kind === 'Subscription') throw new Error('no surface has subscriptions');
      const isUsual = !isAbstract && (node === undefined || isUsualPlan(node, supergraph));
      planned = isUsual
        ? { kind: 'usual', node }
        : { kind: 'stock', stock: { plan, document, schema, apiSchema } };
      plans.set(key, planned);
    }
    return planned;
  }

  // What is kept of the document is parsed from the key, so that it holds no part of the caller's
  // text: its names would keep all of that in memory, comments included.
  function build(key: string): PlannedOperation {
    const document = parse(key, { noLocation: true });
    const renamed = renameFields(document, schema, fields);
    const plan = planRenamed(renamed);
    const shapes = createShapes(schema, document, renamed, () => operations.weighAgain(key));
    return { plan, document, shapes, shapeFor: shapes.find };
  }

  return {
    schema,
    supergraph,
    subgraphs: Array.from(federated.subgraphsMetadata(), ({ name }) => name),
    plan(key) {
      let planned = operations.get(key);
      if (planned === undefined) {
        planned = build(key);
        operations.set(key, planned);
      }
      return planned;
    },
  };
}

type PlannedOperation = Planned & { document: DocumentNode; shapes: Shapes };

type Shapes = {
  find: Planned['shapeFor'];
  /** How many it keeps. */
  count(): number;
};

function weighPlan(planned: Plan): number {
  const isUsual = planned.kind === 'usual';
  const node = isUsual ? planned.node : planned.stock.plan.node;
  const bytes = BYTES_PER_PLAN + JSON.stringify(node ?? null).length * BYTES_PER_PLAN_CHARACTER;
  return isUsual ? bytes : bytes + bytesOfDocument(planned.stock.document);
}

function weighOperation({ document, shapes }: PlannedOperation): number {
  const selections = expandedSelections(document) * shapes.count();
  // Beside the document, each field has its name in the plan.
  return (
    BYTES_PER_OPERATION + 2 * bytesOfDocument(document) + selections * BYTES_PER_SHAPED_SELECTION
  );
}

// The names of the variables that decide @skip and @include.
function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: ({ arguments: [condition] = [] }) => {
      if (condition?.value.kind === Kind.VARIABLE) names.add(condition.value.name.value);
    },
  });
  return [...names];
}

/** The shapes of an operation; `onKept` is called for each that it keeps. */
function createShapes(
  schema: GraphQLSchema,
  document: DocumentNode,
  { nameOf }: RenamedOperation,
  onKept: () => void,
): Shapes {
  const conditions = conditionsOf(document);
  // By the values of the variables that decide @skip and @include.
  const shapes = new Map<string, Shape>();
  const find = (variables: Record<string, unknown>): Shape => {
    const values =
      conditions.length === 0
        ? ''
        : conditions.map((name) => (variables[name] === true ? '1' : '0')).join('');
    let shape = shapes.get(values);
    if (shape === undefined) {
      shape = compileShape(schema, document, variables, nameOf);
      if (shapes.size < MAX_SHAPES) {
        shapes.set(values, shape);
        onKept();
      }
    }
    return shape;
  };
  return { find, count: () => shapes.size };
}
