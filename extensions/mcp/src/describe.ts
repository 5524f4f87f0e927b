// Prints the part of the partner surface's schema that a key may use.
import type { ServedGraphs } from '@partner-loyalty/gateway/graph/served.ts';
import { withoutUnreachable } from '@partner-loyalty/gateway/schema/definitions.ts';
import type { RootScopes, ScopeBits } from '@partner-loyalty/gateway/schema/scopes.ts';
import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  parse,
  print,
} from 'graphql';

/**
 * Describes the graph that serves now: the SDL without the root fields that need other scopes, and
 * without what only they use. Each schema is printed once for each set of scopes.
 */
export function createDescribe(graphs: Pick<ServedGraphs, 'current'>) {
  const printed = new WeakMap<GraphQLSchema, Map<ScopeBits, string>>();
  return (scopes: ScopeBits): string => {
    const { schema, sdl: whole, rootScopes } = graphs.current().surfaces.partner;
    const byScopes = printed.get(schema) ?? new Map<ScopeBits, string>();
    printed.set(schema, byScopes);
    let sdl = byScopes.get(scopes);
    if (sdl === undefined) {
      sdl = print(withoutUnreachable(usable(parse(whole), rootScopes, scopes)));
      byScopes.set(scopes, sdl);
    }
    return sdl;
  };
}

/** The document without the root fields that need a scope that is not among these. */
function usable(document: DocumentNode, rootScopes: RootScopes, scopes: ScopeBits): DocumentNode {
  const needs = new Map([
    ['Query', rootScopes.query],
    ['Mutation', rootScopes.mutation],
  ]);
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    const needed =
      node.kind === Kind.OBJECT_TYPE_DEFINITION ? needs.get(node.name.value) : undefined;
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION || needed === undefined) return [node];
    const fields = (node.fields ?? []).filter(
      ({ name }) => ((needed.get(name.value) ?? 0) & ~scopes) === 0,
    );
    return fields.length === 0 ? [] : [{ ...node, fields }];
  });
  return { ...document, definitions };
}
