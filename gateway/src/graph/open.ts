// Opens the graph that a gateway starts with, and then follows the source of graphs.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Lifecycle } from '@partner-loyalty/runtime/process/lifecycle.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { Documents } from '../document/documents.ts';
import { createConnections } from './connections.ts';
import type { Graph, GraphStore } from './graph.ts';
import { type ServedGraphs, serveGraphs } from './served.ts';
import { createGraphSource } from './source.ts';
import { keepForNextStart, reportRefused, watchGraphs } from './watch.ts';

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
  let refused: Graph | undefined;
  const graphs = await serve(first).then(
    async (served) => {
      await keepForNextStart(source, first, log);
      return served;
    },
    async (error) => {
      const last = await source.last();
      if (last === undefined) throw withAdvice(error, first);
      refused = first;
      reportRefused(first, error, 'the newest graph cannot be served', { log, metrics });
      return serve(last);
    },
  );
  const stop = watchGraphs(graphs, source, { log, metrics, refused });
  lifecycle.opened('graphs', async () => stop());
  return graphs;
}

/** What to do about a published graph without which this gateway has none to serve. */
function withAdvice(error: unknown, { version }: Graph): unknown {
  if (version === 0 || !(error instanceof Error)) return error;
  return new Error(
    `${error.message}\nVersion ${version} of the graph, the newest that is published, needs it, and this gateway has kept no earlier one. Correct this, or publish another version: loyalty supergraph rollback VERSION`,
    { cause: error },
  );
}
