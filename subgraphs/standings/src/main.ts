// Runs the standings subgraph as a service that answers signed requests over HTTP.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { clearErased } from '@partner-loyalty/runtime/process/erased.open.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { bindPorts } from '@partner-loyalty/runtime/process/ports.ts';
import { storeReadiness } from '@partner-loyalty/runtime/process/readiness.ts';
import { openTracing } from '@partner-loyalty/runtime/process/tracing.ts';
import { createSubgraphHandler } from '@partner-loyalty/runtime/subgraph/server.ts';
import { openRemoteTransport } from '@partner-loyalty/runtime/transport/remote.ts';
import { openStandingsStore, startStandings } from './index.ts';

const settings = settingsOrExit('standings');
const log = createLog(settings.logLevel);

await runProcess(log, start, settings);

async function start(lifecycle: Lifecycle): Promise<void> {
  const metrics = createMetrics(settings.commit);
  const ports = await bindPorts(settings, { isPublic: false, lifecycle, metrics, log });
  await clearErased(settings, log);
  const tracing = await openTracing(settings, 'standings', { lifecycle, log });
  const members = await openRemoteTransport('members', settings, { log, metrics });
  if (members !== undefined) lifecycle.opened('members', members.close);
  const store = await openStandingsStore(settings);
  const subgraph = startStandings(store, settings, { members, log, metrics });
  lifecycle.opened('store', subgraph.close);
  const caches = createCaches();
  metrics.cacheBytes(() => [[{}, caches.bytes()]]);
  const handle = createSubgraphHandler({ subgraph, settings, log, metrics, caches, tracing });
  const ready = () => storeReadiness(subgraph.ready);
  await ports.serve({ handle, ready });
}
