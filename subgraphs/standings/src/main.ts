// Runs the standings subgraph as a service that answers signed requests over HTTP.
import {
  createCaches,
  createLog,
  createMetrics,
  createWorkerReplayGuard,
  openPorts,
  openRemoteTransport,
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
    const metrics = createMetrics();
    const members = await openRemoteTransport('members', settings, { log, metrics });
    if (members !== undefined) lifecycle.opened('members', members.close);
    const store = await openStandingsStore(settings);
    const subgraph = createStandings(store, { members, log });
    lifecycle.opened('store', subgraph.close);
    const guard = lifecycle.worker && createWorkerReplayGuard();
    const caches = createCaches();
    metrics.watch('cacheBytes', () => [[{}, caches.bytes()]]);
    const listen = () =>
      serveSubgraph({ subgraph, settings, log, metrics, caches, tracing, guard });
    const ready = () => storeReadiness(subgraph.ready);
    await openPorts({ settings, lifecycle, ready, metrics, log, listen });
  },
});
