// The store of published graphs, in tables of either engine.

import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import { type Store, table } from '@partner-loyalty/runtime/store/engine/store.ts';
import { storedTable, tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import type { GraphStore, GraphVersion, GraphVersionSummary } from './graph.ts';
import { openRegistryTables, REGISTRY_TABLES } from './tables.ts';

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

export async function createGraphStore(store: Store): Promise<GraphStore> {
  const tables = await openRegistryTables(tablesIn(store));
  return {
    async latest() {
      const [last] = await store.keys(SUMMARIES, { prefix: [], limit: 1, reverse: true });
      return Number(last?.[0] ?? 0);
    },
    async version(version) {
      const stored = await store.get(GRAPHS, [version]);
      return stored && { ...stored, publishedAt: new Date(stored.publishedAt) };
    },
    async versions(limit = Number.POSITIVE_INFINITY) {
      const found: GraphVersionSummary[] = [];
      for await (const page of pagesOf(store, SUMMARIES, { prefix: [], reverse: true })) {
        for (const { row } of page) found.push({ ...row, publishedAt: new Date(row.publishedAt) });
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    append: ({ publishedAt, ...graph }) =>
      store.transact((tx) => {
        const { version } = graph;
        if (version < 1 || tx.get(SUMMARIES, [version]) !== undefined) return false;
        if (version > 1 && tx.get(SUMMARIES, [version - 1]) === undefined) return false;
        tx.put(GRAPHS, [version], { ...graph, publishedAt: publishedAt.getTime() });
        return true;
      }),
    tables: async () => tables,
    close: store.close,
  };
}
