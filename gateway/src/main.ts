// The gateway by itself: both subgraphs run elsewhere, reached by signed HTTP.
import {
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
  const { membersUrl, standingsUrl, subgraphSecret } = settings;
  if (membersUrl === undefined || standingsUrl === undefined || subgraphSecret === undefined) {
    throw new Error(
      'the gateway by itself needs MEMBERS_URL, STANDINGS_URL and SUBGRAPH_SECRET; `npm start` in the root runs everything in one process',
    );
  }
  const metrics = createMetrics();
  const keyStore = await openKeyStore(settings);
  lifecycle.opened('keys', keyStore.close);
  const remote = (name: string, url: string) => {
    const transport = createHttpTransport({ name, url, secret: subgraphSecret, log, metrics });
    lifecycle.opened(name, transport.close);
    return transport;
  };
  const transports = {
    members: remote('members', membersUrl),
    standings: remote('standings', standingsUrl),
  };
  await serveGateway({ settings, keyStore, transports, lifecycle, metrics, log });
}
