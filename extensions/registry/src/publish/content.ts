// What graphs are composed from: the content of published versions, and of the committed graph.
import { readFileSync, statSync } from 'node:fs';
import { SUPERGRAPH_CONFIG, SUPERGRAPH_FILE } from '@partner-loyalty/gateway/graph/committed.ts';
import { readSupergraphConfig } from '@partner-loyalty/gateway/graph/config.ts';
import type { GraphStore, GraphVersion } from '@partner-loyalty/gateway/graph/graph.ts';
import { datedSdl } from '@partner-loyalty/gateway/schema/dated.ts';

/** A graph with what it was composed from. */
export type GraphContent = Pick<GraphVersion, 'supergraph' | 'subgraphs' | 'schemas' | 'took'>;

/** The content of the newest version, or the committed graph as version 0. */
export async function currentContent(store: Pick<GraphStore, 'latest' | 'version'>) {
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
  const { supergraph, subgraphs, schemas, took } = found;
  return { supergraph, subgraphs, schemas, took };
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
