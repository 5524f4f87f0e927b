// Serves the gateway on its ports: clients on PORT, health and metrics on ADMIN_PORT.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Tracing } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import type { Lifecycle } from '@partner-loyalty/runtime/process/lifecycle.ts';
import type { Ports } from '@partner-loyalty/runtime/process/ports.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { openNowOrLater } from '@partner-loyalty/runtime/store/later.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { Counters } from './budget/counters.ts';
import { createDocuments } from './document/documents.ts';
import { openGateway } from './gateway.ts';
import { openGraphs } from './graph/open.ts';
import type { ServedGraphs } from './graph/served.ts';
import type { KeyStore } from './identity/keystore.ts';
import { createViewer } from './identity/viewer.ts';
import type { GatewayExtension } from './ports.ts';
import { openCounters, openGraphStore } from './stores.ts';
import { NO_USAGE } from './usage/usage.ts';

/**
 * Opens the counters and the gateway over an open store, then serves the ports. The lifecycle
 * closes what this function opens, the clients' port first.
 */
export async function serveGateway(options: {
  settings: Settings;
  ports: Ports;
  keyStore: KeyStore;
  /** The subgraphs of this process, by name. The caller closes them. */
  inProcess: Readonly<Record<string, Transport>>;
  extensions?: readonly GatewayExtension[];
  lifecycle: Lifecycle;
  metrics: Metrics;
  caches: Caches;
  tracing?: Tracing | undefined;
  log: Log;
}): Promise<void> {
  const { settings, ports, keyStore, inProcess, lifecycle, metrics, caches, tracing, log } =
    options;
  const { extensions = [] } = options;
  const counters = await openCounters(settings, log);
  lifecycle.opened('counters', async () => counters.close());
  const documents = createDocuments(caches, metrics);
  const parts = { settings, caches, log, metrics, documents, tracing };
  const openGraph = () => openGraphStore({ ...settings, metrics });
  const store = await openStore('graph', openGraph, { lifecycle, log });
  const viewer = createViewer(keyStore, settings);
  const carried = {
    ...inProcess,
    [viewer.name]: createInProcessTransport(viewer, log, caches, metrics),
  };
  const graphs = await openGraphs({ ...parts, store, inProcess: carried, lifecycle });
  const [openUsage] = extensions.flatMap((extension) => extension.openUsage ?? []);
  const use = (await openUsage?.(settings, { caches, log, metrics, lifecycle })) ?? NO_USAGE;
  const [audit] = extensions.flatMap(({ openAudit }) => openAudit?.(settings, parts) ?? []);
  if (audit !== undefined) lifecycle.opened('audit', audit.close);
  const gateway = openGateway(
    { ...parts, ...use, audit, keyStore, counters, graphs, graphStore: store },
    extensions,
  );
  lifecycle.opened('extensions', gateway.close);
  watchGateway(metrics, { graphs, counters, caches });
  await ports.serve(gateway);
}

type OpenedStore = { close(): Promise<void> };

/** Opens a store, later if its engine is unavailable now. The lifecycle closes it. */
export async function openStore<Store extends OpenedStore>(
  name: string,
  open: () => Promise<Store>,
  { lifecycle, log }: { lifecycle: Pick<Lifecycle, 'opened'>; log: Pick<Log, 'outage'> },
): Promise<Store> {
  const store = await openNowOrLater(open, (err) =>
    log.outage({ store: name, err }, 'a store is unavailable: it opens later'),
  );
  lifecycle.opened(name, () => store.close());
  return store;
}

function watchGateway(
  metrics: Metrics,
  parts: {
    graphs: Pick<ServedGraphs, 'current'>;
    counters: Pick<Counters, 'state'>;
    caches: Pick<Caches, 'bytes'>;
  },
): void {
  const { graphs, counters, caches } = parts;
  metrics.supergraphVersion(() => [[{}, graphs.current().version]]);
  metrics.circuitOpen(() =>
    Array.from(graphs.current().connections, ([subgraph, { transport }]) => [
      { subgraph },
      transport.isGivenUp?.() ? 1 : 0,
    ]),
  );
  metrics.limiterFallback(() => [[{}, counters.state?.() === 'degraded' ? 1 : 0]]);
  metrics.cacheBytes(() => [[{}, caches.bytes()]]);
}
