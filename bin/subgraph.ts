// Runs a subgraph as a service that answers signed requests over HTTP.
import { createLog, type Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { openProcess } from '@partner-loyalty/runtime/process/open.ts';
import { storeReadiness } from '@partner-loyalty/runtime/process/readiness.ts';
import type { OWN_SUBGRAPHS } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createSubgraphHandler } from '@partner-loyalty/runtime/subgraph/server.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';

type Parts = { lifecycle: Lifecycle; log: Log; metrics: Metrics };

/** Opens the subgraph with the settings of this process, which closes it at its end. */
export async function runSubgraph(
  name: (typeof OWN_SUBGRAPHS)[number],
  open: (settings: Settings, parts: Parts) => Promise<Subgraph>,
): Promise<void> {
  const settings = settingsOrExit(name);
  const log = createLog(settings.logLevel);
  const start = async (lifecycle: Lifecycle) => {
    const opened = await openProcess(settings, name, { lifecycle, log });
    const { metrics, ports, caches } = opened;
    const subgraph = await open(settings, { lifecycle, log, metrics });
    lifecycle.opened(name, subgraph.close);
    metrics.cacheBytes(() => [[{}, caches.bytes()]]);
    const handle = createSubgraphHandler({ ...opened, subgraph });
    await ports.serve({ handle, ready: () => storeReadiness(subgraph.ready) });
  };
  await runProcess(log, start, settings);
}
