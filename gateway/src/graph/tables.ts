// The tables beside the published graphs: tokens of teams, what waits for approval, and secrets.
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

/** A team's right to publish one subgraph. Times are in milliseconds since 1970. */
export type SubgraphToken = {
  /** Begins the hash, so that one read finds a token. */
  tokenId: string;
  /** The SHA-256 of the token, which itself is not stored. */
  hash: string;
  subgraph: string;
  /** The team, as the operator calls it. */
  owner: string;
  createdAt: number;
  /** How long it was made for; a rotation makes the next one for as long. */
  lifetimeMs: number;
  expiresAt: number;
  revokedAt?: number;
};

/** What a change touches that is not the publisher's own. */
export type Need = {
  rule: 'resolves' | 'reads' | 'url' | 'shape' | 'size';
  /** Such as `PartnerMemberRead.email would be resolved by offers instead of members`. */
  what: string;
  /** The subgraphs whose owners may approve it; empty if only an operator may. */
  losing: readonly string[];
  /** What was measured, which differs each time. */
  ms?: number;
  mb?: number;
};

/** Covers what the token's subgraph loses by, or everything if an operator gave it. */
export type Approval = { subgraph?: string; owner?: string; tokenId?: string; at: number };

/** A change that was refused until it is approved. */
export type Proposal = {
  proposalId: string;
  /** The SHA-256 of all that was to be published: approvals are for this and nothing else. */
  digest: string;
  subgraph: string;
  /** The team that asked; undefined if an operator did. */
  owner?: string | undefined;
  needs: readonly Need[];
  approvals: readonly Approval[];
  /** In milliseconds since 1970. */
  expiresAt: number;
};

export const SUBGRAPH_TOKENS: TableDefinition<SubgraphToken> = {
  name: 'subgraphtokens',
  id: 'tokenId',
};
export const PROPOSALS: TableDefinition<Proposal> = {
  name: 'proposals',
  id: 'proposalId',
  orders: ['expiresAt'],
};

/** Times are in milliseconds since 1970. */
export type StoredSecret = {
  sealed: string;
  createdAt: number;
  /** When the subgraph accepted it last, as far as it was noted: about once a minute. */
  acceptedAt?: number | undefined;
};

/** One secret of a subgraph, or two while it is being changed, the newer one last. */
export type SecretsRow = { subgraph: string; secrets: readonly StoredSecret[] };

export const SUBGRAPH_SECRETS: TableDefinition<SecretsRow> = {
  name: 'subgraphsecrets',
  id: 'subgraph',
};

export const REGISTRY_TABLES = [SUBGRAPH_TOKENS, PROPOSALS, SUBGRAPH_SECRETS];

export type RegistryTables = Awaited<ReturnType<typeof openRegistryTables>>;

export async function openRegistryTables(open: OpenTable) {
  return {
    tokens: await open(SUBGRAPH_TOKENS),
    proposals: await open(PROPOSALS),
    secrets: await open(SUBGRAPH_SECRETS),
  };
}
