// Every metric that this project exposes, one row each, and the registry that holds them.
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ownVersion } from '../version.ts';
import { createLabels, OTHER } from './labels.ts';
import { createCounter, createGauge, createHistogram, type MetricRow } from './series.ts';

/**
 * `/metrics` also has prom-client's metrics of the process, `process_*` and `nodejs_*`, which
 * include the event loop's delay.
 */
export const METRICS = {
  request: histogram<[status: number, code: string, durationMs: number]>({
    name: 'loyalty_request_duration_seconds',
    labels: ['status', 'code'],
    meaning: 'Responses to clients, by HTTP status and first error code, or `OK` without an error.',
  }),
  executed: histogram<[surface: string, operation: string | undefined, durationMs: number]>({
    name: 'loyalty_operation_duration_seconds',
    labels: ['surface', 'operation'],
    meaning:
      'Requests that executed an operation, by its name: the first 50 names that were used 100 times, from then on; `other` is all others, and those without a name.',
  }),
  partner: counter<[partnerId: string | undefined, code: string]>({
    name: 'loyalty_partner_requests_total',
    labels: ['partner', 'code'],
    meaning:
      'Requests by partner and first error code, or `OK`: the first 300 partners, and `other`; `none` has those of no partner.',
  }),
  shed: counter<[]>({
    name: 'loyalty_shed_requests_total',
    labels: [],
    meaning:
      'Requests that were refused because their caller, or all callers, had too many in progress.',
  }),
  closed: counter<[reason: 'full' | 'unread' | 'memory']>({
    name: 'loyalty_connections_closed_total',
    labels: ['reason'],
    meaning:
      'Connections that were closed: for a new one (`full`), because their client did not read a response (`unread`), or because of what their address had sent of bodies (`memory`).',
  }),
  operation: counter<[code: string]>({
    name: 'loyalty_subgraph_operations_total',
    labels: ['code'],
    meaning:
      'Operations that a subgraph in a process of its own executed, by first error code, or `OK`.',
  }),
  subgraphCall: histogram<
    [subgraph: string, outcome: 'ok' | 'error' | 'timeout' | 'unreachable', durationMs: number]
  >({
    name: 'loyalty_subgraph_duration_seconds',
    labels: ['subgraph', 'outcome'],
    meaning: 'Operations sent to a subgraph: `ok`, `error`, `timeout` or `unreachable`.',
  }),
  circuit: counter<[subgraph: string, outcome: 'opened' | 'closed' | 'refused']>({
    name: 'loyalty_circuit_total',
    labels: ['subgraph', 'outcome'],
    meaning:
      'Circuits of subgraphs: `opened` after 5 missed deadlines in a row, `closed` by the next answer, and calls that were `refused` in between.',
  }),
  limit: counter<[policy: string, outcome: 'taken' | 'refused' | 'insurance']>({
    name: 'loyalty_limit_total',
    labels: ['policy', 'outcome'],
    meaning:
      'Budget decisions: `taken`, `refused`, or `insurance` if the shared counters were unavailable and the process decided alone.',
  }),
  keyCache: counter<[outcome: 'hit' | 'miss' | 'stale']>({
    name: 'loyalty_key_cache_total',
    labels: ['outcome'],
    meaning: 'Look-ups of keys: `hit`, `miss`, or `stale` if the key store was unavailable.',
  }),
  documentCache: counter<[outcome: 'hit' | 'miss']>({
    name: 'loyalty_document_cache_total',
    labels: ['outcome'],
    meaning: 'Look-ups of documents: `hit` or `miss`.',
  }),
  graph: counter<[outcome: 'updated' | 'refused' | 'unreadable']>({
    name: 'supergraph_updates_total',
    labels: ['outcome'],
    meaning:
      'New graphs: `updated`, `refused` if one could not be built, or `unreadable` if their source could not be read.',
  }),
  mail: counter<
    [
      letter: 'magic-link' | 'change' | 'changed' | 'undone' | 'invitation',
      outcome: 'sent' | 'dropped' | 'retried' | 'failed',
    ]
  >({
    name: 'loyalty_mail_total',
    labels: ['letter', 'outcome'],
    meaning:
      'Requested mail: `sent`, `dropped` if there was no recipient or a limit was reached, `retried` or `failed`.',
  }),
  mailLimited: counter<[partnerId: string]>({
    name: 'loyalty_mail_limited_total',
    labels: ['partner'],
    meaning:
      'Mail that was not sent because the partner had used up its invitations of 24 hours, among which links to unconfirmed addresses count: the first 300 partners, and `other`.',
  }),
  audit: sum<'written' | 'lost' | 'failed'>({
    name: 'loyalty_audit_total',
    labels: ['outcome'],
    meaning:
      'The audit log: lines that were `written` or `lost`, and writes that have `failed` and are repeated.',
  }),
  dependencyUp: gauge({
    name: 'dependency_up',
    labels: ['dependency'],
    meaning:
      'What `/readyz` says of each dependency: 1 if it is up, 0 if it is down or the process manages without it.',
  }),
  circuitOpen: gauge({
    name: 'loyalty_circuit_open',
    labels: ['subgraph'],
    meaning: '1 while the circuit of a subgraph is open, else 0.',
  }),
  limiterFallback: gauge({
    name: 'loyalty_limiter_fallback',
    labels: [],
    meaning: '1 while the process counts budgets alone because Redis does not respond, else 0.',
  }),
  cacheBytes: gauge({
    name: 'loyalty_cache_bytes',
    labels: [],
    meaning: 'What the caches hold, as they measure it.',
  }),
  supergraphVersion: gauge({
    name: 'supergraph_version',
    labels: [],
    meaning: 'The version of the graph that serves; 0 is the one of the code.',
  }),
  build: gauge({
    name: 'loyalty_build_info',
    labels: ['version', 'node'],
    meaning: 'Always 1. The labels have the versions of the service and of Node.',
  }),
};

/** Names of operations with series of their own, and how often they are used before. */
const OPERATIONS = { most: 50, uses: 100 };
const MAX_PARTNERS = 300;
/** The label of requests without a partner. A partner with this ID is counted as `other`. */
const NO_PARTNER = 'none';

type Methods = {
  [Name in keyof typeof METRICS]: ReturnType<(typeof METRICS)[Name]['open']>;
};

/**
 * A method for each row: an observation, which takes a fraction of a microsecond; or for a gauge, a
 * further source of its values, which is asked whenever metrics are read. Label values come from
 * lists in the code, or are bounded by createLabels.
 */
export type Metrics = Methods & {
  /** The text of `/metrics`. */
  text(): Promise<string>;
};

/** Metrics in a registry of their own, with the process's default metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const opened = Object.entries(METRICS).map(([name, row]) => [name, row.open(registry)]);
  // Cast: each method is that of the row with its name.
  const methods = Object.fromEntries(opened) as Methods;
  const versions = { version: ownVersion(), node: process.version };
  methods.build(() => [[versions, 1]]);
  const { executed, partner } = methods;
  const operationLabel = createLabels(OPERATIONS.most, OPERATIONS.uses);
  const partnerLabel = createLabels(MAX_PARTNERS, 1);
  return {
    ...methods,
    executed: (surface, name, durationMs) => executed(surface, operationLabel(name), durationMs),
    partner(partnerId, code) {
      const known = partnerId === NO_PARTNER ? OTHER : partnerId;
      partner(known === undefined ? NO_PARTNER : partnerLabel(known), code);
    },
    mailLimited: (partnerId) => methods.mailLimited(partnerLabel(partnerId)),
    text: () => registry.metrics(),
  };
}

/** `Values` are those of the labels. */
function counter<Values extends [first?: string | undefined, second?: string]>(row: MetricRow) {
  return {
    ...row,
    type: 'counter',
    open(registry: Registry): (...values: Values) => void {
      const countOf = cacheChildren(createCounter(row, registry));
      return (first?: string, second?: string) => countOf(first, second).inc();
    },
  };
}

/** A counter of several at once, by one label. */
function sum<Value extends string>(row: MetricRow) {
  return {
    ...row,
    type: 'counter',
    open(registry: Registry): (value: Value, count: number) => void {
      const countOf = cacheChildren(createCounter(row, registry));
      return (value, count) => countOf(value).inc(count);
    },
  };
}

/** `Values` are those of the two labels, then the duration in milliseconds. */
function histogram<
  Values extends [first: string | number, second: string | undefined, durationMs: number],
>(row: MetricRow) {
  return {
    ...row,
    type: 'histogram',
    open(registry: Registry): (...values: Values) => void {
      const seriesOf = cacheChildren(createHistogram(row, registry));
      return (first, second, durationMs) => seriesOf(first, second).observe(durationMs / 1000);
    },
  };
}

function gauge(row: MetricRow) {
  return { ...row, type: 'gauge', open: (registry: Registry) => createGauge(row, registry) };
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
