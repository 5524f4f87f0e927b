// Verifies the store of published graphs.

import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import { verifyTable } from '@partner-loyalty/runtime/store/engine/verify.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { type NamedTable, verifyRows } from '@partner-loyalty/runtime/store/tables.ts';
import { GRAPH_TABLES, GRAPHS } from '../graph/graph.ts';
import { PROPOSALS, SUBGRAPH_SECRETS, SUBGRAPH_TOKENS } from '../graph/tables.ts';

/** A graph takes a megabyte. */
const GRAPHS_AT_ONCE = 10;

const REGISTRY_ROWS: readonly NamedTable[] = [
  [SUBGRAPH_TOKENS, (tokenId) => `subgraph token ${tokenId}`],
  [PROPOSALS, (proposalId) => `proposal ${proposalId}`],
  [SUBGRAPH_SECRETS, (name) => `the secret of ${name}`],
];

/** Reports what is wrong with the store, and resolves with the number of graphs. */
export async function verifyGraphs(
  settings: StoreSettings,
  { report }: Inspection,
): Promise<number> {
  const store = await openStore(settings, 'graph', GRAPH_TABLES);
  try {
    await verifyRows(store, REGISTRY_ROWS, report);
    const reportGraph = ([version]: Key, problem: string) => report(`graph ${version}`, problem);
    let expected = 1;
    return await verifyTable(store, GRAPHS, reportGraph, {
      limit: GRAPHS_AT_ONCE,
      inspect(page) {
        for (const { key, row } of page) {
          if (row.version !== key[0]) reportGraph(key, 'the record has another version');
          for (; expected < Number(key[0]); expected += 1)
            reportGraph([expected], 'the version is missing or cannot be read');
          expected = Number(key[0]) + 1;
        }
      },
    });
  } finally {
    await store.close();
  }
}
