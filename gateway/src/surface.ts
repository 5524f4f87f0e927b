// The surfaces: schemas cut from the one graph by @tag, each with an executor of its own, so that a hidden field and a misspelt one are the same thing.
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import type { Scope, SubgraphReply, Transport } from '@partner-loyalty/runtime';
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
} from 'graphql';

/** The surfaces and whom they serve. A field is on those its `@tag`s name, on none without a tag. */
export const SURFACES = {
  partner: 'a partner key',
  member: "a bearer token, for the member's own data",
} as const;

export type Surface = keyof typeof SURFACES;

/** What a request asks of its surface; `document` is validated and `operationName` picks one of its operations. */
export type Execution = {
  document: DocumentNode;
  /** The same for the same document and operation: the query planner's cache key. */
  key: string;
  operationName?: string;
  variables: Record<string, unknown>;
  scope: Scope;
  requestId: string;
};

export type ExecutionResult = {
  data?: Record<string, unknown> | null;
  errors?: readonly { message: string; path?: readonly (string | number)[]; extensions?: Record<string, unknown> }[];
  extensions?: Record<string, unknown>;
};

export type SurfaceExecutor = { schema: GraphQLSchema; execute(execution: Execution): Promise<ExecutionResult>; close(): Promise<void> };

/** Builds the executor of one surface over the transports, which are found by the subgraph's name. Throws where the supergraph does not fit. */
export async function openSurface(surface: Surface, supergraph: string, transports: Record<string, Transport>): Promise<SurfaceExecutor> {
  // Set before the gateway is constructed, or it reports to its vendor and asks cloud metadata services where it runs.
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  const gateway = new ApolloGateway({
    supergraphSdl: surfaceSdl(supergraph, surface),
    buildService: ({ name }) => dataSource(name, transports[name]),
    logger: SILENT,
    __exposeQueryPlanExperimental: false,
  });
  const { schema, executor } = await gateway.load();
  return {
    schema,
    async execute({ document, key, operationName, variables, scope, requestId }) {
      // The executor reads these of Apollo Server's request context and nothing else.
      const context = {
        document,
        queryHash: key,
        request: { operationName, variables },
        context: { scope, requestId },
        metrics: {},
        logger: SILENT,
      };
      return (await executor(context as unknown as Parameters<typeof executor>[0])) as ExecutionResult;
    },
    close: () => gateway.stop(),
  };
}

const ignore = () => {};
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

type RequestContext = { scope: Scope; requestId: string };

function dataSource(name: string, transport: Transport | undefined): GraphQLDataSource<RequestContext> {
  if (transport === undefined) throw new Error(`the supergraph names a subgraph "${name}" that is not configured`);
  return {
    async process({ request, context }) {
      const { query = '', variables, operationName } = request;
      const reply: SubgraphReply = await transport.execute({
        query,
        variables,
        operationName,
        scope: context.scope,
        requestId: context.requestId,
      });
      // The executor's type asks for GraphQLError objects; it reads only these plain properties of them.
      return withPaths(reply, variables) as Awaited<ReturnType<GraphQLDataSource['process']>>;
    },
  };
}

// A fetch of entities that failed as a whole failed for each of them; so the caller reads which fields it concerns.
function withPaths(reply: SubgraphReply, variables: Record<string, unknown> | undefined): SubgraphReply {
  const representations = variables?.representations;
  if (reply.errors === undefined || !Array.isArray(representations)) return reply;
  const errors = reply.errors.flatMap((error) =>
    error.path === undefined ? representations.map((_, index) => ({ ...error, path: ['_entities', index] })) : [error],
  );
  return { ...reply, errors };
}

/**
 * The supergraph as one surface sees it: fields of objects and interfaces without the surface's tag become `@inaccessible`, and with them
 * every type that no visible field leads to. They can still be used inside `@requires`. A pure function.
 * Throws where a visible field has a type of which nothing is visible.
 */
export function surfaceSdl(supergraph: string, surface: Surface): string {
  const document = parse(supergraph);
  const types = new Map<string, TypeDefinition>();
  for (const node of document.definitions) if (isTypeDefinition(node)) types.set(node.name.value, node);
  const visible = (field: FieldDefinitionNode) => hasTag(field, surface);
  const reached = reach(types, visible, surface);
  const definitions = document.definitions.map((node): DefinitionNode => {
    if (node.kind === Kind.SCHEMA_DEFINITION) return linkInaccessible(node);
    if (!isTypeDefinition(node) || isMachinery(node.name.value)) return node;
    const shown = reached.has(node.name.value);
    const directives = shown ? node.directives : hide(node.directives);
    if (!isComposite(node)) return { ...node, directives };
    const fields = node.fields?.map((field) => (visible(field) ? field : { ...field, directives: hide(field.directives) }));
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
const HIDDEN: ConstDirectiveNode = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'inaccessible' } };

const isTypeDefinition = (node: DefinitionNode): node is TypeDefinition => node.kind.endsWith('TypeDefinition');
const isComposite = (node: TypeDefinition) => node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION;
const isMachinery = (name: string) => /^(join|link|core|context|connect)__/.test(name);
const definesInaccessible = (node: DefinitionNode) => node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === 'inaccessible';

function hasTag(field: FieldDefinitionNode, surface: Surface): boolean {
  return (field.directives ?? []).some(
    ({ name, arguments: args }) => name.value === 'tag' && args?.some(({ value }) => value.kind === Kind.STRING && value.value === surface),
  );
}

function hide(directives: readonly ConstDirectiveNode[] = []): readonly ConstDirectiveNode[] {
  return directives.some(({ name }) => name.value === 'inaccessible') ? directives : [...directives, HIDDEN];
}

// The types that visible fields lead to from the roots, arguments and their input types included.
function reach(types: Map<string, TypeDefinition>, visible: (field: FieldDefinitionNode) => boolean, surface: Surface): Set<string> {
  const reached = new Set<string>(['Query']);
  const roots = ['Query', 'Mutation', 'Subscription'].filter((name) => someVisible(types.get(name), visible));
  const pending = [...roots];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const node = types.get(name);
    if (node === undefined) continue; // a scalar of the language
    reached.add(name);
    for (const next of leadsTo(node, visible, types)) {
      const target = types.get(next);
      if (target !== undefined && isComposite(target) && target.kind === Kind.OBJECT_TYPE_DEFINITION && !someVisible(target, visible)) {
        throw new Error(`${name} shows ${next} on the ${surface} surface, of which no field is visible there`);
      }
      if (!reached.has(next)) pending.push(next);
    }
  }
  return reached;
}

function leadsTo(node: TypeDefinition, visible: (field: FieldDefinitionNode) => boolean, types: Map<string, TypeDefinition>): string[] {
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const fields = (node.fields ?? []).filter(visible);
      const implementers = node.kind === Kind.INTERFACE_TYPE_DEFINITION ? implementersOf(node.name.value, types) : [];
      return [
        ...fields.flatMap((field) => [named(field.type), ...(field.arguments ?? []).map((argument) => named(argument.type))]),
        ...(node.interfaces ?? []).map(({ name }) => name.value),
        ...implementers.filter((implementer) => someVisible(implementer, visible)).map(({ name }) => name.value),
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

function implementersOf(name: string, types: Map<string, TypeDefinition>): ObjectTypeDefinitionNode[] {
  return [...types.values()].filter(
    (node): node is ObjectTypeDefinitionNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION && (node.interfaces ?? []).some((implemented) => implemented.name.value === name),
  );
}

function someVisible(node: TypeDefinition | undefined, visible: (field: FieldDefinitionNode) => boolean): boolean {
  return node !== undefined && isComposite(node) && (node.fields ?? []).some(visible);
}

function named(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : named(type.type as NamedTypeNode);
}

function linkInaccessible<T extends { directives?: readonly ConstDirectiveNode[] }>(schema: T): T {
  const linked = (schema.directives ?? []).some((link) => print(link).includes('specs.apollo.dev/inaccessible/'));
  if (linked) return schema;
  const sdl = `schema @link(url: "${INACCESSIBLE_URL}", for: SECURITY) { query: Query }`;
  const [definition] = parse(sdl).definitions;
  const link = definition?.kind === Kind.SCHEMA_DEFINITION ? (definition.directives ?? []) : [];
  return { ...schema, directives: [...(schema.directives ?? []), ...link] };
}
