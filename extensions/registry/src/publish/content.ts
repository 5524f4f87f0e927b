// The content of the next version: what is published now, with one subgraph changed or removed.
import type { GraphContent } from '@partner-loyalty/gateway/graph/committed.ts';
import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import { datedSdl } from '@partner-loyalty/gateway/schema/dated.ts';
import { readSupergraph } from '@partner-loyalty/gateway/schema/supergraph.ts';
import { composeSupergraph } from './compose.ts';

/** The content with a subgraph that has this schema. Throws as composeSupergraph does. */
export function withSubgraph(
  { subgraphs, schemas, supergraph }: GraphContent,
  entry: SubgraphEntry,
  { sdl, file }: { sdl: string; file: string },
): GraphContent {
  const { name } = entry;
  const isKnown = subgraphs.some((known) => known.name === name);
  const next = isKnown
    ? subgraphs.map((known) => (known.name === name ? entry : known))
    : [...subgraphs, entry];
  return composed(supergraph, next, { ...schemas, [name]: sdl }, new Map([[name, file]]));
}

/** The content without a subgraph. Throws as composeSupergraph does. */
export function withoutSubgraph(content: GraphContent, name: string): GraphContent {
  const { supergraph, subgraphs, schemas } = content;
  const { [name]: _, ...rest } = schemas;
  return composed(
    supergraph,
    subgraphs.filter((entry) => entry.name !== name),
    rest,
  );
}

/**
 * The subgraph that replaces another one as the identity provider, if one does. A check shows no
 * change, since callers see none, but the provider decides which tokens are valid.
 */
export function newProvider(before: GraphContent, after: GraphContent): string | undefined {
  const former = readSupergraph(before.supergraph).provider;
  const { provider } = readSupergraph(after.supergraph);
  return former === undefined || provider === former ? undefined : provider;
}

/** What is deprecated in `former` keeps its dates; what is newly deprecated is so from today. */
function composed(
  former: string,
  subgraphs: readonly SubgraphEntry[],
  schemas: Readonly<Record<string, string>>,
  files: ReadonlyMap<string, string> = new Map(),
): GraphContent {
  const sources = subgraphs.map(({ name, url }) => ({
    name,
    url,
    sdl: schemas[name] ?? '',
    file: files.get(name) ?? `the published schema of ${name}`,
  }));
  const supergraph = datedSdl(composeSupergraph(sources), new Date(), former);
  return { supergraph, subgraphs, schemas };
}
