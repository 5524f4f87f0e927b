// What a path of the pages leads to: content that is prepared once, or once for each graph.
import type { GraphQLSchema } from 'graphql';
import type { SurfaceName } from '../planning/contract.ts';
import type { Prepared } from './prepared.ts';

export type Route = {
  /** Whether only a client that names text/html gets it. */
  isPage: boolean;
  content(): Promise<Prepared>;
};

/** What the pages show of a graph. */
export type DocumentedGraph = {
  version: number;
  surfaces: Readonly<Record<SurfaceName, { schema: GraphQLSchema }>>;
};

/** Makes the content when it is first asked for. */
export function once(make: () => Promise<Prepared>): () => Promise<Prepared> {
  let made: Promise<Prepared> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Makes the content of a graph when it is first asked for; it goes with its graph. */
export function onceForEach(
  current: () => DocumentedGraph,
  make: (graph: DocumentedGraph) => Promise<Prepared>,
): () => Promise<Prepared> {
  const all = new WeakMap<DocumentedGraph, Promise<Prepared>>();
  return () => {
    const graph = current();
    const made = all.get(graph) ?? make(graph);
    all.set(graph, made);
    return made;
  };
}
