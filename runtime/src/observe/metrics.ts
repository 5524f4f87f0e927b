// Every metric this project exposes, one row each, and the registry that holds them.
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { createHistogram } from './metrics.histogram.ts';

export type MetricRow = {
  name: string;
  type: 'counter' | 'histogram';
  labels: readonly string[];
  meaning: string;
};

/** Beside these, prom-client's own of the process: `process_*` and `nodejs_*`, the event loop's delay among them. */
export const METRICS = {
  request: {
    name: 'loyalty_request_duration_seconds',
    type: 'histogram',
    labels: ['status', 'code'],
    meaning: 'Answers to clients, by HTTP status and first error code, `OK` where there is none.',
  },
  subgraphCall: {
    name: 'loyalty_subgraph_duration_seconds',
    type: 'histogram',
    labels: ['subgraph', 'outcome'],
    meaning: 'Operations asked of a subgraph: `ok`, `error`, `timeout` or `unreachable`.',
  },
  limit: {
    name: 'loyalty_limit_total',
    type: 'counter',
    labels: ['policy', 'outcome'],
    meaning:
      'Verdicts about budgets: `taken`, `refused`, or `insurance` where the process decided alone because what counts for all was away.',
  },
  keyCache: {
    name: 'loyalty_key_cache_total',
    type: 'counter',
    labels: ['outcome'],
    meaning: 'Look-ups of keys: `hit`, `miss`, or `stale` where the key store was away.',
  },
  documentCache: {
    name: 'loyalty_document_cache_total',
    type: 'counter',
    labels: ['outcome'],
    meaning: 'Look-ups of documents: `hit` or `miss`.',
  },
  mail: {
    name: 'loyalty_mail_total',
    type: 'counter',
    labels: ['letter', 'outcome'],
    meaning:
      'Mail that was asked for: `sent`, `dropped` where nobody was to be written to or a limit was reached, `retried` or `failed`.',
  },
} as const satisfies Record<string, MetricRow>;

/** Observing costs a fraction of a microsecond. Label values come from lists in the code, never from a request. */
export type Metrics = {
  /** An answer to a client: its HTTP status, and its first error code or `OK`. */
  request(status: number, code: string, durationMs: number): void;
  /** An operation asked of a subgraph. `timeout` is one that passed its deadline. */
  subgraphCall(
    subgraph: string,
    outcome: 'ok' | 'error' | 'timeout' | 'unreachable',
    durationMs: number,
  ): void;
  limit(policy: string, outcome: 'taken' | 'refused' | 'insurance'): void;
  keyCache(outcome: 'hit' | 'miss' | 'stale'): void;
  documentCache(outcome: 'hit' | 'miss'): void;
  mail(
    letter: 'magic-link' | 'change' | 'changed',
    outcome: 'sent' | 'dropped' | 'retried' | 'failed',
  ): void;
  /** The text of `/metrics`. */
  text(): Promise<string>;
  /** As data that survives JSON, for mergeMetrics. */
  data(): Promise<MetricsData>;
};

export type MetricsData = MetricObjectWithValues<MetricValue<string>>[];

/** A registry of its own, with the process's default metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const request = children(createHistogram(METRICS.request, registry));
  const subgraphCall = children(createHistogram(METRICS.subgraphCall, registry));
  const limit = counter(METRICS.limit, registry);
  const keyCache = counter(METRICS.keyCache, registry);
  const documentCache = counter(METRICS.documentCache, registry);
  const mail = counter(METRICS.mail, registry);
  return {
    request: (status, code, durationMs) => request(status, code).observe(durationMs / 1000),
    subgraphCall: (subgraph, outcome, durationMs) =>
      subgraphCall(subgraph, outcome).observe(durationMs / 1000),
    limit: (policy, outcome) => limit(policy, outcome).inc(),
    keyCache: (outcome) => keyCache(outcome).inc(),
    documentCache: (outcome) => documentCache(outcome).inc(),
    mail: (letter, outcome) => mail(letter, outcome).inc(),
    text: () => registry.metrics(),
    data: () => registry.getMetricsAsJSON(),
  };
}

/** The text of `/metrics` for several processes that share a port. */
export function mergeMetrics(processes: MetricsData[]): Promise<string> {
  return AggregatorRegistry.aggregate(processes).metrics();
}

/** What processes that ended leave to their sum: all that only ever grows. A gauge ends with its process. */
export async function sumOfEnded(processes: MetricsData[]): Promise<MetricsData> {
  const sum: MetricsData = await AggregatorRegistry.aggregate(processes).getMetricsAsJSON();
  // Prom-client's type is an enum of numbers; what it holds is the word.
  return sum.filter(({ type }) => String(type) !== 'gauge');
}

function counter(
  { name, meaning, labels }: MetricRow,
  registry: Registry,
): (first: string, second?: string) => { inc(): void } {
  const metric = new Counter({ name, help: meaning, labelNames: labels, registers: [registry] });
  return children((...values) => metric.labels(...values));
}

/** Keeps what `make` makes for one or two label values: making it costs more than using it. */
function children<Child>(
  make: (...values: string[]) => Child,
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
      child = second === undefined ? make(String(first)) : make(String(first), second);
      row.set(second, child);
    }
    return child;
  };
}
