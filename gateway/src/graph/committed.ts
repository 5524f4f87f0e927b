// The committed graph, with the options of its subgraphs from supergraph.yaml, and published ones.

import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { datedAsPublished, datedSdl } from '../schema/dated.ts';
import { readSupergraph } from '../schema/supergraph.ts';
import { readSupergraphConfig } from './config.ts';
import type { Graph, GraphStore, GraphVersion, SubgraphEntry } from './graph.ts';

/** The composed graph with its tags, as `loyalty supergraph compose` writes it. */
export const SUPERGRAPH_FILE = join(import.meta.dirname, '../../supergraph.graphql');

export const SUPERGRAPH_CONFIG = join(import.meta.dirname, '../../../supergraph.yaml');

/** Rejects if the file cannot be read or is not a supergraph. */
export async function readGraphFile(file: string): Promise<Graph> {
  const { text, changedAt } = await readSdlFile(file);
  return graphOf(text, changedAt);
}

/** The text of a file, and when it was last changed. */
export async function readSdlFile(file: string): Promise<{ text: string; changedAt: Date }> {
  const [text, { mtime: changedAt }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
  return { text, changedAt };
}

/**
 * A graph of version 0. What is deprecated in it without dates is so since `since`. Throws if the
 * text is not a supergraph.
 */
export function graphOf(text: string, since = new Date()): Graph {
  const supergraph = datedSdl(text, since);
  const { subgraphs } = readSupergraph(supergraph);
  if (subgraphs.length === 0) throw new Error('the file is not a supergraph');
  const configured = new Map(
    readSupergraphConfig(SUPERGRAPH_CONFIG).map((each) => [each.name, each]),
  );
  const entries = subgraphs.map(({ name, url }): SubgraphEntry => {
    const { batching = false, codes = [] } = configured.get(name) ?? {};
    return { name, url, batching, codes };
  });
  return { version: 0, supergraph, subgraphs: entries };
}

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
  return { supergraph: datedAsPublished(found.supergraph, publishedAt), subgraphs, schemas };
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
