// The types of a graph, as the gateway serves it and as it is published, and of its store.
import type { RegistryTables } from './tables.ts';

/** A subgraph, from supergraph.yaml or as it was published. */
export type SubgraphEntry = {
  /** Lower-case letters, digits, `-` and `_`. */
  name: string;
  /** Its endpoint, unless `<NAME>_URL` is set. */
  url?: string | undefined;
  /** Whether it accepts an array of operations in a request. */
  batching: boolean;
  /** Its own error codes that callers may see. */
  codes: readonly string[];
};

export type Graph = {
  /** 0 for the graph that is committed, or that SUPERGRAPH_FILE names. */
  version: number;
  /** The composed SDL with its tags. */
  supergraph: string;
  subgraphs: readonly SubgraphEntry[];
};

/** A published graph, with what the next one is composed from. The first version is 1. */
export type GraphVersion = Graph & {
  /** The SDL of each subgraph, by name. */
  schemas: Readonly<Record<string, string>>;
  publishedAt: Date;
  /** What callers notice, beside the version before. */
  changes: readonly VersionChange[];
  /** What was done: `publish offers`, `remove offers`, `rollback offers`, `rollback to 3`. */
  change: string;
  /** The team whose token it was done with; undefined if an operator did it. */
  owner?: string | undefined;
  tokenId?: string | undefined;
  /** What the publisher says it was built from, and why. */
  commit?: string | undefined;
  message?: string | undefined;
  /** How many changes it made to the surfaces; undefined in versions from before this was kept. */
  counts?: LevelCounts | undefined;
};

export type LevelCounts = { breaking: number; dangerous: number; safe: number };

/** A line of the changelog of a surface. */
export type VersionChange = {
  surface: string;
  kind: 'added' | 'deprecated' | 'changed' | 'removed';
  /** What changes, as a schema coordinate; undefined for many. */
  coordinate?: string;
  text: string;
};

export type GraphVersionSummary = Omit<GraphVersion, 'supergraph' | 'subgraphs' | 'schemas'>;

/** Versions are only ever added: a rollback is a new version with the content of an old one. */
export type GraphStore = {
  /** The number of the newest version; 0 if nothing is published. One small read. */
  latest(): Promise<number>;
  version(version: number): Promise<GraphVersion | undefined>;
  /** The newest `limit` versions, newest first; all by default. */
  versions(limit?: number): Promise<GraphVersionSummary[]>;
  /** False if its version is not the next one: somebody else has published in the meantime. */
  append(graph: GraphVersion): Promise<boolean>;
  /** The tables of who may publish, of what waits for approval, and of secrets. */
  tables(): Promise<RegistryTables>;
  close(): Promise<void>;
};
