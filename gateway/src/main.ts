// Runs the gateway as a separate process, which reaches the subgraphs over signed HTTP.
import {
  createCaches,
  createLog,
  createMetrics,
  type Lifecycle,
  openTracing,
  runWorkers,
  settingsOrExit,
} from '@partner-loyalty/runtime';
import { openKeyStore } from './identity/keystore.open.ts';
import { sharedCounters } from './limits/counters.open.ts';
import { openStore, serveGateway } from './serve.ts';

const settings = settingsOrExit('gateway');
const log = createLog(settings.logLevel);

await runWorkers({ settings, log, start, shared: sharedCounters(settings) });

async function start(lifecycle: Lifecycle): Promise<void> {
  const metrics = createMetrics();
  const tracing = await openTracing(settings, 'gateway', { lifecycle, log });
  const keyStore = await openStore('keys', () => openKeyStore(settings), { lifecycle, log });
  const caches = createCaches();
  await serveGateway({ settings, keyStore, carried: {}, lifecycle, caches, metrics, tracing, log });
}
