// Runs the members subgraph as a service that answers signed requests over HTTP.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { openPorts } from '@partner-loyalty/runtime/process/ports.ts';
import { storeReadiness } from '@partner-loyalty/runtime/process/readiness.ts';
import { openTracing } from '@partner-loyalty/runtime/process/tracing.ts';
import { runWorkers } from '@partner-loyalty/runtime/process/workers.ts';
import { serveSubgraph } from '@partner-loyalty/runtime/transport/server.ts';
import {
  createWorkerReplayGuard,
  serveReplayGuard,
} from '@partner-loyalty/runtime/transport/signature/replay.workers.ts';
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
