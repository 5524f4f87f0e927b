// Opens the graph that a gateway starts with, and then follows the source of graphs.
import type {
  Caches,
  Lifecycle,
  Log,
  Metrics,
  Settings,
  Transport,
} from '@partner-loyalty/runtime';
import type { Documents } from '../operation/documents.ts';
import { createConnections } from './connections.ts';
import type { Graph } from './graph.ts';
import type { GraphStore } from './graphstore.ts';
import { type ServedGraphs, serveGraphs } from './served.ts';
import { createGraphSource } from './source.ts';
import { keepForNextStart, watchGraphs } from './watch.ts';

/**
 * `carried` are the subgraphs of this process. The lifecycle closes what this function opens.
 * Rejects if there is no graph that can be served.
 */
export async function openGraphs(options: {
  settings: Settings;
  store: Pick<GraphStore, 'latest' | 'version'>;
  carried: Readonly<Record<string, Transport>>;
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
  const sights = settings.auditLog !== undefined;
  const serve = (graph: Graph) => serveGraphs(graph, { connections, documents, caches, sights });
  const first = await source.first();
  const graphs = await serve(first).then(
    async (served) => {
      await keepForNextStart(source, first, log);
      return served;
    },
    async (error) => {
      const last = await source.last();
      if (last === undefined) throw error;
      log.error({ version: first.version, err: error }, 'the newest graph cannot be served');
      return serve(last);
    },
  );
  const stop = watchGraphs(graphs, source, { log, metrics });
  lifecycle.opened('graphs', async () => stop());
  return graphs;
}
