// Follows the source of graphs: a new graph replaces the one that is served.
import { type Loop, startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Graph } from './graph.ts';
import type { ServedGraphs } from './served.ts';
import { type GraphSource, UnreadableFile } from './source.ts';

/** Every gateway serves a graph within 5 seconds of its publication. */
const CHECK_MS = 1_000;
/** A graph that cannot be served is built again this often: most reasons need a new one. */
const RETRY_MS = 60_000;

type Observe = {
  log: Pick<Log, 'info' | 'warn' | 'error' | 'outage' | 'recovered'>;
  metrics: Pick<Metrics, 'graph'>;
};

/**
 * Looks for a new graph every second, until the loop is stopped. Of several new graphs,
 * the newest that can be built serves. One that cannot is tried again every minute. A source that
 * cannot be read changes nothing. `refused` is a graph that was tried just before.
 */
export function watchGraphs(
  graphs: Pick<ServedGraphs, 'replace' | 'current'>,
  source: Omit<GraphSource, 'lastServed'>,
  { log, metrics, refused }: Observe & { refused?: Graph | undefined },
): Loop {
  let waiting = refused;
  let triedAt = performance.now();

  async function check(): Promise<void> {
    const isDue = waiting !== undefined && performance.now() - triedAt >= RETRY_MS;
    const next = await source.next();
    const newest = next ?? (isDue ? waiting : undefined);
    if (newest === undefined) return;
    waiting = newest;
    triedAt = performance.now();
    const before = async (graph: Graph) => {
      // Earlier versions were tried when this one was first refused.
      const isLast = next === undefined || graph.version - 1 <= graphs.current().version;
      return isLast ? undefined : source.before(graph);
    };
    const options = { observe: { log, metrics }, message: 'a new graph cannot be served' };
    const served = await serveNewest(newest, graphs.replace, before, options).catch(() => {});
    if (served === undefined) return;
    const { graph } = served;
    if (graph === newest) waiting = undefined;
    metrics.graph('updated');
    log.info({ version: graph.version }, 'a new graph serves');
    await keepForNextStart(source, graph, log);
  }

  return startLoop(check, {
    everyMs: CHECK_MS,
    failed(error) {
      metrics.graph('unreadable');
      log.outage(explain(error), 'the source of graphs is unavailable');
    },
    recovered: () => log.recovered({}, 'the source of graphs is available again'),
  });
}

/**
 * Serves the newest graph or, while that cannot be served, the one that `before` gives. Each that
 * is refused is logged. Rejects as the last one does if none is served, or as `before` does.
 */
export async function serveNewest<Served>(
  newest: Graph,
  serve: (graph: Graph) => Promise<Served>,
  before: (refused: Graph, fault: unknown) => Promise<Graph | undefined>,
  {
    observe: { log, metrics },
    message,
  }: {
    observe: { log: Pick<Log, 'error'>; metrics: Pick<Metrics, 'graph'> };
    message: string;
  },
): Promise<{ graph: Graph; served: Served }> {
  let graph = newest;
  for (;;) {
    try {
      return { graph, served: await serve(graph) };
    } catch (error) {
      metrics.graph('refused');
      log.error({ version: graph.version, err: error, reason: reasonOf(error) }, message);
      const older = await before(graph, error);
      if (older === undefined) throw error;
      graph = older;
    }
  }
}

/** Notes that a graph serves. It does so without the note, as on a disk that cannot be written. */
export async function keepForNextStart(
  source: Pick<GraphSource, 'serves'>,
  graph: Graph,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const { version } = graph;
  await source
    .serves(graph)
    .catch((err) => log.warn({ version, err }, 'the graph could not be kept for the next start'));
}

function explain(error: unknown): LogFields {
  return error instanceof UnreadableFile
    ? { reason: reasonOf(error) }
    : { store: 'graph', err: error };
}

/** Messages of composition quote nothing but schemas. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : String(error);
}
