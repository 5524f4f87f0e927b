// What a gateway makes of a supergraph: the schema of a surface, its facts and a planner.
//
// The planner thread and the process that assesses a schema both run this, so that gateways serve
// whatever is accepted. It loads Apollo's libraries.
import {
  buildSchema,
  operationFromDocument,
  printSchema,
  type Schema,
  Supergraph,
} from '@apollo/federation-internals';
import {
  type FetchNode,
  type PlanNode,
  type QueryPlan,
  QueryPlanner,
  type QueryPlanSelectionNode,
} from '@apollo/query-planner';
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  stripIgnoredCharacters,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { LIMITS } from '../document/measure.ts';
import { argumentsOf, withoutUnreachable } from '../schema/definitions.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import { factsOf, graphAsSeen, type SurfaceFacts, schemaOf } from './facts.ts';
import type { PlannedText } from './plan.apollo.ts';

export type Federated = {
  facts: SurfaceFacts;
  /** Takes longer than any plan. */
  build(): void;
  plan(operation: string, isAbstract: boolean, isWhole: boolean): PlannedText;
};

/** Throws if the supergraph cannot be served on the surface, or at all. */
export function openFederated(
  supergraph: string,
  surface: SurfaceName | undefined,
  validateSupergraph: boolean,
): Federated {
  const seen = graphAsSeen(supergraph, surface);
  const federated = Supergraph.build(resolvableKeysFirst(seen), { validateSupergraph });
  const apiSchema = federated.apiSchema();
  const facts = factsOf(seen, textOf(apiSchema));
  if (surface !== undefined) requireHidden(facts, apiSchema);
  let planner: QueryPlanner | undefined;
  const builtPlanner = () => {
    planner ??= new QueryPlanner(federated);
    return planner;
  };
  return {
    facts,
    build: () => void builtPlanner(),
    plan(operation, isAbstract, isWhole) {
      const startedAt = performance.now();
      const schema = isWhole ? federated.schema : apiSchema;
      const document = parse(operation);
      const plan = builtPlanner().buildQueryPlan(operationFromDocument(schema, document));
      const { node } = plan;
      if (node?.kind === 'Subscription') throw new Error('no surface has subscriptions');
      const isDirect = !isAbstract && (node === undefined || isDirectPlan(node, federated.schema));
      const text = planText(plan, document);
      return { plan: text, isDirect, ms: performance.now() - startedAt };
    },
  };
}

/** Hiding is left to Apollo's library: without it, all root fields would be shown. */
function requireHidden({ rootScopes }: SurfaceFacts, { schemaDefinition }: Schema): void {
  for (const kind of ['query', 'mutation'] as const)
    for (const { name } of schemaDefinition.rootType(kind)?.fields() ?? [])
      if (!rootScopes[kind].has(name)) throw new Error(`the ${kind} ${name} would not be hidden`);
}

/**
 * The schema that callers of a surface see, with all that a gateway builds: on start, and for the
 * first operation of each kind. Throws if any of it fails.
 */
export function servedSurface(
  supergraph: string,
  surface: SurfaceName,
  validateSupergraph: boolean,
): { schema: GraphQLSchema; federated: Federated } {
  const federated = openFederated(supergraph, surface, validateSupergraph);
  const { sdl } = federated.facts;
  federated.build();
  buildSchema(sdl);
  schemaOf(graphAsSeen(supergraph, surface));
  return { schema: schemaOf(parse(sdl, { noLocation: true })), federated };
}

/**
 * The schema that callers see, without the types that only subgraphs' own directives have led to.
 * graphql-js cannot print the default values of custom scalars that are objects.
 */
function textOf(apiSchema: Schema): string {
  const text = printSchema(apiSchema);
  const all = parse(text, { noLocation: true });
  const shown = withoutUnreachable(all);
  return shown.definitions.length === all.definitions.length ? text : print(shown);
}

/**
 * With the default values of variables as they were: Apollo's planner changes their numbers.
 * Undefined if it is too large.
 */
function planText(plan: QueryPlan, { definitions }: DocumentNode): string | undefined {
  const defaults = new Map<string, VariableDefinitionNode>();
  for (const node of definitions)
    for (const each of ('variableDefinitions' in node && node.variableDefinitions) || [])
      if (each.defaultValue !== undefined)
        defaults.set(each.variable.name.value, { ...each, directives: [] });
  const withDefaults = (operation: string) =>
    visit(parse(operation), {
      VariableDefinition: ({ variable }) => defaults.get(variable.name.value),
    });
  let [fetches, fetched] = [0, 0];
  const text = JSON.stringify(plan, (key, value) => {
    if (key !== 'operation') return value;
    const isKept = fetches >= LIMITS.fetches || fetched > LIMITS.fetched || defaults.size === 0;
    const operation = isKept ? value : stripIgnoredCharacters(print(withDefaults(value)));
    fetches += 1;
    fetched += operation.length;
    return operation;
  });
  const isTooLarge = fetches > LIMITS.fetches || fetched > LIMITS.fetched;
  return isTooLarge || text.length > 2 * LIMITS.fetched ? undefined : text;
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
    const last = directives.filter((each) =>
      argumentsOf([each], 'join__type').some(({ resolvable }) => resolvable === false),
    );
    if (!isComposite || last.length === 0) return type;
    const first = directives.filter((directive) => !last.includes(directive));
    return { ...type, directives: [...first, ...last] };
  });
  return { ...supergraph, definitions };
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
