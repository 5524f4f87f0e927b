// What the gateway's gauges show when metrics are read.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Counters } from './budget/counters.ts';
import type { ServedGraphs } from './graph/served.ts';

export function watchGateway(
  metrics: Pick<Metrics, 'watch'>,
  parts: {
    graphs: Pick<ServedGraphs, 'current'>;
    counters: Pick<Counters, 'state'>;
    caches: Pick<Caches, 'bytes'>;
  },
): void {
  const { graphs, counters, caches } = parts;
  metrics.watch('supergraphVersion', () => [[{}, graphs.current().version]]);
  metrics.watch('circuitOpen', () =>
    Array.from(graphs.current().connections, ([subgraph, { transport }]) => [
      { subgraph },
      transport.isGivenUp?.() ? 1 : 0,
    ]),
  );
  metrics.watch('limiterFallback', () => [[{}, counters.state?.() === 'degraded' ? 1 : 0]]);
  metrics.watch('cacheBytes', () => [[{}, caches.bytes()]]);
}
