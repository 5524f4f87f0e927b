// The error of a subgraph that needs another one, which does not answer.

/** It becomes SERVICE_UNAVAILABLE. `name` is the other subgraph, for the log only. */
export class SubgraphUnavailable extends Error {
  override readonly name = 'SubgraphUnavailable';

  constructor(name: string, why: string) {
    super(`the ${name} subgraph ${why}`);
  }
}
