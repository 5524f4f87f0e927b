// Follows the source of graphs: a new graph replaces the one that is served.
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { unlessBusy } from '@partner-loyalty/runtime/unlessbusy.ts';
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
 * Looks for a new graph every second until the returned function is called. A graph that cannot be
 * built changes nothing, and is tried again every minute; neither does a source that cannot be
 * read. `refused` is a graph that was tried just before.
 */
export function watchGraphs(
  graphs: Pick<ServedGraphs, 'replace'>,
  source: GraphSource,
  { log, metrics, refused }: Observe & { refused?: Graph | undefined },
): () => void {
  let isReadable = true;
  let waiting = refused;
  let triedAt = performance.now();

  async function check(): Promise<void> {
    const isDue = waiting !== undefined && performance.now() - triedAt >= RETRY_MS;
    const graph = (await source.next()) ?? (isDue ? waiting : undefined);
    if (graph === undefined) return;
    const { version } = graph;
    try {
      await graphs.replace(graph);
      waiting = undefined;
    } catch (error) {
      waiting = graph;
      triedAt = performance.now();
      reportRefused(graph, error, 'a new graph cannot be served', { log, metrics });
      return;
    }
    metrics.graph('updated');
    log.info({ version }, 'a new graph serves');
    await keepForNextStart(source, graph, log);
  }

  const look = unlessBusy(() =>
    check().then(
      () => {
        if (!isReadable) log.recovered({}, 'the source of graphs is available again');
        isReadable = true;
      },
      (error: unknown) => {
        metrics.graph('unreadable');
        log.outage(explain(error), 'the source of graphs is unavailable');
        isReadable = false;
      },
    ),
  );
  const timer = setInterval(look, CHECK_MS).unref();
  return () => clearInterval(timer);
}

export function reportRefused(
  { version }: Graph,
  error: unknown,
  message: string,
  { log, metrics }: { log: Pick<Log, 'error'>; metrics: Pick<Metrics, 'graph'> },
): void {
  metrics.graph('refused');
  log.error({ version, err: error, reason: reasonOf(error) }, message);
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
