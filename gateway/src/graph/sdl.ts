// Reads the facts of a composed supergraph that the gateway needs before it builds the graph.
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
} from 'graphql';

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
  const { definitions } = parse(sdl, { noLocation: true });
  const graphs = graphsOf(definitions);
  const query = definitions.find(
    (node): node is ObjectTypeDefinitionNode =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION && node.name.value === 'Query',
  );
  const field = query?.fields?.find(({ name }) => name.value === PROVIDER_FIELD);
  const graph = field && (graphOf(field) ?? (query && graphOf(query)));
  return {
    subgraphs: [...graphs.values()],
    provider: graph === undefined ? undefined : graphs.get(graph)?.name,
  };
}

/** The subgraphs, by their values in the enum `join__Graph`. */
function graphsOf(definitions: readonly DefinitionNode[]): Map<string, JoinedSubgraph> {
  const graphs = new Map<string, JoinedSubgraph>();
  for (const node of definitions) {
    if (node.kind !== Kind.ENUM_TYPE_DEFINITION || node.name.value !== 'join__Graph') continue;
    for (const { name, directives = [] } of node.values ?? []) {
      const url = textArgument(directives, 'join__graph', 'url');
      graphs.set(name.value, {
        name: textArgument(directives, 'join__graph', 'name') ?? name.value,
        url: url === '' ? undefined : url,
      });
    }
  }
  return graphs;
}

function graphOf({ directives = [] }: FieldDefinitionNode | ObjectTypeDefinitionNode) {
  return (
    textArgument(directives, 'join__field', 'graph') ??
    textArgument(directives, 'join__type', 'graph')
  );
}

function textArgument(
  directives: readonly ConstDirectiveNode[],
  directive: string,
  argument: string,
): string | undefined {
  const found = directives.find(({ name }) => name.value === directive);
  const value = found?.arguments?.find(({ name }) => name.value === argument)?.value;
  return value?.kind === Kind.STRING || value?.kind === Kind.ENUM ? value.value : undefined;
}
