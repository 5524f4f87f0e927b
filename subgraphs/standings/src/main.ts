// Runs the standings subgraph as a service that answers signed requests over HTTP.
import {
  createCaches,
  createLog,
  createMetrics,
  createWorkerReplayGuard,
  openPorts,
  openTracing,
  runWorkers,
  serveReplayGuard,
  serveSubgraph,
  settingsOrExit,
  storeReadiness,
} from '@partner-loyalty/runtime';
import { createStandings, openStandingsStore } from './index.ts';

const settings = settingsOrExit('standings');
const log = createLog(settings.logLevel);

await runWorkers({
  settings,
  log,
  shared: serveReplayGuard,
  start: async (lifecycle) => {
    const tracing = await openTracing(settings, 'standings', { lifecycle, log });
    const subgraph = createStandings(await openStandingsStore(settings));
    lifecycle.opened('store', subgraph.close);
    const metrics = createMetrics();
    const guard = lifecycle.worker && createWorkerReplayGuard();
    const caches = createCaches();
    metrics.watch('cacheBytes', () => [[{}, caches.bytes()]]);
    const listen = () =>
      serveSubgraph({ subgraph, settings, log, metrics, caches, tracing, guard });
    const ready = () => storeReadiness(subgraph.ready);
    await openPorts({ settings, lifecycle, ready, metrics, log, listen });
  },
});
