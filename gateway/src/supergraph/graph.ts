// A graph as the gateway serves it, and as it is published.

/** A subgraph of a graph, as supergraph.yaml has it or as it was published. */
export type SubgraphEntry = {
  /** Lower-case letters, digits, `-` and `_`. */
  name: string;
  /** Where it is, if no `<NAME>_URL` says so. */
  url?: string | undefined;
  /** Whether it takes an array of operations in a request. */
  batching: boolean;
  /** The error codes of its own that callers get to see. */
  codes: readonly string[];
};

/** What the gateway needs to serve a graph. */
export type Graph = {
  /** 0 for the graph that is committed, or that SUPERGRAPH_FILE names. */
  version: number;
  /** The composed SDL with its tags. */
  supergraph: string;
  subgraphs: readonly SubgraphEntry[];
};

/** A published graph, with what the next one is composed from. Versions count from 1. */
export type GraphVersion = Graph & {
  /** The SDL of each subgraph, by name. */
  schemas: Readonly<Record<string, string>>;
  publishedAt: Date;
  /** What led to it: `publish offers`, `remove offers`, `rollback to 3`. */
  change: string;
};

/** A line of the list of versions. */
export type GraphVersionSummary = Pick<GraphVersion, 'version' | 'publishedAt' | 'change'>;
