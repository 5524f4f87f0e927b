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
import { fieldNames, type RenamedOperation, renameFields } from './alias.ts';
import { compileShape, type Shape } from './shape.ts';

/** A planned operation. */
export type Planned = {
  /** The plan's fetches; undefined if no field needs a subgraph. */
  node: PlanNode | undefined;
  /** The response's shape for these variables, which decide `@skip` and `@include`. */
  shapeFor(variables: Record<string, unknown>): Shape;
};

export type Planner = {
  /** The surface's schema, as its callers see it. */
  schema: GraphQLSchema;
  /** The whole graph, hidden fields included. */
  supergraph: GraphQLSchema;
  subgraphs: readonly string[];
  /** Plans a validated document with one operation, printed. */
  plan(key: string): Planned;
};

// Measured (test/memory): of any plan, for each character of it in JSON, and for each selection of a
// shape.
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
  const fields = fieldNames(supergraph);
  const operations = caches.open(weighOperation);
  const plans = caches.open(weighPlan);

  /** Operations that differ only in the aliases of leaves share a plan. */
  function planRenamed(document: DocumentNode): PlanNode | undefined {
    const key = stripIgnoredCharacters(print(document));
    let plan = plans.get(key);
    if (plan === undefined) {
      const { node } = planner.buildQueryPlan(operationFromDocument(apiSchema, document));
      if (node?.kind === 'Subscription') throw new Error('no surface has subscriptions');
      plan = { node };
      plans.set(key, plan);
    }
    return plan.node;
  }

  // What is kept of the document is parsed from the key, so that it holds no part of the caller's
  // text: its names would keep all of that in memory, comments included.
  function build(key: string): PlannedOperation {
    const document = parse(key, { noLocation: true });
    const renamed = renameFields(document, schema, fields);
    const node = planRenamed(renamed.document);
    const shapes = createShapes(schema, document, renamed, () => operations.weighAgain(key));
    return { node, document, shapes, shapeFor: shapes.find };
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

type Plan = { node: PlanNode | undefined };

type PlannedOperation = Planned & { document: DocumentNode; shapes: Shapes };

type Shapes = {
  find: Planned['shapeFor'];
  /** How many it keeps. */
  count(): number;
};

function weighPlan({ node }: Plan): number {
  return BYTES_PER_PLAN + JSON.stringify(node ?? null).length * BYTES_PER_PLAN_CHARACTER;
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
