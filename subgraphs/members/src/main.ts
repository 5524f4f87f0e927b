// Runs the members subgraph as a service that answers signed requests over HTTP.
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
import { openMembersStore, startMembers } from './index.ts';

const settings = settingsOrExit('members');
const log = createLog(settings.logLevel);

await runWorkers({
  settings,
  log,
  shared: serveReplayGuard,
  start: async (lifecycle) => {
    const tracing = await openTracing(settings, 'members', { lifecycle, log });
    const metrics = createMetrics();
    const store = await openMembersStore(settings);
    const subgraph = await startMembers(store, settings, { log, metrics });
    lifecycle.opened('members', subgraph.close);
    const guard = lifecycle.worker && createWorkerReplayGuard();
    const caches = createCaches();
    metrics.watch('cacheBytes', () => [[{}, caches.bytes()]]);
    const listen = () =>
      serveSubgraph({ subgraph, settings, log, metrics, caches, tracing, guard });
    const ready = () => storeReadiness(subgraph.ready);
    await openPorts({ settings, lifecycle, ready, metrics, log, listen });
  },
});
