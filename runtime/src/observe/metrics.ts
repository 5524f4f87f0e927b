// Every metric that this project exposes, one row each, and the registry that holds them.
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ownVersion } from '../version.ts';
import { type Count, createCounter } from './counter.ts';
import { createGauge, type ReadGauge } from './gauges.ts';
import { createHistogram } from './histogram.ts';
import { createLabels, OTHER } from './labels.ts';

export type MetricRow = {
  name: string;
  type: 'counter' | 'histogram' | 'gauge';
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
  executed: {
    name: 'loyalty_operation_duration_seconds',
    type: 'histogram',
    labels: ['surface', 'operation'],
    meaning:
      'Requests that executed an operation, by its name: the first 50 names that were used 100 times, from then on; `other` is all others, and those without a name.',
  },
  partner: {
    name: 'loyalty_partner_requests_total',
    type: 'counter',
    labels: ['partner', 'code'],
    meaning:
      'Requests by partner and first error code, or `OK`: the first 300 partners, and `other`; `none` has those of no partner.',
  },
  shed: {
    name: 'loyalty_shed_requests_total',
    type: 'counter',
    labels: [],
    meaning: 'Requests that were refused because the process was overloaded.',
  },
  operation: {
    name: 'loyalty_subgraph_operations_total',
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
  dependencyUp: {
    name: 'dependency_up',
    type: 'gauge',
    labels: ['dependency'],
    meaning:
      'What `/readyz` says of each dependency: 1 if it is up, 0 if it is down or the process manages without it.',
  },
  circuitOpen: {
    name: 'loyalty_circuit_open',
    type: 'gauge',
    labels: ['subgraph'],
    meaning: '1 while the circuit of a subgraph is open, else 0.',
  },
  limiterFallback: {
    name: 'loyalty_limiter_fallback',
    type: 'gauge',
    labels: [],
    meaning: '1 while the process counts budgets alone because Redis does not respond, else 0.',
  },
  cacheBytes: {
    name: 'loyalty_cache_bytes',
    type: 'gauge',
    labels: [],
    meaning: 'What the caches hold, as they measure it.',
  },
  supergraphVersion: {
    name: 'supergraph_version',
    type: 'gauge',
    labels: [],
    meaning: 'The version of the graph that serves; 0 is the one of the code.',
  },
  build: {
    name: 'loyalty_build_info',
    type: 'gauge',
    labels: ['version', 'node'],
    meaning: 'Always 1. The labels have the versions of the service and of Node.',
  },
} as const satisfies Record<string, MetricRow>;

export type GaugeName = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['type'] extends 'gauge' ? Name : never;
}[keyof typeof METRICS];

/** Names of operations with series of their own, and how often they are used before. */
const OPERATIONS = { most: 50, uses: 100 };
const MAX_PARTNERS = 300;
/** The label of requests without a partner. A partner with this ID is counted as `other`. */
const NO_PARTNER = 'none';

/**
 * An observation takes a fraction of a microsecond. Label values come from lists in the code, or
 * are bounded by createLabels.
 */
export type Metrics = {
  /** A response to a client: its HTTP status, and its first error code or `OK`. */
  request(status: number, code: string, durationMs: number): void;
  /** A request that executed an operation with this name. */
  executed(surface: string, operation: string | undefined, durationMs: number): void;
  /** A request of a partner, if any: its first error code or `OK`. */
  partner(partnerId: string | undefined, code: string): void;
  /** A request that was refused because of overload. */
  shed(): void;
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
  /** Adds a source of a gauge's values, which is asked whenever metrics are read. */
  watch(gauge: GaugeName, read: ReadGauge): void;
  /** The text of `/metrics`. */
  text(): Promise<string>;
};

/** Metrics in a registry of their own, with the process's default metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const request = cacheChildren(createHistogram(METRICS.request, registry));
  const executed = cacheChildren(createHistogram(METRICS.executed, registry));
  const operationLabel = createLabels(OPERATIONS.most, OPERATIONS.uses);
  const partner = counter(METRICS.partner, registry);
  const partnerLabel = createLabels(MAX_PARTNERS, 1);
  const shed = counter(METRICS.shed, registry);
  const gauges = createGauges(registry);
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
    executed: (surface, name, durationMs) =>
      executed(surface, operationLabel(name)).observe(durationMs / 1000),
    partner(partnerId, code) {
      const known = partnerId === NO_PARTNER ? OTHER : partnerId;
      partner(known === undefined ? NO_PARTNER : partnerLabel(known), code).inc();
    },
    shed: () => shed().inc(),
    watch: (gauge, read) => gauges[gauge](read),
    operation: (code) => operation(code).inc(),
    circuit: (subgraph, outcome) => circuit(subgraph, outcome).inc(),
    limit: (policy, outcome) => limit(policy, outcome).inc(),
    keyCache: (outcome) => keyCache(outcome).inc(),
    documentCache: (outcome) => documentCache(outcome).inc(),
    graph: (outcome) => graph(outcome).inc(),
    mail: (letter, outcome) => mail(letter, outcome).inc(),
    audit: (outcome, count) => audit(outcome).inc(count),
    text: () => registry.metrics(),
  };
}

/** By name: how to add a source. The versions of the process are known at once. */
function createGauges(registry: Registry): Record<GaugeName, (read: ReadGauge) => void> {
  const gauges = {
    dependencyUp: createGauge(METRICS.dependencyUp, registry),
    circuitOpen: createGauge(METRICS.circuitOpen, registry),
    limiterFallback: createGauge(METRICS.limiterFallback, registry),
    cacheBytes: createGauge(METRICS.cacheBytes, registry),
    supergraphVersion: createGauge(METRICS.supergraphVersion, registry),
    build: createGauge(METRICS.build, registry),
  };
  const versions = { version: ownVersion(), node: process.version };
  gauges.build(() => [[versions, 1]]);
  return gauges;
}

function counter(row: MetricRow, registry: Registry): (first?: string, second?: string) => Count {
  return cacheChildren(createCounter(row, registry));
}

/** Caches a metric's children by up to two label values: creating one costs more than using it. */
function cacheChildren<Child>(
  create: (...values: string[]) => Child,
): (first?: string | number, second?: string) => Child {
  const known = new Map<string | number | undefined, Map<string | undefined, Child>>();
  return (first, second) => {
    let row = known.get(first);
    if (row === undefined) {
      row = new Map();
      known.set(first, row);
    }
    let child = row.get(second);
    if (child === undefined) {
      child = create(...[first, second].filter((value) => value !== undefined).map(String));
      row.set(second, child);
    }
    return child;
  };
}
