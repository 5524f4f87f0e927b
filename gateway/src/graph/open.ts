// Opens the graph that a gateway starts with, and then follows the source of graphs.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Lifecycle } from '@partner-loyalty/runtime/process/lifecycle.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { Documents } from '../document/documents.ts';
import { createConnections, WrongSettings } from './connections.ts';
import type { Graph, GraphStore } from './graph.ts';
import { type ServedGraphs, serveGraphs } from './served.ts';
import { createGraphSource } from './source.ts';
import { keepForNextStart, serveNewest, watchGraphs } from './watch.ts';

/**
 * `inProcess` are the subgraphs of this process. The lifecycle closes what this function opens.
 * Rejects if there is no graph that can be served.
 */
export async function openGraphs(options: {
  settings: Settings;
  store: Pick<GraphStore, 'latest' | 'version' | 'tables'>;
  inProcess: Readonly<Record<string, Transport>>;
  documents: Documents;
  lifecycle: Pick<Lifecycle, 'opened'>;
  caches: Caches;
  log: Log;
  metrics: Metrics;
}): Promise<ServedGraphs> {
  const { settings, store, documents, lifecycle, caches, log, metrics } = options;
  const connections = createConnections(options);
  lifecycle.opened('subgraphs', connections.close);
  const source = createGraphSource(settings, store, log);
  const audits = settings.auditLog !== undefined;
  const serve = (graph: Graph) => serveGraphs(graph, { connections, documents, caches, audits });
  const first = await source.first();
  const observe = { log, metrics };
  // A setting that is missing has to be set, unless an earlier version does without it.
  const isLast = (older: Graph, fault: unknown) =>
    older.version === 0 && fault instanceof WrongSettings;
  const { graph, served: graphs } = await serveNewest(first, serve, source, {
    ...{ observe, isLast, message: 'the newest graph cannot be served' },
  }).catch((error) => Promise.reject(withAdvice(error, first)));
  await keepForNextStart(source, graph, log);
  const refused = graph === first ? undefined : first;
  const stop = watchGraphs(graphs, source, { ...observe, refused });
  lifecycle.opened('graphs', async () => stop());
  return graphs;
}

/** What to do about a published graph without which this gateway has none to serve. */
function withAdvice(error: unknown, { version }: Graph): unknown {
  if (version === 0 || !(error instanceof Error)) return error;
  return new Error(
    `${error.message}\nVersion ${version} of the graph, the newest that is published, needs it, and there is no earlier one that can be served. Correct this, or publish another version: loyalty supergraph rollback VERSION`,
    { cause: error },
  );
}
