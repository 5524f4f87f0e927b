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
import { createGraphSource, type GraphSource } from './source.ts';
import { keepForNextStart, serveNewest, watchGraphs } from './watch.ts';

/**
 * `inProcess` are the subgraphs of this process. The lifecycle closes what this function opens.
 * Rejects if there is no graph that can be served, or if a setting is missing that the newest of
 * those needs, unless this gateway has served an earlier one before.
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
  const before = (refused: Graph, fault: unknown) => graphBefore(source, refused, fault);
  const message = 'the newest graph cannot be served';
  const { graph, served: graphs } = await serveNewest(first, serve, before, { observe, message });
  await keepForNextStart(source, graph, log);
  const refused = graph === first ? undefined : first;
  const { stop } = watchGraphs(graphs, source, { ...observe, refused });
  lifecycle.opened('graphs', stop);
  return graphs;
}

/**
 * The graph to serve instead of one that is refused: the version before. If a setting is missing,
 * only one that this gateway has served will do: any other may be of any age. Rejects with the
 * reason of the refusal if there is none.
 */
async function graphBefore(source: GraphSource, refused: Graph, fault: unknown): Promise<Graph> {
  const { version } = refused;
  const isUnset = fault instanceof WrongSettings;
  const before = await (isUnset ? source.lastServed() : source.before(refused)).catch(() => {});
  if (before !== undefined && before.version < version) return before;
  if (version === 0 || !isUnset) throw fault;
  throw new Error(
    `${fault.message}\nVersion ${version} of the graph, which is published, needs it. Correct this, or publish another version: loyalty supergraph rollback VERSION`,
    { cause: fault },
  );
}
