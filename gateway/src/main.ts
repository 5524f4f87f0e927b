// Runs the gateway as a separate process, which reaches the subgraphs over signed HTTP.
import {
  createCaches,
  createLog,
  createMetrics,
  type Lifecycle,
  openNowOrLater,
  readEnv,
  readSettings,
  runWorkers,
} from '@partner-loyalty/runtime';
import { openKeyStore } from './identity/keystore.open.ts';
import { sharedCounters } from './limits/counters.open.ts';
import { serveGateway } from './serve.ts';

const settings = readSettings(readEnv(), 'gateway');
const log = createLog(settings.logLevel);

await runWorkers({ settings, log, start, shared: sharedCounters(settings) });

async function start(lifecycle: Lifecycle): Promise<void> {
  const metrics = createMetrics();
  const keyStore = await openNowOrLater(
    () => openKeyStore(settings),
    (err) => log.warn({ store: 'keys', err }, 'a store is unavailable: it opens later'),
  );
  lifecycle.opened('keys', keyStore.close);
  const caches = createCaches();
  await serveGateway({ settings, keyStore, carried: {}, lifecycle, caches, metrics, log });
}
