// The content of the next version: what is published now, with one subgraph changed or removed.
import { readFileSync, statSync } from 'node:fs';
import { SUPERGRAPH_CONFIG, SUPERGRAPH_FILE } from '../graph/committed.ts';
import { readSupergraphConfig } from '../graph/config.ts';
import type { GraphStore, GraphVersion, SubgraphEntry } from '../graph/graph.ts';
import { datedSdl } from '../schema/dated.ts';
import { readSupergraph } from '../schema/supergraph.ts';
import { composeSupergraph } from './compose.ts';

/** A graph with what it was composed from. */
export type GraphContent = Pick<GraphVersion, 'supergraph' | 'subgraphs' | 'schemas'>;

/** The content of the newest version, or the committed graph as version 0. */
export async function currentContent(
  store: Pick<GraphStore, 'latest' | 'version'>,
): Promise<GraphContent & { version: number }> {
  const version = await store.latest();
  return { version, ...(await contentOf(store, version)) };
}

/** The content of a version; version 0 is the committed graph. Rejects if there is no such one. */
export async function contentOf(
  store: Pick<GraphStore, 'version'>,
  version: number,
): Promise<GraphContent> {
  if (version === 0) return committedContent();
  const found = await store.version(version);
  if (found === undefined) throw new Error(`there is no version ${version}`);
  const { subgraphs, schemas, publishedAt } = found;
  return { supergraph: datedSdl(found.supergraph, publishedAt), subgraphs, schemas };
}

export function committedContent(): GraphContent {
  const configured = readSupergraphConfig(SUPERGRAPH_CONFIG);
  return {
    supergraph: datedSdl(readFileSync(SUPERGRAPH_FILE, 'utf8'), statSync(SUPERGRAPH_FILE).mtime),
    subgraphs: configured.map(({ schemaFile: _, ...entry }) => entry),
    schemas: Object.fromEntries(
      configured.map(({ name, schemaFile }) => [name, readFileSync(schemaFile, 'utf8')]),
    ),
  };
}

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
  return composed(supergraph, next, { ...schemas, [name]: sdl }, { [name]: file });
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
  files: Readonly<Record<string, string>> = {},
): GraphContent {
  const sources = subgraphs.map(({ name, url }) => ({
    name,
    url,
    sdl: schemas[name] ?? '',
    file: files[name] ?? `the published schema of ${name}`,
  }));
  const supergraph = datedSdl(composeSupergraph(sources), new Date(), former);
  return { supergraph, subgraphs, schemas };
}
