// Reaches a subgraph in the same process.
import type { Caches } from '../cache/caches.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { createExecutor, withDeadline } from './executor.ts';
import type { Subgraph, SubgraphReply, Transport } from './types.ts';

/**
 * The transport to a subgraph in this process. An operation that takes longer than 2 seconds is
 * SERVICE_UNAVAILABLE. `close` closes the subgraph.
 */
export function createInProcessTransport(
  subgraph: Subgraph,
  log: Log,
  caches: Caches,
  metrics?: Pick<Metrics, 'subgraphCall'>,
): Transport {
  const execute = createExecutor(subgraph, log, caches);

  function count(reply: SubgraphReply, startedAt: number, timedOut = false): SubgraphReply {
    const outcome = timedOut ? 'timeout' : reply.errors === undefined ? 'ok' : 'error';
    metrics?.subgraphCall(subgraph.name, outcome, performance.now() - startedAt);
    return reply;
  }

  return {
    execute: (request) => {
      const startedAt = performance.now();
      const reply = execute(request);
      if (!('then' in reply)) return count(reply, startedAt);
      let timedOut = false;
      return withDeadline(reply, undefined, () => {
        timedOut = true;
      }).then((done) => count(done, startedAt, timedOut));
    },
    ready: () => subgraph.ready(),
    close: () => subgraph.close(),
  };
}
