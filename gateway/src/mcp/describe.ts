// Prints the partner surface's schema as far as a key may use it.
import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql';
import type { RootScopes, ScopeBits } from '../planning/scopes.ts';
import type { ServedGraphs } from '../supergraph/served.ts';

/** The SDL without the root fields that need other scopes, and without what only they use. */
export type Describe = (scopes: ScopeBits) => string;

/** Of the graph that serves now; each schema is printed once for each set of scopes. */
export function createDescribe(graphs: Pick<ServedGraphs, 'current'>): Describe {
  const printed = new WeakMap<GraphQLSchema, Map<ScopeBits, string>>();
  return (scopes) => {
    const { schema, rootScopes } = graphs.current().surfaces.partner;
    const byScopes = printed.get(schema) ?? new Map<ScopeBits, string>();
    printed.set(schema, byScopes);
    let sdl = byScopes.get(scopes);
    if (sdl === undefined) {
      sdl = print(reachable(usable(parse(printSchema(schema)), rootScopes, scopes)));
      byScopes.set(scopes, sdl);
    }
    return sdl;
  };
}

/** Without the root fields that need a scope that is not among these. */
function usable(document: DocumentNode, rootScopes: RootScopes, scopes: ScopeBits): DocumentNode {
  const needs: Record<string, ReadonlyMap<string, ScopeBits>> = {
    Query: rootScopes.query,
    Mutation: rootScopes.mutation,
  };
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    const needed = node.kind === Kind.OBJECT_TYPE_DEFINITION ? needs[node.name.value] : undefined;
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION || needed === undefined) return [node];
    const fields = (node.fields ?? []).filter(
      ({ name }) => ((needed.get(name.value) ?? 0) & ~scopes) === 0,
    );
    return fields.length === 0 ? [] : [{ ...node, fields }];
  });
  return { ...document, definitions };
}

/** Without the types that neither a root type nor a directive leads to. */
function reachable(document: DocumentNode): DocumentNode {
  const found = new Set<string>(['Query', 'Mutation']);
  let before = 0;
  while (found.size > before) {
    before = found.size;
    for (const node of document.definitions) if (isKept(node, found)) addNames(node, found);
  }
  return { ...document, definitions: document.definitions.filter((node) => isKept(node, found)) };
}

/** Whether a definition is used: an object type also through an interface that it implements. */
function isKept(node: DefinitionNode, found: ReadonlySet<string>): boolean {
  if (!('name' in node) || node.name === undefined) return true;
  if (node.kind === Kind.DIRECTIVE_DEFINITION || found.has(node.name.value)) return true;
  return interfacesOf(node).some((name) => found.has(name));
}

function interfacesOf(node: DefinitionNode): string[] {
  if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) return [];
  const { interfaces = [] }: ObjectTypeDefinitionNode = node;
  return interfaces.map(({ name }) => name.value);
}

function addNames(node: DefinitionNode, found: Set<string>): void {
  if ('name' in node && node.name !== undefined && node.kind !== Kind.DIRECTIVE_DEFINITION)
    found.add(node.name.value);
  visit(node, { NamedType: ({ name }) => void found.add(name.value) });
}
