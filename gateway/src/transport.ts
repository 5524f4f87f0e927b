// Reaches a subgraph that runs by itself: the operations of one event-loop turn travel as one signed request, each answered on its own.
import type { Log, Metrics, Transport } from '@partner-loyalty/runtime';

/** `url` is the subgraph's origin. An operation that is not answered within `deadlineMs` (2 seconds) is SERVICE_UNAVAILABLE. */
export function createHttpTransport(_options: {
  name: string;
  url: string;
  secret: string;
  deadlineMs?: number;
  log: Log;
  metrics: Pick<Metrics, 'subgraphCall'>;
}): Transport {
  throw new Error('not written yet');
}
