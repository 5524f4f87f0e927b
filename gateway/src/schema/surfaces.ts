// Cuts the surfaces' schemas from the one graph by @tag; to a caller, hidden fields do not exist.
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  parse,
  print,
  type SchemaDefinitionNode,
} from 'graphql';
import { argumentsOf, linksOf, reachableFrom, tagsIn } from './definitions.ts';

/** The surfaces and the credential of each. A field is on those that its `@tag`s name. */
export const SURFACES = {
  partner: 'a partner key',
  member: "a bearer token, for the member's own data",
} as const;

export type SurfaceName = keyof typeof SURFACES;

// Cast: Object.keys loses the names.
export const SURFACE_NAMES = Object.keys(SURFACES) as readonly SurfaceName[];

/**
 * The supergraph as one surface sees it. Fields of objects and interfaces without the surface's tag
 * become `@inaccessible`, as does every type that no visible field leads to; `@requires` can still
 * use them. A pure function. Throws if a visible field has a type without visible fields.
 */
export function surfaceDocument(supergraph: DocumentNode, surface: SurfaceName): DocumentNode {
  const isVisible = ({ directives }: FieldDefinitionNode) => tagsIn(directives).includes(surface);
  const reached = reachableTypes(supergraph, isVisible, surface);
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

/** What composition adds. Other types with such names are a team's own. */
const FEDERATION_TYPES: ReadonlySet<string> = new Set([
  'join__Graph',
  'join__FieldSet',
  'join__FieldValue',
  'join__DirectiveArguments',
  'join__ContextArgument',
  'link__Import',
  'link__Purpose',
]);
export const isFederationType = (name: string) => FEDERATION_TYPES.has(name);

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
const definesInaccessible = (node: DefinitionNode) =>
  node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === 'inaccessible';

function hide(directives: readonly ConstDirectiveNode[] = []): readonly ConstDirectiveNode[] {
  const hidden = directives.some(({ name }) => name.value === 'inaccessible');
  return hidden ? directives : [...directives, HIDDEN];
}

// The types that visible fields lead to from the root types, those of arguments included.
function reachableTypes(
  { definitions }: DocumentNode,
  isVisible: (field: FieldDefinitionNode) => boolean,
  surface: SurfaceName,
): Set<string> {
  const empty = new Set<string>();
  const shown = definitions.flatMap((node): DefinitionNode[] => {
    if (!isTypeDefinition(node) || !isComposite(node)) return [node];
    const fields = (node.fields ?? []).filter(isVisible);
    if (fields.length > 0 || node.kind === Kind.INTERFACE_TYPE_DEFINITION)
      return [{ ...node, fields }];
    empty.add(node.name.value);
    return [];
  });
  const links = linksOf(shown);
  const roots = ['Mutation', 'Subscription'].filter((name) => links.has(name));
  // A directive's own arguments need their types, on which surface it may be used.
  const directives = definitions.filter(({ kind }) => kind === Kind.DIRECTIVE_DEFINITION);
  const used = linksOf(directives).get('') ?? [];
  const reached = reachableFrom([...roots, 'Query', ...used], links);
  for (const name of reached)
    for (const next of links.get(name) ?? [])
      if (empty.has(next))
        throw new Error(
          `${name} shows ${next}, which has no visible field on the ${surface} surface`,
        );
  return reached;
}

function linkInaccessible(schema: SchemaDefinitionNode): SchemaDefinitionNode {
  const { directives = [] } = schema;
  // Teams can link specifications of their own, whose URLs contain anything.
  if (argumentsOf(directives, 'link').some(({ url }) => url === INACCESSIBLE_URL)) return schema;
  const sdl = `schema @link(url: "${INACCESSIBLE_URL}", for: SECURITY) { query: Query }`;
  const [definition] = parse(sdl).definitions;
  const link = definition?.kind === Kind.SCHEMA_DEFINITION ? (definition.directives ?? []) : [];
  return { ...schema, directives: [...directives, ...link] };
}
