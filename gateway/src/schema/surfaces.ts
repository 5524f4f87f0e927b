// Cuts the surfaces' schemas from the one graph by @tag; to a caller, hidden fields do not exist.
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  type TypeNode,
} from 'graphql';

/** The surfaces and the credential of each. A field is on those that its `@tag`s name. */
export const SURFACES = {
  partner: 'a partner key',
  member: "a bearer token, for the member's own data",
} as const;

export type SurfaceName = keyof typeof SURFACES;

/**
 * The supergraph as one surface sees it. Fields of objects and interfaces without the surface's tag
 * become `@inaccessible`, as does every type that no visible field leads to; `@requires` can still
 * use them. A pure function. Throws if a visible field has a type without visible fields.
 */
export function surfaceDocument(supergraph: DocumentNode, surface: SurfaceName): DocumentNode {
  const types = new Map<string, TypeDefinition>();
  for (const node of supergraph.definitions)
    if (isTypeDefinition(node)) types.set(node.name.value, node);
  const isVisible = (field: FieldDefinitionNode) => hasTag(field, surface);
  const reached = reachableTypes(types, isVisible, surface);
  const definitions = supergraph.definitions.map((node): DefinitionNode => {
    if (node.kind === Kind.SCHEMA_DEFINITION) return linkInaccessible(node);
    if (!isTypeDefinition(node) || isFederationType(node.name.value)) return node;
    const { name, directives: own = [] } = node;
    const directives = reached.has(name.value) ? own : hide(own);
    if (!isComposite(node)) return { ...node, directives };
    const fields = (node.fields ?? []).map((field) =>
      isVisible(field) ? field : { ...field, directives: hide(field.directives) },
    );
    return { ...node, directives, fields };
  });
  if (!supergraph.definitions.some(definesInaccessible)) definitions.push(...INACCESSIBLE);
  return { kind: Kind.DOCUMENT, definitions };
}

/** The same as text. */
export function surfaceSdl(supergraph: string, surface: SurfaceName): string {
  return print(surfaceDocument(parse(supergraph), surface));
}

type TypeDefinition = Extract<DefinitionNode, { kind: `${string}TypeDefinition` }>;
type IsVisible = (field: FieldDefinitionNode) => boolean;

const INACCESSIBLE_URL = 'https://specs.apollo.dev/inaccessible/v0.2';
const INACCESSIBLE = parse(
  `directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION
    | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION`,
).definitions;
const HIDDEN: ConstDirectiveNode = {
  kind: Kind.DIRECTIVE,
  name: { kind: Kind.NAME, value: 'inaccessible' },
};

const isTypeDefinition = (node: DefinitionNode): node is TypeDefinition =>
  node.kind.endsWith('TypeDefinition');
const isComposite = (node: TypeDefinition) =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION;
const isFederationType = (name: string) => /^(join|link|core|context|connect)__/.test(name);
const definesInaccessible = (node: DefinitionNode) =>
  node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === 'inaccessible';

function hasTag(field: FieldDefinitionNode, surface: SurfaceName): boolean {
  return (field.directives ?? []).some(
    ({ name, arguments: args }) =>
      name.value === 'tag' &&
      args?.some(({ value }) => value.kind === Kind.STRING && value.value === surface),
  );
}

function hide(directives: readonly ConstDirectiveNode[] = []): readonly ConstDirectiveNode[] {
  const hidden = directives.some(({ name }) => name.value === 'inaccessible');
  return hidden ? directives : [...directives, HIDDEN];
}

// The types that visible fields lead to from the root types, those of arguments included.
function reachableTypes(
  types: ReadonlyMap<string, TypeDefinition>,
  isVisible: IsVisible,
  surface: SurfaceName,
): Set<string> {
  const reached = new Set<string>(['Query']);
  const pending = ['Query', 'Mutation', 'Subscription'].filter((name) =>
    hasVisibleField(types.get(name), isVisible),
  );
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const node = types.get(name);
    if (node === undefined) continue; // a built-in scalar
    reached.add(name);
    for (const next of typesUsedBy(node, isVisible, types)) {
      const target = types.get(next);
      if (target?.kind === Kind.OBJECT_TYPE_DEFINITION && !hasVisibleField(target, isVisible))
        throw new Error(
          `${name} shows ${next}, which has no visible field on the ${surface} surface`,
        );
      if (!reached.has(next)) pending.push(next);
    }
  }
  return reached;
}

function typesUsedBy(
  node: TypeDefinition,
  isVisible: IsVisible,
  types: ReadonlyMap<string, TypeDefinition>,
): string[] {
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const isInterface = node.kind === Kind.INTERFACE_TYPE_DEFINITION;
      const implementers = isInterface ? implementersOf(node.name.value, types) : [];
      return [
        ...(node.fields ?? []).filter(isVisible).flatMap(typesOfField),
        ...(node.interfaces ?? []).map(({ name }) => name.value),
        ...implementers
          .filter((implementer) => hasVisibleField(implementer, isVisible))
          .map(({ name }) => name.value),
      ];
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return (node.fields ?? []).map((field) => nameOf(field.type));
    case Kind.UNION_TYPE_DEFINITION:
      return (node.types ?? []).map(({ name }) => name.value);
    default:
      return [];
  }
}

function typesOfField({ type, arguments: args = [] }: FieldDefinitionNode): string[] {
  return [nameOf(type), ...args.map((argument) => nameOf(argument.type))];
}

function implementersOf(
  name: string,
  types: ReadonlyMap<string, TypeDefinition>,
): ObjectTypeDefinitionNode[] {
  return [...types.values()].filter(
    (node): node is ObjectTypeDefinitionNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION &&
      (node.interfaces ?? []).some((implemented) => implemented.name.value === name),
  );
}

function hasVisibleField(node: TypeDefinition | undefined, isVisible: IsVisible): boolean {
  return node !== undefined && isComposite(node) && (node.fields ?? []).some(isVisible);
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

function linkInaccessible<T extends { directives?: readonly ConstDirectiveNode[] | undefined }>(
  schema: T,
): T {
  const { directives = [] } = schema;
  if (directives.some((link) => print(link).includes('specs.apollo.dev/inaccessible/')))
    return schema;
  const sdl = `schema @link(url: "${INACCESSIBLE_URL}", for: SECURITY) { query: Query }`;
  const [definition] = parse(sdl).definitions;
  const link = definition?.kind === Kind.SCHEMA_DEFINITION ? (definition.directives ?? []) : [];
  return { ...schema, directives: [...directives, ...link] };
}
