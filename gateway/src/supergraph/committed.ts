// The graph of a supergraph file, with the options of its subgraphs from supergraph.yaml.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSupergraphConfig } from './config.ts';
import type { Graph, SubgraphEntry } from './graph.ts';
import { readSupergraph } from './sdl.ts';

/** The composed graph with its tags, as `loyalty supergraph compose` writes it. */
export const SUPERGRAPH_FILE = join(import.meta.dirname, '../../supergraph.graphql');

/** What the committed graph is composed of. */
export const SUPERGRAPH_CONFIG = join(import.meta.dirname, '../../../supergraph.yaml');

/** Rejects if the file cannot be read or is not a supergraph. */
export async function readGraphFile(file: string): Promise<Graph> {
  return graphOf(await readFile(file, 'utf8'));
}

/** A graph of version 0. Throws if the text is not a supergraph. */
export function graphOf(supergraph: string): Graph {
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
