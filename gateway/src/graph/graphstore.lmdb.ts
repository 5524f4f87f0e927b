// The store of published graphs in an embedded LMDB, which the processes of one machine may share.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { openLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import { lmdbTables } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import type { GraphStore, GraphVersion, GraphVersionSummary } from './graph.ts';
import { openRegistryTables } from './tables.ts';

/** The stored forms; times are milliseconds since 1970. */
type Stored<T extends { publishedAt: Date }> = Omit<T, 'publishedAt'> & { publishedAt: number };

/** Opens `dataDir/graph`. Rejects if it cannot be written or belongs to the other environment. */
export async function openLmdbGraphStore(
  dataDir: string,
  environment: Environment,
): Promise<GraphStore> {
  const { root } = await openLmdb(dataDir, 'graph', environment);
  const { graphs, summaries } = openGraphTables(root);
  const tables = await openRegistryTables(lmdbTables(root));
  const latest = () => {
    const [version = 0] = summaries.getKeys({ reverse: true, limit: 1 });
    return version;
  };

  return {
    latest: async () => latest(),
    async version(version) {
      const stored = graphs.get(version);
      return stored && { ...stored, publishedAt: new Date(stored.publishedAt) };
    },
    async versions(limit = Number.POSITIVE_INFINITY) {
      return Array.from(summaries.getRange({ reverse: true, limit }), ({ value }) => ({
        ...value,
        publishedAt: new Date(value.publishedAt),
      }));
    },
    async append({ publishedAt, ...graph }) {
      const { version, change, changes } = graph;
      const at = publishedAt.getTime();
      const isAppended = await root.transaction(() => {
        if (version !== latest() + 1) return false;
        graphs.put(version, { ...graph, publishedAt: at });
        summaries.put(version, { version, change, changes, publishedAt: at });
        return true;
      });
      await root.flushed;
      return isAppended;
    },
    tables: async () => tables,
    close: () => root.close(),
  };
}

export function openGraphTables(root: RootDatabase) {
  return {
    graphs: root.openDB<Stored<GraphVersion>, number>({ name: 'graphs', encoding: 'json' }),
    summaries: root.openDB<Stored<GraphVersionSummary>, number>({
      name: 'summaries',
      encoding: 'json',
    }),
  };
}
