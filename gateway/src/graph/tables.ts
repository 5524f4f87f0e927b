// The tables beside the published graphs: the secrets of other teams' subgraphs.
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

/** Times are in milliseconds since 1970. */
export type StoredSecret = {
  sealed: string;
  createdAt: number;
  /** When the subgraph accepted it last, as far as it was noted: about once a minute. */
  acceptedAt?: number | undefined;
};

/** Of a subgraph: one, or two while it is being changed, of which the newer one is the last. */
export type SecretsRow = { subgraph: string; secrets: readonly StoredSecret[] };

export const SUBGRAPH_SECRETS: TableDefinition<SecretsRow> = {
  name: 'subgraphsecrets',
  id: 'subgraph',
};

export type RegistryTables = Awaited<ReturnType<typeof openRegistryTables>>;

export async function openRegistryTables(open: OpenTable) {
  return { secrets: await open(SUBGRAPH_SECRETS) };
}
