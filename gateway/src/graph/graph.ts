// The types of a graph, as the gateway serves it and as it is published, and the store of those.
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import { type Store, table } from '@partner-loyalty/runtime/store/engine/store.ts';
import { storedTable, tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import { openRegistryTables, REGISTRY_TABLES, type RegistryTables } from './tables.ts';

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
  /** What the graph costs; undefined in versions from before this was kept. */
  took?: Took | undefined;
};

/** The CPU of the next step in milliseconds, and the heap of a gateway's planners in megabytes. */
export type Costs = { ms: number; mb: number };

/** What it costs, with what an operator has approved last of each. */
export type Took = Partial<Costs> & { approvedMs?: number; approvedMb?: number };

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
/** What was done, by whom. */
export type GraphVersionEntry = Omit<GraphVersionSummary, 'changes'>;

/** The stored forms; times are milliseconds since 1970. */
type Stored<T extends { publishedAt: Date }> = Omit<T, 'publishedAt'> & { publishedAt: number };

const SUMMARIES = table<Stored<GraphVersionSummary>>('summaries');

/** By version, without a gap. */
export const GRAPHS = table<Stored<GraphVersion>>('graphs', {
  indexes: [
    {
      table: SUMMARIES,
      entriesOf: ({ supergraph, subgraphs, schemas, ...summary }, key) => [{ key, row: summary }],
      rowKeyOf: ({ key }) => key,
    },
  ],
});

/** What the store has to be opened with. */
export const GRAPH_TABLES = [GRAPHS, ...REGISTRY_TABLES.map(storedTable)];

/** Versions are only ever added: a rollback is a new version with the content of an old one. */
export type GraphStore = Awaited<ReturnType<typeof createGraphStore>>;

/** Each has up to 64 KiB of changes. */
const VERSIONS_IN_A_PAGE = 10;

export async function createGraphStore(store: Store) {
  const tables = await openRegistryTables(tablesIn(store));

  /** The newest `limit` versions, newest first. */
  async function newest<T>(
    limit: number,
    read: (stored: Stored<GraphVersionSummary>) => T,
  ): Promise<T[]> {
    const found: T[] = [];
    const range = { prefix: [], reverse: true };
    for await (const page of pagesOf(store, SUMMARIES, range, VERSIONS_IN_A_PAGE)) {
      for (const { row } of page) found.push(read(row));
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  return {
    /** The number of the newest version; 0 if nothing is published. One small read. */
    async latest(): Promise<number> {
      const [last] = await store.keys(SUMMARIES, { prefix: [], limit: 1, reverse: true });
      return Number(last?.[0] ?? 0);
    },
    async version(version: number): Promise<GraphVersion | undefined> {
      const stored = await store.get(GRAPHS, [version]);
      return stored && { ...stored, publishedAt: new Date(stored.publishedAt) };
    },
    /** The newest `limit` versions, newest first. */
    versions: (limit: number): Promise<GraphVersionSummary[]> =>
      newest(limit, (stored) => ({ ...stored, publishedAt: new Date(stored.publishedAt) })),
    /** The same without their changes; all by default. */
    history: (limit = Number.POSITIVE_INFINITY): Promise<GraphVersionEntry[]> =>
      newest(limit, ({ changes: _, publishedAt, ...entry }) => ({
        ...entry,
        publishedAt: new Date(publishedAt),
      })),
    /** False if its version is not the next one: somebody else has published in the meantime. */
    append: ({ publishedAt, ...graph }: GraphVersion): Promise<boolean> =>
      store.transact((tx) => {
        const { version } = graph;
        if (version < 1 || tx.get(SUMMARIES, [version]) !== undefined) return false;
        if (version > 1 && tx.get(SUMMARIES, [version - 1]) === undefined) return false;
        tx.put(GRAPHS, [version], { ...graph, publishedAt: publishedAt.getTime() });
        return true;
      }),
    /** The tables of who may publish, of what waits for approval, and of secrets. */
    tables: async (): Promise<RegistryTables> => tables,
    close: store.close,
  };
}
