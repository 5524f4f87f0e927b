// Starts the subgraphs of the public benchmark, and writes its supergraph.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { tagged } from '../../test/support/graphs/tagged.ts';
import { freePort } from '../../test/support/servers/process.ts';
import { PUBLIC_SUBGRAPHS } from '../dataset/public.ts';
import { launch, untilReady } from './server.ts';
import { benchServer, ROOT } from './shipped.ts';
import type { Testbed } from './testbed.ts';

/** The requests, the most representations of one, and the most of these that are equal. */
export type Counts = { requests: number; representations: number; repeats: number };

export type PublicGraph = {
  /** The path of the supergraph's file. Each field is on the partner surface. */
  supergraph: string;
  services: { name: string; url: string; schema: string }[];
  /** What was asked since the last call. */
  counts(): Promise<Counts>;
  stop(): Promise<unknown>;
};

export async function startPublic({ node, folder }: Testbed): Promise<PublicGraph> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const args = benchServer(ROOT, 'public.ts', { port });
  const started = await launch(node, { cores: 'load', args });
  await untilReady(started, () => started.wrote(/listening/));
  const services = Object.entries(PUBLIC_SUBGRAPHS).map(([name, schema]) => ({
    name,
    url: `${origin}/${name}`,
    schema,
  }));
  const { supergraphSdl } = composeServices(
    services.map(({ schema, ...service }) => ({ ...service, typeDefs: parse(schema) })),
  );
  const supergraph = join(folder, 'public.graphql');
  writeFileSync(supergraph, tagged(supergraphSdl ?? ''));
  return {
    supergraph,
    services,
    // Cast: servers/public.ts writes them.
    counts: async () => (await (await fetch(origin)).json()) as Counts,
    stop: started.stop,
  };
}
