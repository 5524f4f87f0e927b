// Prints the part of the partner surface's schema that a key may use.
import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql';
import type { ServedGraphs } from '../graph/served.ts';
import type { RootScopes, ScopeBits } from '../schema/scopes.ts';

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
  const links = linksOf(document);
  const found = new Set<string>();
  const queue = [...ROOTS];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    queue.push(...(links.get(name) ?? []));
  }
  const definitions = document.definitions.filter((node) => found.has(nameOf(node)));
  return { ...document, definitions };
}

/** Stands for each directive and the schema's own definition, which every key has. */
const KEPT = '';
const ROOTS = ['Query', 'Mutation', KEPT];

/** The types that each one leads to: an interface leads to those that implement it, too. */
function linksOf({ definitions }: DocumentNode): ReadonlyMap<string, ReadonlySet<string>> {
  const links = new Map<string, Set<string>>();
  const add = (from: string, to: string) => {
    const known = links.get(from);
    if (known === undefined) links.set(from, new Set([to]));
    else known.add(to);
  };
  for (const node of definitions) {
    const name = nameOf(node);
    visit(node, { NamedType: (type) => add(name, type.name.value) });
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    for (const implemented of node.interfaces ?? []) add(implemented.name.value, name);
  }
  return links;
}

function nameOf(node: DefinitionNode): string {
  const isType = 'name' in node && node.kind !== Kind.DIRECTIVE_DEFINITION;
  return isType && node.name !== undefined ? node.name.value : KEPT;
}
