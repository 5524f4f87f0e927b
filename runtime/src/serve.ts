// A subgraph by itself, over HTTP: answers signed requests only, several operations in one, each on its own.
import type { HttpServer } from './http.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Settings } from './settings.table.ts';
import type { Subgraph } from './subgraph.ts';

/** Listens on the settings' host and port. Unsigned requests get 401 on every path. */
export async function serveSubgraph(_options: {
  subgraph: Subgraph;
  settings: Pick<Settings, 'host' | 'port' | 'subgraphSecret' | 'subgraphSecretOld'>;
  log: Log;
  metrics: Metrics;
}): Promise<HttpServer> {
  throw new Error('not written yet');
}
