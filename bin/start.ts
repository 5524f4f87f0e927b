// Runs the gateway and its subgraphs in one process: `npm start`.
import { openKeyStore, serveGateway, sharedCounters } from '@partner-loyalty/gateway';
import {
  createCaches,
  createHttpTransport,
  createInProcessTransport,
  createLog,
  createMetrics,
  type Lifecycle,
  readEnv,
  readSettings,
  runWorkers,
  type Settings,
  type Transport,
} from '@partner-loyalty/runtime';
import { banner, endpointOf } from './demo/banner.ts';
import { fillDemo, storesForDemo } from './demo/demo.ts';
import { SUBGRAPHS, type SubgraphStores } from './subgraphs.ts';

const settings = settingsOrExit();
const log = createLog(settings.logLevel);
const metrics = createMetrics();
const caches = createCaches();

const shared = sharedCounters(settings);

await runWorkers({ settings, log, start, ...(shared !== undefined && { shared }) });

async function start(lifecycle: Lifecycle): Promise<void> {
  const keys = await openKeyStore(settings);
  lifecycle.opened('keys', keys.close);
  const stores: Partial<SubgraphStores> = {};
  const transports = {
    members: await connect('members', stores, lifecycle),
    standings: await connect('standings', stores, lifecycle),
  };

  const emptyStores = await storesForDemo(settings, { keys, ...stores });
  const demoKeys = emptyStores && (await fillDemo(emptyStores, new Date()));
  const { port } = await serveGateway({
    settings,
    keyStore: keys,
    transports,
    lifecycle,
    caches,
    metrics,
    log,
  });

  if (lifecycle.worker?.first === false) return;
  const [partner] = await keys.partners();
  process.stdout.write(
    banner({
      environment: settings.environment,
      endpoint: endpointOf(settings.host, port),
      demoKeys,
      partnerId: partner?.partnerId,
    }),
  );
}

/** Connects to a subgraph in another process, or starts it here and adds its store to `stores`. */
async function connect<Name extends keyof SubgraphStores>(
  name: Name,
  stores: Partial<SubgraphStores>,
  lifecycle: Lifecycle,
): Promise<Transport> {
  const { remoteUrl, openStore, start } = SUBGRAPHS[name];
  const url = remoteUrl(settings);
  let transport: Transport;
  if (url === undefined) {
    const store = await openStore(settings);
    stores[name] = store;
    const subgraph = await start(store, settings, { log, metrics });
    transport = createInProcessTransport(subgraph, log, caches, metrics);
  } else {
    const secret = settings.subgraphSecret ?? ''; // The settings require it along with the address.
    transport = createHttpTransport({ name, url, secret, log, metrics });
  }
  lifecycle.opened(name, transport.close);
  return transport;
}

function settingsOrExit(): Settings {
  try {
    return readSettings(readEnv(), 'all');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(1);
  }
}
