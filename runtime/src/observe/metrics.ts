// Every metric that this project exposes, one row each, and the registry that holds them.
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricsData } from './aggregate.ts';
import { createHistogram } from './histogram.ts';

export type MetricRow = {
  name: string;
  type: 'counter' | 'histogram';
  labels: readonly string[];
  meaning: string;
};

/**
 * `/metrics` also has prom-client's metrics of the process, `process_*` and `nodejs_*`, which
 * include the event loop's delay.
 */
export const METRICS = {
  request: {
    name: 'loyalty_request_duration_seconds',
    type: 'histogram',
    labels: ['status', 'code'],
    meaning: 'Responses to clients, by HTTP status and first error code, or `OK` without an error.',
  },
  operation: {
    name: 'loyalty_operations_total',
    type: 'counter',
    labels: ['code'],
    meaning:
      'Operations that a subgraph in a process of its own executed, by first error code, or `OK`.',
  },
  subgraphCall: {
    name: 'loyalty_subgraph_duration_seconds',
    type: 'histogram',
    labels: ['subgraph', 'outcome'],
    meaning: 'Operations sent to a subgraph: `ok`, `error`, `timeout` or `unreachable`.',
  },
  circuit: {
    name: 'loyalty_circuit_total',
    type: 'counter',
    labels: ['subgraph', 'outcome'],
    meaning:
      'Circuits of subgraphs: `opened` after 5 missed deadlines in a row, `closed` by the next answer, and calls that were `refused` in between.',
  },
  limit: {
    name: 'loyalty_limit_total',
    type: 'counter',
    labels: ['policy', 'outcome'],
    meaning:
      'Budget decisions: `taken`, `refused`, or `insurance` if the shared counters were unavailable and the process decided alone.',
  },
  keyCache: {
    name: 'loyalty_key_cache_total',
    type: 'counter',
    labels: ['outcome'],
    meaning: 'Look-ups of keys: `hit`, `miss`, or `stale` if the key store was unavailable.',
  },
  documentCache: {
    name: 'loyalty_document_cache_total',
    type: 'counter',
    labels: ['outcome'],
    meaning: 'Look-ups of documents: `hit` or `miss`.',
  },
  graph: {
    name: 'supergraph_updates_total',
    type: 'counter',
    labels: ['outcome'],
    meaning:
      'New graphs: `updated`, `refused` if one could not be built, or `unreadable` if their source could not be read.',
  },
  mail: {
    name: 'loyalty_mail_total',
    type: 'counter',
    labels: ['letter', 'outcome'],
    meaning:
      'Requested mail: `sent`, `dropped` if there was no recipient or a limit was reached, `retried` or `failed`.',
  },
  audit: {
    name: 'loyalty_audit_total',
    type: 'counter',
    labels: ['outcome'],
    meaning:
      'The audit log: lines that were `written` or `lost`, and writes that have `failed` and are repeated.',
  },
} as const satisfies Record<string, MetricRow>;

/**
 * An observation takes a fraction of a microsecond. Label values come from lists in the code, never
 * from a request.
 */
export type Metrics = {
  /** A response to a client: its HTTP status, and its first error code or `OK`. */
  request(status: number, code: string, durationMs: number): void;
  /** An operation that a subgraph executed: its first error code or `OK`. */
  operation(code: string): void;
  /** An operation sent to a subgraph. `timeout` means that it missed its deadline. */
  subgraphCall(
    subgraph: string,
    outcome: 'ok' | 'error' | 'timeout' | 'unreachable',
    durationMs: number,
  ): void;
  circuit(subgraph: string, outcome: 'opened' | 'closed' | 'refused'): void;
  limit(policy: string, outcome: 'taken' | 'refused' | 'insurance'): void;
  keyCache(outcome: 'hit' | 'miss' | 'stale'): void;
  documentCache(outcome: 'hit' | 'miss'): void;
  graph(outcome: 'updated' | 'refused' | 'unreadable'): void;
  mail(
    letter: 'magic-link' | 'change' | 'changed' | 'undone' | 'invitation',
    outcome: 'sent' | 'dropped' | 'retried' | 'failed',
  ): void;
  audit(outcome: 'written' | 'lost' | 'failed', count: number): void;
  /** The text of `/metrics`. */
  text(): Promise<string>;
  /** The metrics as data, for mergeMetrics. */
  data(): Promise<MetricsData>;
};

/** Metrics in a registry of their own, with the process's default metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const request = cacheChildren(createHistogram(METRICS.request, registry));
  const subgraphCall = cacheChildren(createHistogram(METRICS.subgraphCall, registry));
  const operation = counter(METRICS.operation, registry);
  const circuit = counter(METRICS.circuit, registry);
  const limit = counter(METRICS.limit, registry);
  const keyCache = counter(METRICS.keyCache, registry);
  const documentCache = counter(METRICS.documentCache, registry);
  const graph = counter(METRICS.graph, registry);
  const mail = counter(METRICS.mail, registry);
  const audit = counter(METRICS.audit, registry);
  return {
    request: (status, code, durationMs) => request(status, code).observe(durationMs / 1000),
    subgraphCall: (subgraph, outcome, durationMs) =>
      subgraphCall(subgraph, outcome).observe(durationMs / 1000),
    operation: (code) => operation(code).inc(),
    circuit: (subgraph, outcome) => circuit(subgraph, outcome).inc(),
    limit: (policy, outcome) => limit(policy, outcome).inc(),
    keyCache: (outcome) => keyCache(outcome).inc(),
    documentCache: (outcome) => documentCache(outcome).inc(),
    graph: (outcome) => graph(outcome).inc(),
    mail: (letter, outcome) => mail(letter, outcome).inc(),
    audit: (outcome, count) => audit(outcome).inc(count),
    text: () => registry.metrics(),
    data: () => registry.getMetricsAsJSON(),
  };
}

function counter(
  { name, meaning, labels }: MetricRow,
  registry: Registry,
): (first: string, second?: string) => { inc(count?: number): void } {
  const metric = new Counter({ name, help: meaning, labelNames: labels, registers: [registry] });
  return cacheChildren((...values) => metric.labels(...values));
}

/** Caches a metric's children by one or two label values: creating one costs more than using it. */
function cacheChildren<Child>(
  create: (...values: string[]) => Child,
): (first: string | number, second?: string) => Child {
  const known = new Map<string | number, Map<string | undefined, Child>>();
  return (first, second) => {
    let row = known.get(first);
    if (row === undefined) {
      row = new Map();
      known.set(first, row);
    }
    let child = row.get(second);
    if (child === undefined) {
      child = second === undefined ? create(String(first)) : create(String(first), second);
      row.set(second, child);
    }
    return child;
  };
}
