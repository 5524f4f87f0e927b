// The store of published graphs: the interface of graphstore.lmdb.ts and graphstore.mongo.ts.
import type { GraphVersion, GraphVersionSummary } from './graph.ts';

/** Versions are only ever added: a rollback is a new version with the content of an old one. */
export type GraphStore = {
  /** The number of the newest version; 0 if nothing is published. One small read. */
  latest(): Promise<number>;
  version(version: number): Promise<GraphVersion | undefined>;
  /** The newest `limit` versions, newest first; all by default. */
  versions(limit?: number): Promise<GraphVersionSummary[]>;
  /** False if its version is not the next one: somebody else has published in the meantime. */
  append(graph: GraphVersion): Promise<boolean>;
  close(): Promise<void>;
};
