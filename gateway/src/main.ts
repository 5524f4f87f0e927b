// Runs the gateway as a separate process, which reaches the subgraphs over signed HTTP.
import {
  createCaches,
  createHttpTransport,
  createLog,
  createMetrics,
  type Lifecycle,
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
  const { membersUrl, standingsUrl, subgraphSecret: secret } = settings;
  if (membersUrl === undefined || standingsUrl === undefined || secret === undefined) {
    throw new Error(
      'a separate gateway needs MEMBERS_URL, STANDINGS_URL and SUBGRAPH_SECRET; ' +
        '`npm start` in the root folder runs everything in one process',
    );
  }
  const metrics = createMetrics();
  const keyStore = await openKeyStore(settings);
  lifecycle.opened('keys', keyStore.close);
  const openTransport = (name: string, url: string) => {
    const transport = createHttpTransport({ name, url, secret, log, metrics });
    lifecycle.opened(name, transport.close);
    return transport;
  };
  const transports = {
    members: openTransport('members', membersUrl),
    standings: openTransport('standings', standingsUrl),
  };
  const caches = createCaches();
  await serveGateway({ settings, keyStore, transports, lifecycle, caches, metrics, log });
}
