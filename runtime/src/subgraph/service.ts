// Runs a subgraph as a service that answers signed requests over HTTP.
import { createCaches } from '../cache/caches.ts';
import { createLog, type Log } from '../observe/log.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { clearErased } from '../process/erased.open.ts';
import { settingsOrExit } from '../process/failedstart.ts';
import { type Lifecycle, runProcess } from '../process/lifecycle.ts';
import { bindPorts } from '../process/ports.ts';
import { storeReadiness } from '../process/readiness.ts';
import { openTracing } from '../process/tracing.ts';
import type { OWN_SUBGRAPHS } from '../settings/subgraphs.ts';
import type { Settings } from '../settings/table.ts';
import { createSubgraphHandler } from './server.ts';
import type { Subgraph } from './types.ts';

type Parts = { lifecycle: Lifecycle; log: Log; metrics: Metrics };

/** Opens the subgraph with the settings of this process, which closes it at its end. */
export async function runSubgraph(
  name: (typeof OWN_SUBGRAPHS)[number],
  open: (settings: Settings, parts: Parts) => Promise<Subgraph>,
): Promise<void> {
  const settings = settingsOrExit(name);
  const log = createLog(settings.logLevel);
  const start = async (lifecycle: Lifecycle) => {
    const metrics = createMetrics(settings.commit);
    const ports = await bindPorts(settings, { isPublic: false, lifecycle, metrics, log });
    await clearErased(settings, log);
    const tracing = await openTracing(settings, name, { lifecycle, log });
    const subgraph = await open(settings, { lifecycle, log, metrics });
    lifecycle.opened(name, subgraph.close);
    const caches = createCaches();
    metrics.cacheBytes(() => [[{}, caches.bytes()]]);
    const handle = createSubgraphHandler({ subgraph, settings, log, metrics, caches, tracing });
    await ports.serve({ handle, ready: () => storeReadiness(subgraph.ready) });
  };
  await runProcess(log, start, settings);
}
