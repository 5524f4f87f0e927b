// The content behind a path of the pages, which is prepared once, or once for each graph.
import type { GraphQLSchema } from 'graphql';
import type { SurfaceName } from '../planning/contract.ts';
import type { Prepared } from './prepared.ts';

export type Route = {
  /** Whether only a client that names text/html gets it. */
  isPage: boolean;
  content(): Promise<Prepared>;
};

/** The part of a graph that the pages show. */
export type DocumentedGraph = {
  version: number;
  surfaces: Readonly<Record<SurfaceName, { schema: GraphQLSchema }>>;
};

/** Prepares the content at its first request. */
export function once(make: () => Promise<Prepared>): () => Promise<Prepared> {
  let made: Promise<Prepared> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Prepares the content at its first request for each graph, and keeps it as long as the graph. */
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
