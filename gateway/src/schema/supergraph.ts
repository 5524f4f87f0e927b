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

type SupergraphFacts = ServiceParts & { subgraphs: readonly JoinedSubgraph[] };

export type ServiceParts = {
  /** The name of the subgraph that is the built-in identity provider, if one is. */
  provider: string | undefined;
  /** The name of the subgraph whose events webhooks send, if there is one. */
  feed: string | undefined;
};

/** The fields of Query that show which subgraph has a part. */
const FIELDS = { provider: 'signingKeys', feed: 'events' };

/** Throws a GraphQLError if the text is not SDL. */
export function readSupergraph(sdl: string): SupergraphFacts {
  const supergraph = parse(sdl, { noLocation: true });
  const subgraphs = [...joinedSubgraphs(supergraph).values()];
  return { subgraphs, ...partsIn(supergraph) };
}

export function partsIn(supergraph: DocumentNode): ServiceParts {
  const graphs = joinedSubgraphs(supergraph);
  const query = supergraph.definitions.find(
    (node): node is ObjectTypeDefinitionNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION && node.name.value === 'Query',
  );
  const ownerOf = (wanted: string) => {
    const field = query?.fields?.find(({ name }) => name.value === wanted);
    const graph = field && (graphOf(field) ?? (query && graphOf(query)));
    return graphs.get(String(graph))?.name;
  };
  return { provider: ownerOf(FIELDS.provider), feed: ownerOf(FIELDS.feed) };
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
  const [join] = ['join__field', 'join__type']
    .flatMap((name) => argumentsOf(directives, name))
    .filter(({ external, usedOverridden }) => external !== true && usedOverridden !== true);
  return join?.graph;
}
