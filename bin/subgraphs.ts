// The subgraphs that one process can carry beside the gateway.
import { type MembersStore, openMembersStore, startMembers } from '@partner-loyalty/members';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import {
  createStandings,
  openStandingsStore,
  type StandingsStore,
} from '@partner-loyalty/standings';

/** The store of each subgraph. */
export type SubgraphStores = { members: MembersStore; standings: StandingsStore };

type CarriedSubgraph<Store> = {
  openStore(settings: Settings): Promise<Store>;
  /**
   * Starts the subgraph on its store; closing the subgraph closes the store. `members` leads to the
   * members subgraph.
   */
  start(
    store: Store,
    settings: Settings,
    parts: { log: Log; metrics: Metrics; members?: Transport | undefined },
  ): Promise<Subgraph>;
};

export const SUBGRAPHS: { [Name in keyof SubgraphStores]: CarriedSubgraph<SubgraphStores[Name]> } =
  {
    members: {
      openStore: openMembersStore,
      start: startMembers,
    },
    standings: {
      openStore: openStandingsStore,
      start: async (store, _settings, { members, log }) => createStandings(store, { members, log }),
    },
  };
