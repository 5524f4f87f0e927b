// Runs the members subgraph as a service that answers signed requests over HTTP.
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
import { openMembersStore, startMembers } from './index.ts';

const settings = settingsOrExit('members');
const log = createLog(settings.logLevel);

await runProcess(log, start, settings);

async function start(lifecycle: Lifecycle): Promise<void> {
  const metrics = createMetrics(settings.commit);
  const ports = await bindPorts(settings, { isPublic: false, lifecycle, metrics, log });
  await clearErased(settings, log);
  const tracing = await openTracing(settings, 'members', { lifecycle, log });
  const store = await openMembersStore(settings, log);
  const subgraph = await startMembers(store, settings, { log, metrics });
  lifecycle.opened('members', subgraph.close);
  const caches = createCaches();
  metrics.cacheBytes(() => [[{}, caches.bytes()]]);
  const handle = createSubgraphHandler({ subgraph, settings, log, metrics, caches, tracing });
  const ready = () => storeReadiness(subgraph.ready);
  await ports.serve({ handle, ready });
}
