// Plans the operations of one surface with Apollo's planner and keeps what later requests reuse.
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { type PlanNode, QueryPlanner } from '@apollo/query-planner';
import { expandedSelections } from '@partner-loyalty/runtime';
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  print,
  stripIgnoredCharacters,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { fieldNames, type RenamedOperation, renameFields } from './alias.ts';
import { compileShape, type Shape } from './shape.ts';

/** A planned operation. */
export type Planned = {
  /** What the subgraphs are asked; undefined if no field needs one. */
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
  /** Plans a validated document with one operation; equal keys mean equal documents. */
  plan(document: DocumentNode, key: string): Planned;
};

// Callers choose the documents, so both the number of plans and their bytes are bounded.
const MAX_PLANS = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;
// What a plan was measured to take for each character of its document and for each selection, and
// what each of its shapes takes for each selection.
const BYTES_PER_CHARACTER = 128;
const BYTES_PER_PLANNED_SELECTION = 640;
const BYTES_PER_SHAPED_SELECTION = 384;
// An operation with many conditions has more shapes than are worth keeping; each request then
// compiles its own.
const MAX_SHAPES = 16;
const CACHE = {
  max: MAX_PLANS,
  maxSize: MAX_BYTES,
  sizeCalculation: ({ bytes }: { bytes: number }) => bytes,
};

/** Builds the planner of a surface from its SDL (contract.ts). */
export function createPlanner(surfaceSdl: string): Planner {
  const federated = Supergraph.build(surfaceSdl);
  const planner = new QueryPlanner(federated);
  const apiSchema = federated.apiSchema();
  const schema = apiSchema.toGraphQLJSSchema();
  const supergraph = federated.schema.toGraphQLJSSchema();
  const fields = fieldNames(supergraph);
  const operations = new LRUCache<string, Planned & { bytes: number }>(CACHE);
  const plans = new LRUCache<string, Plan>(CACHE);

  /** Operations that differ only in the aliases of leaves share a plan. */
  function planRenamed(document: DocumentNode): PlanNode | undefined {
    const key = stripIgnoredCharacters(print(document));
    let plan = plans.get(key);
    if (plan === undefined) {
      const { node } = planner.buildQueryPlan(operationFromDocument(apiSchema, document));
      if (node?.kind === 'Subscription') throw new Error('no surface has subscriptions');
      plan = { node, bytes: bytesOfPlan(document, key) };
      plans.set(key, plan);
    }
    return plan.node;
  }

  function build(document: DocumentNode, key: string): Planned & { bytes: number } {
    const renamed = renameFields(document, schema, fields);
    const node = planRenamed(renamed.document);
    const conditions = conditionsOf(document);
    const bytes = bytesOfShapes(document, key, conditions);
    return { node, bytes, shapeFor: createShapes(schema, document, renamed, conditions) };
  }

  return {
    schema,
    supergraph,
    subgraphs: Array.from(federated.subgraphsMetadata(), ({ name }) => name),
    plan(document, key) {
      let planned = operations.get(key);
      if (planned === undefined) {
        planned = build(document, key);
        operations.set(key, planned);
      }
      return planned;
    },
  };
}

type Plan = { node: PlanNode | undefined; bytes: number };

function bytesOfPlan(document: DocumentNode, key: string): number {
  const selections = expandedSelections(document);
  return 1_024 + key.length * BYTES_PER_CHARACTER + selections * BYTES_PER_PLANNED_SELECTION;
}

function bytesOfShapes(document: DocumentNode, key: string, conditions: readonly string[]): number {
  const shapes = Math.min(MAX_SHAPES, 2 ** conditions.length);
  const selections = expandedSelections(document);
  return (
    1_024 + key.length * BYTES_PER_CHARACTER + selections * shapes * BYTES_PER_SHAPED_SELECTION
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

function createShapes(
  schema: GraphQLSchema,
  document: DocumentNode,
  { nameOf }: RenamedOperation,
  conditions: readonly string[],
): Planned['shapeFor'] {
  const shapes = new Map<string, Shape>();
  return (variables) => {
    const values =
      conditions.length === 0
        ? ''
        : conditions.map((name) => (variables[name] === true ? '1' : '0')).join('');
    let shape = shapes.get(values);
    if (shape === undefined) {
      shape = compileShape(schema, document, variables, nameOf);
      if (shapes.size < MAX_SHAPES) shapes.set(values, shape);
    }
    return shape;
  };
}
