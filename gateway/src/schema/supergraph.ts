// Reads the facts of a composed supergraph that the gateway needs before it builds the graph.
import {
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
} from 'graphql';
import { argumentsOf } from './definitions.ts';

/** A subgraph as the supergraph lists it (join specification 0.5, `join__Graph`). */
export type JoinedSubgraph = {
  name: string;
  /** Its routing URL; undefined if it was composed without one. */
  url: string | undefined;
};

export type SupergraphFacts = {
  subgraphs: readonly JoinedSubgraph[];
  /** The name of the subgraph that is the built-in identity provider, if one is. */
  provider: string | undefined;
};

/** The field of Query that makes a subgraph the identity provider. */
const PROVIDER_FIELD = 'signingKeys';

/** Throws a GraphQLError if the text is not SDL. */
export function readSupergraph(sdl: string): SupergraphFacts {
  const supergraph = parse(sdl, { noLocation: true });
  const graphs = joinedSubgraphs(supergraph);
  const query = supergraph.definitions.find(
    (node): node is ObjectTypeDefinitionNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION && node.name.value === 'Query',
  );
  const field = query?.fields?.find(({ name }) => name.value === PROVIDER_FIELD);
  const graph = field && (graphOf(field) ?? (query && graphOf(query)));
  return {
    subgraphs: [...graphs.values()],
    provider: graphs.get(String(graph))?.name,
  };
}

/** The subgraphs, by their values in the enum `join__Graph`. */
export function joinedSubgraphs({ definitions }: DocumentNode): Map<string, JoinedSubgraph> {
  const graphs = new Map<string, JoinedSubgraph>();
  for (const node of definitions) {
    if (node.kind !== Kind.ENUM_TYPE_DEFINITION || node.name.value !== 'join__Graph') continue;
    for (const { name, directives = [] } of node.values ?? [])
      for (const graph of argumentsOf(directives, 'join__graph'))
        graphs.set(name.value, {
          name: String(graph.name),
          url: graph.url ? String(graph.url) : undefined,
        });
  }
  return graphs;
}

function graphOf({ directives = [] }: FieldDefinitionNode | ObjectTypeDefinitionNode) {
  const [join] = ['join__field', 'join__type'].flatMap((name) => argumentsOf(directives, name));
  return join?.graph;
}
