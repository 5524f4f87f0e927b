// Reads the definitions of SDL: their elements, their directives, and which types lead to which.
import { eachNode } from '@partner-loyalty/runtime/cache/document.ts';
import {
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  type TypeNode,
} from 'graphql';

/** A field, an argument or an enum value, with its schema coordinate. */
export type DefinedElement = {
  coordinate: string;
  node: FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;
};

/** The elements of all types: each field, and then its arguments. */
export function* elementsIn({ definitions }: DocumentNode): Generator<DefinedElement> {
  for (const type of definitions) {
    if ('fields' in type) yield* elementsOfType(type.name.value, type.fields);
    if (type.kind === Kind.ENUM_TYPE_DEFINITION)
      yield* elementsOfType(type.name.value, type.values);
  }
}

function* elementsOfType(
  typeName: string,
  nodes: readonly DefinedElement['node'][] = [],
): Generator<DefinedElement> {
  for (const node of nodes) {
    const coordinate = `${typeName}.${node.name.value}`;
    yield { coordinate, node };
    for (const argument of ('arguments' in node && node.arguments) || [])
      yield { coordinate: `${coordinate}(${argument.name.value}:)`, node: argument };
  }
}

type Arguments = Readonly<Record<string, string | boolean | undefined>>;

/** The arguments of each directive with this name; a list or an object is true. */
export function argumentsOf(
  directives: readonly DirectiveNode[],
  directiveName: string,
): Arguments[] {
  return directives
    .filter(({ name }) => name.value === directiveName)
    .map(({ arguments: args = [] }) =>
      Object.fromEntries(
        args.map(({ name, value }) => [name.value, 'value' in value ? value.value : true]),
      ),
    );
}

export function tagsIn(directives: readonly DirectiveNode[] = []): string[] {
  return argumentsOf(directives, 'tag').map(({ name }) => String(name));
}

export function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

/** The types that a definition leads to, by its name. */
type Links = ReadonlyMap<string, ReadonlySet<string>>;

/** A type leads to those that it names, and an interface to those that implement it, too. */
export function linksOf(definitions: readonly DefinitionNode[]): Links {
  const links = new Map<string, Set<string>>();
  const add = (from: string, to: string) => links.set(from, (links.get(from) ?? new Set()).add(to));
  for (const node of definitions) {
    const name = typeNameOf(node);
    eachNode(node, (part) => {
      if (part.kind === Kind.NAMED_TYPE) add(name, part.name.value);
    });
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    for (const implemented of node.interfaces ?? []) add(implemented.name.value, name);
  }
  return links;
}

/** The names of the types that `roots` lead to, their own included. */
export function reachableFrom(roots: Iterable<string>, links: Links): Set<string> {
  const reached = new Set(roots);
  for (const name of reached) for (const next of links.get(name) ?? []) reached.add(next);
  return reached;
}

/** Empty for directives and for the schema's own definition. */
function typeNameOf(node: DefinitionNode): string {
  const isType = 'name' in node && node.kind !== Kind.DIRECTIVE_DEFINITION;
  return (isType && node.name?.value) || '';
}

/** The document without the types that neither a root type nor a directive leads to. */
export function withoutUnreachable(document: DocumentNode): DocumentNode {
  // The empty name stands for the directives and the schema's definition.
  const found = reachableFrom(['Query', 'Mutation', ''], linksOf(document.definitions));
  const definitions = document.definitions.filter((node) => found.has(typeNameOf(node)));
  return { ...document, definitions };
}
