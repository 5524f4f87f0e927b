// Runs the gateway as a separate process, which reaches the subgraphs over signed HTTP.
import { openKeyStore, openStore, serveGateway } from '@partner-loyalty/gateway';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { clearErased } from '@partner-loyalty/runtime/process/erased.open.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { bindPorts } from '@partner-loyalty/runtime/process/ports.ts';
import { openTracing } from '@partner-loyalty/runtime/process/tracing.ts';
import { gatewayExtensions } from './extensions/list.ts';

const settings = settingsOrExit('gateway');
const log = createLog(settings.logLevel);

await runProcess(log, start, settings);

async function start(lifecycle: Lifecycle): Promise<void> {
  const metrics = createMetrics(settings.commit);
  const ports = await bindPorts(settings, { isPublic: true, lifecycle, metrics, log });
  await clearErased(settings, log);
  const tracing = await openTracing(settings, 'gateway', { lifecycle, log });
  const openKeys = () => openKeyStore({ ...settings, metrics });
  const keyStore = await openStore('keys', openKeys, { lifecycle, log });
  const caches = createCaches();
  await serveGateway({
    settings,
    ports,
    keyStore,
    inProcess: {},
    extensions: await gatewayExtensions(),
    lifecycle,
    caches,
    metrics,
    tracing,
    log,
  });
}
