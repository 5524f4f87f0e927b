// The committed graph, with the options of its subgraphs from supergraph.yaml.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { datedSdl } from '../schema/dated.ts';
import { readSupergraph } from '../schema/supergraph.ts';
import { readSupergraphConfig } from './config.ts';
import type { Graph, SubgraphEntry } from './graph.ts';

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
