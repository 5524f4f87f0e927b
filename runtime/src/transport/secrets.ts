// The secrets that sign the requests to a subgraph.

/** While a secret is being changed there are two, of which the subgraph may know only one. */
export type SubgraphSecrets = {
  /** The one to sign with; undefined if there is none. */
  first(): string | undefined;
  /** The one to sign with if a request signed with the first one was refused. */
  other(refused: string): string | undefined;
  /** Notes that the subgraph has accepted a request that was signed with it. */
  accepted(secret: string): void;
};

/** A secret that stays the same, or none. */
export function oneSecret(secret: string | undefined): SubgraphSecrets {
  return { first: () => secret, other: () => undefined, accepted() {} };
}
