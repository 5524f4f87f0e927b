// Calls a subgraph in the same process.
import type { Caches } from '../cache/caches.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { withTimeout } from '../timeout.ts';
import { Circuit } from '../transport/circuit.ts';
import { DEADLINE_MS, withDeadline } from '../transport/deadline.ts';
import { createFieldNames } from '../transport/fieldnames.ts';
import type { SubgraphRequest, SubgraphResponse, Transport } from '../transport/types.ts';
import { createExecutor } from './executor.ts';
import type { Subgraph } from './types.ts';

/**
 * The transport to a subgraph in this process. An operation that takes longer than 2 seconds is
 * SERVICE_UNAVAILABLE; while the circuit is open, every one is at once. `close` closes the
 * subgraph.
 */
export function createInProcessTransport(
  subgraph: Subgraph,
  log: Log,
  caches: Caches,
  metrics?: Pick<Metrics, 'subgraphCall' | 'circuit'>,
): Transport {
  const { name } = subgraph;
  const execute = createExecutor(subgraph, log, caches);
  const probe = () => withTimeout(subgraph.ready(), DEADLINE_MS, 'no answer in time');
  const circuit = new Circuit({ name, log, metrics, probe });

  const fieldNames = createFieldNames();

  function logDeadline({ requestId, query }: SubgraphRequest): void {
    const fields = { requestId, subgraph: name, field: fieldNames(query), reason: 'deadline' };
    log.outage(fields, 'a subgraph did not answer');
  }

  function count(
    response: SubgraphResponse,
    startedAt: number,
    timedOut = false,
  ): SubgraphResponse {
    const outcome = timedOut ? 'timeout' : response.errors === undefined ? 'ok' : 'error';
    if (timedOut) circuit.failed(false, startedAt);
    else circuit.answered();
    metrics?.subgraphCall(name, outcome, performance.now() - startedAt);
    return response;
  }

  return {
    isLocal: true,
    isGivenUp: () => circuit.isOpen(),
    execute: (request) => {
      if (circuit.isOpen()) return circuit.refuse(request);
      const startedAt = performance.now();
      const response = execute(request);
      if (!('then' in response)) return count(response, startedAt);
      let timedOut = false;
      return withDeadline(response, undefined, () => {
        timedOut = true;
        logDeadline(request);
      }).then((done) => count(done, startedAt, timedOut));
    },
    ready: () => subgraph.ready(),
    close: () => {
      circuit.close();
      return subgraph.close();
    },
  };
}
