// Every metric this project exposes, one row each, and the registry that holds them.

export const METRICS: readonly { name: string; type: 'counter' | 'histogram' | 'gauge'; labels: readonly string[]; meaning: string }[] = [];

/** Observing costs a fraction of a microsecond. Durations are in milliseconds. */
export type Metrics = {
  /** An answer to a client: its HTTP status, and its first error code or `OK`. */
  request(status: number, code: string, durationMs: number): void;
  /** An operation asked of a subgraph. `timeout` is one that passed its deadline. */
  subgraphCall(subgraph: string, outcome: 'ok' | 'error' | 'timeout' | 'unreachable', durationMs: number): void;
  /** A verdict about a budget: `insurance` counts those that the process gave while Redis was away. */
  limit(policy: string, outcome: 'taken' | 'refused' | 'insurance'): void;
  keyCache(outcome: 'hit' | 'miss' | 'stale'): void;
  documentCache(outcome: 'hit' | 'miss'): void;
  /** The text of `/metrics`. */
  text(): Promise<string>;
  /** As data, to be merged over several processes with prom-client's AggregatorRegistry. */
  json(): Promise<object>;
};

/** A registry of its own, with the process's default metrics. */
export function createMetrics(): Metrics {
  throw new Error('not written yet');
}
