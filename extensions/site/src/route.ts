// The content behind a path of the pages, which is prepared once, or once for each graph.
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import type { Prepared } from './prepared.ts';

export type Route = {
  /** Whether only a client that names text/html gets it. */
  isPage: boolean;
  content(): Promise<Prepared>;
};

/** Content may lack what a store could not give, and be made again after this. */
const KEPT_MS = 60_000;

/** Prepares the content at its first request for each graph, and again after a minute. */
export function onceForEach(
  current: () => DocumentedGraph,
  make: (graph: DocumentedGraph) => Promise<Prepared>,
): () => Promise<Prepared> {
  const all = new WeakMap<DocumentedGraph, { content: Promise<Prepared>; until: number }>();
  return () => {
    const graph = current();
    const known = all.get(graph);
    if (known !== undefined && performance.now() < known.until) return known.content;
    const content = make(graph);
    all.set(graph, { content, until: performance.now() + KEPT_MS });
    return content;
  };
}
