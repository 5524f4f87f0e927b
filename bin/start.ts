// Runs the gateway and its subgraphs in one process: `npm start`.
import { openKeyStore, serveGateway } from '@partner-loyalty/gateway';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { clearErased } from '@partner-loyalty/runtime/process/erased.open.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { openTracing } from '@partner-loyalty/runtime/process/tracing.ts';
import { settingsOfSubgraph } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import { openRemoteTransport } from '@partner-loyalty/runtime/transport/remote.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { banner, endpointOf } from './demo/banner.ts';
import { fillDemo, storesForDemo } from './demo/demo.ts';
import { SUBGRAPHS, type SubgraphStores } from './subgraphs.ts';

const settings = settingsOrExit('all');
const log = createLog(settings.logLevel);
const metrics = createMetrics();
const caches = createCaches();

await runProcess(log, start, settings);

async function start(lifecycle: Lifecycle): Promise<void> {
  await clearErased(settings, log);
  const tracing = await openTracing(settings, 'all', { lifecycle, log });
  const keys = await openKeyStore(settings);
  lifecycle.opened('keys', keys.close);
  const stores: Partial<SubgraphStores> = {};
  const members = await carry('members', stores, lifecycle);
  const standings = await carry('standings', stores, lifecycle, members.members);
  const inProcess = { ...members, ...standings };

  const emptyStores = await storesForDemo(settings, { keys, ...stores });
  const demoKeys = emptyStores && (await fillDemo(emptyStores, new Date()));
  const { port } = await serveGateway({
    settings,
    keyStore: keys,
    inProcess,
    lifecycle,
    caches,
    metrics,
    tracing,
    log,
  });

  const partners = await keys.partners();
  process.stdout.write(
    banner({
      environment: settings.environment,
      endpoint: endpointOf(settings.host, port),
      demoKeys,
      partnerIds: partners.map(({ partnerId }) => partnerId),
      hasExplorer: settings.explorer === 'on',
    }),
  );
}

/** Starts a subgraph here and adds its store to `stores`, unless it runs in another process. */
async function carry<Name extends keyof SubgraphStores>(
  name: Name,
  stores: Partial<SubgraphStores>,
  lifecycle: Lifecycle,
  carriedMembers?: Transport,
): Promise<Record<string, Transport>> {
  if (settingsOfSubgraph(settings, name).url !== undefined) return {};
  const { openStore, start } = SUBGRAPHS[name];
  const store = await openStore(settings);
  stores[name] = store;
  const members = carriedMembers ?? (await remoteMembers(name, lifecycle));
  const subgraph = await start(store, settings, { log, metrics, members });
  const transport = createInProcessTransport(subgraph, log, caches, metrics);
  lifecycle.opened(name, transport.close);
  return { [name]: transport };
}

/** The transport from standings to members, if members runs in another process. */
async function remoteMembers(
  name: keyof SubgraphStores,
  lifecycle: Lifecycle,
): Promise<Transport | undefined> {
  if (name === 'members') return undefined;
  const members = await openRemoteTransport('members', settings, { log, metrics });
  if (members !== undefined) lifecycle.opened('members', members.close);
  return members;
}
