// Follows the source of graphs: a new graph replaces the one that is served.
import type { Log, Metrics } from '@partner-loyalty/runtime';
import type { Graph } from './graph.ts';
import type { ServedGraphs } from './served.ts';
import type { GraphSource } from './source.ts';

/** Every gateway serves a graph within 5 seconds of its publication. */
const CHECK_MS = 1_000;

/**
 * Looks for a new graph every second until the returned function is called. A graph that cannot be
 * built changes nothing; neither does a source that cannot be read, which is logged once.
 */
export function watchGraphs(
  graphs: Pick<ServedGraphs, 'replace'>,
  source: GraphSource,
  {
    log,
    metrics,
  }: { log: Pick<Log, 'info' | 'warn' | 'error' | 'outage'>; metrics: Pick<Metrics, 'graph'> },
): () => void {
  let isReadable = true;
  let isBusy = false;

  async function check(): Promise<void> {
    const graph = await source.next();
    if (graph === undefined) return;
    const { version } = graph;
    try {
      await graphs.replace(graph);
    } catch (error) {
      metrics.graph('refused');
      log.error({ version, err: error, reason: reasonOf(error) }, 'a new graph cannot be served');
      return;
    }
    metrics.graph('updated');
    log.info({ version }, 'a new graph serves');
    await keepForNextStart(source, graph, log);
  }

  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    check()
      .then(
        () => {
          if (!isReadable) log.info({}, 'the source of graphs is available again');
          isReadable = true;
        },
        (error: unknown) => {
          metrics.graph('unreadable');
          if (isReadable) log.outage({ err: error }, 'the source of graphs is unavailable');
          isReadable = false;
        },
      )
      .finally(() => {
        isBusy = false;
      });
  }, CHECK_MS).unref();
  return () => clearInterval(timer);
}

/** Notes that a graph serves. It does so without the note, as on a disk that cannot be written. */
export async function keepForNextStart(
  source: Pick<GraphSource, 'serves'>,
  graph: Graph,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  try {
    await source.serves(graph);
  } catch (error) {
    log.warn(
      { version: graph.version, err: error },
      'the graph could not be kept for the next start',
    );
  }
}

/** Messages of composition quote nothing but schemas. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : String(error);
}
