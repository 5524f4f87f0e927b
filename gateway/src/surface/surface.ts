// The surfaces: schemas cut from the one graph by @tag, each with an executor of its own, so that a hidden field and a misspelt one are the same thing.
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { type PlanNode, QueryPlanner } from '@apollo/query-planner';
import {
  expandedSelections,
  type Scope,
  type SubgraphError,
  type Transport,
} from '@partner-loyalty/runtime';
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  Kind,
  type NamedTypeNode,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  type TypeNode,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { fieldNames, guardAliases, responseName } from './alias.ts';
import { type PlanRun, runPlan } from './plan.ts';
import { compileShape, type Path, type Shape } from './shape.ts';

/** The surfaces and whom they serve. A field is on those its `@tag`s name, on none without a tag. */
export const SURFACES = {
  partner: 'a partner key',
  member: "a bearer token, for the member's own data",
} as const;

export type Surface = keyof typeof SURFACES;

/** What a request asks of its surface. The document is validated and has one operation. */
export type Execution = {
  document: DocumentNode;
  /** The same for the same document: the key of its plan and shape. */
  key: string;
  /** As the caller sent them. */
  variables: Record<string, unknown>;
  /** With the defaults of the document. */
  coerced: Record<string, unknown>;
  scope: Scope;
  requestId: string;
};

export type ExecutionResult = {
  data: Record<string, unknown> | null;
  errors: SubgraphError[];
  /** Where a subgraph gave null or a value that the schema does not allow. */
  nullViolations: Path[];
};

export type SurfaceExecutor = {
  schema: GraphQLSchema;
  execute(execution: Execution): ExecutionResult | Promise<ExecutionResult>;
};

// Callers choose documents, so both bounds matter.
const MAX_PLANS = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;
// What a plan was seen to take for each character of its document's text and for each selection, and each shape for each selection.
const BYTES_PER_CHARACTER = 128;
const BYTES_PLANNED = 640;
const BYTES_SHAPED = 384;

/** Builds the executor of one surface over the transports, which are found by the subgraph's name. Throws where the supergraph does not fit. */
export function openSurface(
  surface: Surface,
  supergraphSdl: string,
  transports: Readonly<Record<string, Transport>>,
): SurfaceExecutor {
  const supergraph = Supergraph.build(surfaceSdl(supergraphSdl, surface));
  for (const { name } of supergraph.subgraphsMetadata()) {
    if (!Object.hasOwn(transports, name))
      throw new Error(`the supergraph names a subgraph "${name}" that is not configured`);
  }
  const planner = new QueryPlanner(supergraph);
  const apiSchema = supergraph.apiSchema();
  const schema = apiSchema.toGraphQLJSSchema();
  const whole = supergraph.schema.toGraphQLJSSchema();
  const fields = fieldNames(whole);
  const plans = new LRUCache<string, Planned>({
    max: MAX_PLANS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ document, conditions }, key) =>
      1_024 +
      key.length * BYTES_PER_CHARACTER +
      expandedSelections(document) * (BYTES_PLANNED + mostShapes(conditions) * BYTES_SHAPED),
  });

  function plannedOf(document: DocumentNode, key: string): Planned {
    let planned = plans.get(key);
    if (planned === undefined) {
      const guarded = guardAliases(document, fields);
      const { node } = planner.buildQueryPlan(operationFromDocument(apiSchema, guarded));
      if (node?.kind === 'Subscription') throw new Error('no surface has subscriptions');
      planned = { document: guarded, node, conditions: conditionsOf(document), shapes: new Map() };
      plans.set(key, planned);
    }
    return planned;
  }

  return {
    schema,
    execute({ document, key, variables, coerced, scope, requestId }) {
      const planned = plannedOf(document, key);
      const shape = shapeOf(planned, schema, coerced);
      const run: PlanRun = {
        transports,
        supergraph: whole,
        variables,
        coerced,
        scope,
        requestId,
        data: {},
        errors: [],
      };
      const running = planned.node && runPlan(planned.node, run);
      return running ? running.then(() => shaped(run, shape)) : shaped(run, shape);
    },
  };
}

/** A document with guarded aliases, its plan, the variables its conditions name, and its shapes by the values of those. */
type Planned = {
  document: DocumentNode;
  node?: PlanNode;
  conditions: readonly string[];
  shapes: Map<string, Shape>;
};

// With many conditions the combinations are not worth keeping; then each request compiles its own shape.
const MAX_SHAPES = 16;

/** How many shapes may come to be kept. */
function mostShapes(conditions: readonly string[]): number {
  return Math.min(MAX_SHAPES, 2 ** conditions.length);
}

function shapeOf(
  { document, conditions, shapes }: Planned,
  schema: GraphQLSchema,
  coerced: Record<string, unknown>,
): Shape {
  const values =
    conditions.length === 0
      ? ''
      : conditions.map((name) => (coerced[name] === true ? '1' : '0')).join('');
  const known = shapes.get(values);
  if (known !== undefined) return known;
  const shape = compileShape(schema, document, coerced);
  if (shapes.size < MAX_SHAPES) shapes.set(values, shape);
  return shape;
}

// Paths under the names the caller gave.
function asNamed(error: SubgraphError): SubgraphError {
  return error.path === undefined
    ? error
    : {
        ...error,
        path: error.path.map((step) => (typeof step === 'string' ? responseName(step) : step)),
      };
}

function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: ({ arguments: [condition] = [] }) => {
      if (condition?.value.kind === Kind.VARIABLE) names.add(condition.value.name.value);
    },
  });
  return [...names];
}

function shaped({ data, errors }: PlanRun, shape: Shape): ExecutionResult {
  const nullViolations: Path[] = [];
  return {
    data: shape(data, (path) => void nullViolations.push(path)),
    errors: errors.map(asNamed),
    nullViolations,
  };
}

/**
 * The supergraph as one surface sees it: fields of objects and interfaces without the surface's tag become `@inaccessible`, and with them
 * every type that no visible field leads to. They can still be used inside `@requires`. A pure function.
 * Throws where a visible field has a type of which nothing is visible.
 */
export function surfaceSdl(supergraph: string, surface: Surface): string {
  const document = parse(supergraph);
  const types = new Map<string, TypeDefinition>();
  for (const node of document.definitions)
    if (isTypeDefinition(node)) types.set(node.name.value, node);
  const visible = (field: FieldDefinitionNode) => hasTag(field, surface);
  const reached = reach(types, visible, surface);
  const definitions = document.definitions.map((node): DefinitionNode => {
    if (node.kind === Kind.SCHEMA_DEFINITION) return linkInaccessible(node);
    if (!isTypeDefinition(node) || isMachinery(node.name.value)) return node;
    const shown = reached.has(node.name.value);
    const directives = shown ? node.directives : hide(node.directives);
    if (!isComposite(node)) return { ...node, directives };
    const fields = node.fields?.map((field) =>
      visible(field) ? field : { ...field, directives: hide(field.directives) },
    );
    return { ...node, directives, fields };
  });
  if (!document.definitions.some(definesInaccessible)) definitions.push(...INACCESSIBLE);
  return print({ kind: Kind.DOCUMENT, definitions });
}

type TypeDefinition = Extract<DefinitionNode, { kind: `${string}TypeDefinition` }>;

const INACCESSIBLE_URL = 'https://specs.apollo.dev/inaccessible/v0.2';
const INACCESSIBLE = parse(
  'directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION',
).definitions;
const HIDDEN: ConstDirectiveNode = {
  kind: Kind.DIRECTIVE,
  name: { kind: Kind.NAME, value: 'inaccessible' },
};

const isTypeDefinition = (node: DefinitionNode): node is TypeDefinition =>
  node.kind.endsWith('TypeDefinition');
const isComposite = (node: TypeDefinition) =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION;
const isMachinery = (name: string) => /^(join|link|core|context|connect)__/.test(name);
const definesInaccessible = (node: DefinitionNode) =>
  node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === 'inaccessible';

function hasTag(field: FieldDefinitionNode, surface: Surface): boolean {
  return (field.directives ?? []).some(
    ({ name, arguments: args }) =>
      name.value === 'tag' &&
      args?.some(({ value }) => value.kind === Kind.STRING && value.value === surface),
  );
}

function hide(directives: readonly ConstDirectiveNode[] = []): readonly ConstDirectiveNode[] {
  return directives.some(({ name }) => name.value === 'inaccessible')
    ? directives
    : [...directives, HIDDEN];
}

// The types that visible fields lead to from the roots, arguments and their input types included.
function reach(
  types: Map<string, TypeDefinition>,
  visible: (field: FieldDefinitionNode) => boolean,
  surface: Surface,
): Set<string> {
  const reached = new Set<string>(['Query']);
  const roots = ['Query', 'Mutation', 'Subscription'].filter((name) =>
    someVisible(types.get(name), visible),
  );
  const pending = [...roots];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const node = types.get(name);
    if (node === undefined) continue; // a scalar of the language
    reached.add(name);
    for (const next of leadsTo(node, visible, types)) {
      const target = types.get(next);
      if (
        target !== undefined &&
        isComposite(target) &&
        target.kind === Kind.OBJECT_TYPE_DEFINITION &&
        !someVisible(target, visible)
      ) {
        throw new Error(
          `${name} shows ${next} on the ${surface} surface, of which no field is visible there`,
        );
      }
      if (!reached.has(next)) pending.push(next);
    }
  }
  return reached;
}

function leadsTo(
  node: TypeDefinition,
  visible: (field: FieldDefinitionNode) => boolean,
  types: Map<string, TypeDefinition>,
): string[] {
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const fields = (node.fields ?? []).filter(visible);
      const implementers =
        node.kind === Kind.INTERFACE_TYPE_DEFINITION ? implementersOf(node.name.value, types) : [];
      return [
        ...fields.flatMap((field) => [
          named(field.type),
          ...(field.arguments ?? []).map((argument) => named(argument.type)),
        ]),
        ...(node.interfaces ?? []).map(({ name }) => name.value),
        ...implementers
          .filter((implementer) => someVisible(implementer, visible))
          .map(({ name }) => name.value),
      ];
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return (node.fields ?? []).map((field) => named(field.type));
    case Kind.UNION_TYPE_DEFINITION:
      return (node.types ?? []).map(({ name }) => name.value);
    default:
      return [];
  }
}

function implementersOf(
  name: string,
  types: Map<string, TypeDefinition>,
): ObjectTypeDefinitionNode[] {
  return [...types.values()].filter(
    (node): node is ObjectTypeDefinitionNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION &&
      (node.interfaces ?? []).some((implemented) => implemented.name.value === name),
  );
}

function someVisible(
  node: TypeDefinition | undefined,
  visible: (field: FieldDefinitionNode) => boolean,
): boolean {
  return node !== undefined && isComposite(node) && (node.fields ?? []).some(visible);
}

function named(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : named(type.type as NamedTypeNode);
}

function linkInaccessible<T extends { directives?: readonly ConstDirectiveNode[] }>(schema: T): T {
  const linked = (schema.directives ?? []).some((link) =>
    print(link).includes('specs.apollo.dev/inaccessible/'),
  );
  if (linked) return schema;
  const sdl = `schema @link(url: "${INACCESSIBLE_URL}", for: SECURITY) { query: Query }`;
  const [definition] = parse(sdl).definitions;
  const link = definition?.kind === Kind.SCHEMA_DEFINITION ? (definition.directives ?? []) : [];
  return { ...schema, directives: [...(schema.directives ?? []), ...link] };
}
