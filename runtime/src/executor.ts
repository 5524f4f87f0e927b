// Executes operations on a subgraph: each text parsed, validated and compiled once, errors masked, synchronous where its resolvers are.
import type { Log } from './log.ts';
import type { Subgraph, SubgraphReply, SubgraphRequest, Transport } from './subgraph.ts';

export type Execute = (request: SubgraphRequest) => SubgraphReply | Promise<SubgraphReply>;

/** Never throws nor rejects: what goes wrong is in the reply's errors, with a code of the table. */
export function createExecutor(_subgraph: Pick<Subgraph, 'name' | 'schema'>, _log: Log): Execute {
  throw new Error('not written yet');
}

/** Reaches a subgraph of this process. An operation slower than 2 seconds is SERVICE_UNAVAILABLE. `close` closes the subgraph. */
export function createInProcessTransport(_subgraph: Subgraph, _log: Log): Transport {
  throw new Error('not written yet');
}
