// Every metric that this project exposes, one row each.
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ERRORS } from '../errors.ts';
import type { MaybePromise } from '../maybe.ts';
import { OWN_SUBGRAPHS } from '../settings/subgraphs.ts';
import { EMBEDDED_STORES, type StoreName } from '../store/private.ts';
import { ownVersion } from '../version.ts';
import { createLabels, OTHER } from './labels.ts';
import {
  CountedSeries,
  createGauge,
  createPeaks,
  createSeries,
  type MetricRow,
  ObservedSeries,
  type ReadGauge,
  type WriteMetric,
} from './series.ts';

// Typed as text, since there are others too.
const SUBGRAPHS: readonly string[] = OWN_SUBGRAPHS;
export const WEBHOOK_ATTEMPTS = ['delivered', 'refused', 'unreachable', 'timeout'] as const;
const CODES: readonly string[] = ['OK', ...Object.keys(ERRORS)];

/**
 * `/metrics` also has prom-client's metrics of the process, `process_*` and `nodejs_*`, which
 * include the event loop's delay. `series` are those that are there from the start, at 0: a rate
 * misses the first event of a series that begins with it. Series of partners begin with their use.
 */
export const METRICS = {
  request: histogram<[status: number, code: string]>({
    name: 'loyalty_request_duration_seconds',
    labels: ['status', 'code'],
    series: [
      [200, 'OK'],
      ...Object.entries(ERRORS).map(([code, { status }]): [number, string] => [status, code]),
    ],
    meaning: 'Responses to clients, by HTTP status and first error code, or `OK` without an error.',
  }),
  executed: histogram<[surface: string, operation: string]>({
    name: 'loyalty_operation_duration_seconds',
    labels: ['surface', 'operation'],
    series: pairs(['partner', 'member'], [OTHER]),
    meaning:
      'Requests that executed an operation, by its name: the first 10 names that each of the first 300 partners used 100 times, from then on, and as many of members without a partner; `other` is all others, and those without a name.',
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
    series: [[]],
    meaning:
      'Requests that were refused because their caller, or all callers, had too many in progress.',
  }),
  closed: counter({
    name: 'loyalty_connections_closed_total',
    labels: ['reason'],
    series: each(['full', 'unread', 'memory']),
    meaning:
      'Connections that were closed: for a new one (`full`), because their client did not read a response (`unread`), or because the bodies from their address took too much memory (`memory`).',
  }),
  budgetUsed: peak({
    name: 'loyalty_budget_used_ratio',
    labels: ['partner'],
    meaning:
      "How much of the budget of a partner's busiest key was used in the last 1 to 2 minutes, as far as this process answered its requests: from 0 to 1, which is all of it. The first 300 partners, and `other`.",
  }),
  operation: counter({
    name: 'loyalty_subgraph_operations_total',
    labels: ['code'],
    series: each(CODES),
    meaning:
      'Operations that a subgraph in a process of its own executed, by first error code, or `OK`.',
  }),
  subgraphCall: histogram({
    name: 'loyalty_subgraph_duration_seconds',
    labels: ['subgraph', 'outcome'],
    series: pairs(SUBGRAPHS, ['ok', 'error', 'timeout', 'unreachable']),
    meaning: 'Operations sent to a subgraph: `ok`, `error`, `timeout` or `unreachable`.',
  }),
  circuit: counter({
    name: 'loyalty_circuit_total',
    labels: ['subgraph', 'outcome'],
    series: pairs(SUBGRAPHS, ['opened', 'closed', 'refused']),
    meaning:
      'Circuits of subgraphs: `opened` after 5 missed deadlines in a row and a probe without an answer, `closed` by the next answer, and calls that were `refused` in between.',
  }),
  limit: counter({
    name: 'loyalty_limit_total',
    labels: ['policy', 'outcome'],
    series: pairs(
      ['key', 'member', 'refusal', 'page', 'app', 'registry'],
      ['taken', 'refused', 'insurance'],
    ),
    meaning:
      'Budget decisions: `taken`, `refused`, or `insurance` if the shared counters were unavailable and the process decided by its own count.',
  }),
  keyCache: counter({
    name: 'loyalty_key_cache_total',
    labels: ['outcome'],
    series: each(['hit', 'miss', 'stale']),
    meaning:
      'Look-ups of keys: `hit` if memory answered, even that there is no such key; `miss` if the key store did, or `stale` if it was unavailable.',
  }),
  documentCache: counter({
    name: 'loyalty_document_cache_total',
    labels: ['outcome'],
    series: each(['hit', 'miss']),
    meaning: 'Look-ups of documents: `hit` or `miss`.',
  }),
  graph: counter({
    name: 'supergraph_updates_total',
    labels: ['outcome'],
    series: each(['updated', 'refused', 'unreadable']),
    meaning:
      'New graphs: `updated`, `refused` if one could not be built, or `unreadable` if their source could not be read.',
  }),
  mail: counter({
    name: 'loyalty_mail_total',
    labels: ['letter', 'outcome'],
    series: pairs(
      ['magic-link', 'code', 'change', 'changed', 'undone', 'invitation', 'notice'],
      ['sent', 'dropped', 'retried', 'failed'],
    ),
    meaning:
      'Requested mail: `sent`, `dropped` if there was no recipient or a limit was reached, `retried` or `failed`.',
  }),
  signIn: counter({
    name: 'loyalty_sign_in_total',
    labels: ['outcome'],
    series: each(['success', 'wrong_code', 'expired', 'limited', 'refused']),
    meaning:
      'Sign-ins on the page of the service: `success`; `wrong_code`; `expired`, or ended by wrong codes; `limited`, for too many mails; `refused`, for an address that the member no longer has, or that is locked.',
  }),
  mailLimited: counter<[partnerId: string]>({
    name: 'loyalty_mail_limited_total',
    labels: ['partner'],
    meaning:
      'Mail that was not sent because the partner had used up its invitations of 24 hours, among which links to unconfirmed addresses count: the first 300 partners, and `other`.',
  }),
  mailQueue: gauge({
    name: 'loyalty_mail_queue',
    labels: [],
    meaning:
      'Mail that is not sent yet, as the process that sends mail knows it: up to 5 seconds old. Processes that share a store report the same queue.',
  }),
  mailOldest: gauge({
    name: 'loyalty_mail_oldest_seconds',
    labels: [],
    meaning:
      'How long ago the oldest mail that is not sent yet was requested, or 0 if there is none: of the first 500 codes, mails of partners and mails about changes each.',
  }),
  webhookDelivery: sum<[partnerId: string, outcome: 'delivered' | 'failed']>({
    name: 'loyalty_webhook_deliveries_total',
    labels: ['partner', 'outcome'],
    meaning:
      "Webhook messages that were `delivered` or, after the last attempt or with their endpoint, have `failed`: the first 300 partners, and `other`. A partner's series begin with its first endpoint.",
  }),
  webhookAttempt: sum<[partnerId: string, outcome: (typeof WEBHOOK_ATTEMPTS)[number]]>({
    name: 'loyalty_webhook_attempts_total',
    labels: ['partner', 'outcome'],
    meaning:
      'Attempts to send a webhook message, by outcome: `delivered`, `refused` by another status, `unreachable`, or `timeout`. The first 300 partners, and `other`.',
  }),
  webhookBacklog: gauge({
    name: 'loyalty_webhook_backlog',
    labels: ['partner'],
    meaning:
      "The events that are not delivered yet to a partner's endpoints, those of other types included, as the process that delivers to an endpoint counts them. The first 300 partners, and `other`.",
  }),
  webhookOldest: gauge({
    name: 'loyalty_webhook_oldest_seconds',
    labels: ['partner'],
    meaning:
      'How long ago the oldest event occurred that is not delivered yet to an endpoint of the partner, replays apart, or 0 if there is none. The first 300 partners, and `other`.',
  }),
  eventBacklog: gauge({
    name: 'loyalty_event_backlog_seconds',
    labels: [],
    meaning:
      'How long ago every event had its position in the feed: no waiting event is older. From the process of standings that gives positions, or that cannot find out which one does.',
  }),
  audit: sum<[outcome: 'written' | 'lost' | 'failed']>({
    name: 'loyalty_audit_total',
    labels: ['outcome'],
    series: each(['written', 'lost', 'failed']),
    meaning:
      'The audit log: lines that were `written` or `lost`, and writes that have `failed` and are repeated.',
  }),
  dependencyUp: gauge({
    name: 'dependency_up',
    labels: ['dependency'],
    meaning:
      'What `/readyz` says of each dependency: 1 if it is up, 0 if it is down, its disk is full or the process manages without it.',
  }),
  storeBytes: gauge({
    name: 'loyalty_store_bytes',
    labels: ['store'],
    meaning: 'The size of the file of each embedded store in `DATA_DIR`.',
  }),
  storeRoom: gauge({
    name: 'loyalty_store_room_bytes',
    labels: ['store'],
    meaning: 'The space that is left on the disk with this file.',
  }),
  storeRetry: counter<[store: StoreName]>({
    name: 'loyalty_store_retries_total',
    labels: ['store'],
    series: each(EMBEDDED_STORES),
    meaning:
      'Transactions on MongoDB that ran again, because others had written what they read or because the server had undone them.',
  }),
  circuitOpen: gauge({
    name: 'loyalty_circuit_open',
    labels: ['subgraph'],
    meaning: '1 while the circuit of a subgraph is open, else 0.',
  }),
  limiterFallback: gauge({
    name: 'loyalty_limiter_fallback',
    labels: [],
    meaning:
      '1 while the process counts budgets on its own because Redis does not respond, else 0.',
  }),
  cacheBytes: gauge({
    name: 'loyalty_cache_bytes',
    labels: [],
    meaning: 'What the caches hold, as they measure it.',
  }),
  supergraphVersion: gauge({
    name: 'supergraph_version',
    labels: [],
    meaning: 'The version of the graph that is served; 0 is the one in the code.',
  }),
  build: gauge({
    name: 'loyalty_build_info',
    labels: ['version', 'commit', 'node'],
    meaning: 'Always 1. The labels have the versions of the service and of Node, and `COMMIT`.',
  }),
};

/** How many operation names of each owner get series, and how often they are used before. */
const OPERATIONS = { most: 10, uses: 100 };
const MAX_PARTNERS = 300;
/** The label of requests without a partner. A partner with this ID is counted as `other`. */
const NO_PARTNER = 'none';

type Methods = {
  [Name in keyof typeof METRICS]: ReturnType<(typeof METRICS)[Name]['open']>;
};

type ReadOfPartners = () => MaybePromise<Iterable<readonly [partnerId: string, value: number]>>;

/**
 * A method for each row: an observation, which takes a fraction of a microsecond; or for a gauge, a
 * further source of its values, which is asked whenever metrics are read. Label values come from
 * lists in the code, or are bounded by createLabels.
 */
export type Metrics = Omit<Methods, 'executed' | 'webhookBacklog' | 'webhookOldest'> & {
  executed(
    surface: string,
    partnerId: string | undefined,
    operation: string | undefined,
    durationMs: number,
  ): void;
  /** Adds a source of values, of which a partner may have several: they are added up. */
  webhookBacklog(read: ReadOfPartners): void;
  /** The same, of which the highest counts. */
  webhookOldest(read: ReadOfPartners): void;
  /** The text of `/metrics`. */
  text(): Promise<string>;
};

/**
 * The metrics of a process, and prom-client's of the process itself. `commit` is the one that the
 * process was built from.
 */
export function createMetrics(commit = 'unknown'): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const own: WriteMetric[] = [];
  const opened = Object.entries(METRICS).map(([name, row]) => [name, row.open(own)]);
  // Cast: each method is that of the row with its name.
  const methods = Object.fromEntries(opened) as Methods;
  const versions = { version: ownVersion(), commit, node: process.version };
  methods.build(() => [[versions, 1]]);
  const knownPartner = createLabels(MAX_PARTNERS, 1);
  const partnerLabel = (partnerId: string | undefined): string =>
    partnerId === undefined
      ? NO_PARTNER
      : knownPartner(partnerId === NO_PARTNER ? OTHER : partnerId);
  const joined =
    (read: ReadOfPartners, join: (one: number, other: number) => number): ReadGauge =>
    async () => {
      const values = new Map<string, number>();
      for (const [partnerId, value] of await read()) {
        const label = partnerLabel(partnerId);
        values.set(label, join(values.get(label) ?? 0, value));
      }
      return Array.from(values, ([partner, value]) => [{ partner }, value]);
    };
  // Each owner has names of its own: nobody takes the places of another's.
  const operationLabels = new Map([[OTHER, createLabels(0, OPERATIONS.uses)]]);
  return {
    ...methods,
    executed(surface, partnerId, operation, durationMs) {
      const owner = partnerLabel(partnerId);
      const labelOf = operationLabels.get(owner) ?? createLabels(OPERATIONS.most, OPERATIONS.uses);
      operationLabels.set(owner, labelOf);
      methods.executed(surface, labelOf(operation), durationMs);
    },
    mailLimited: (partnerId) => methods.mailLimited(partnerLabel(partnerId)),
    partner: (partnerId, code) => methods.partner(partnerLabel(partnerId), code),
    budgetUsed: (partnerId, ratio) => methods.budgetUsed(partnerLabel(partnerId), ratio),
    webhookDelivery: (partnerId, ...rest) =>
      methods.webhookDelivery(partnerLabel(partnerId), ...rest),
    webhookAttempt: (partnerId, ...rest) =>
      methods.webhookAttempt(partnerLabel(partnerId), ...rest),
    webhookBacklog: (read) => methods.webhookBacklog(joined(read, (one, other) => one + other)),
    webhookOldest: (read) => methods.webhookOldest(joined(read, Math.max)),
    text: async () =>
      (await Promise.all([...own.map((write) => write()), registry.metrics()])).join(''),
  };
}

/** Series with these values of their only label. */
function each<const Value>(values: readonly Value[]): [Value][] {
  return values.map((value) => [value]);
}

/** Series with every pair of values of their two labels. */
function pairs<const First, const Second>(
  firsts: readonly First[],
  seconds: readonly Second[],
): [First, Second][] {
  return firsts.flatMap((first) => seconds.map((second): [First, Second] => [first, second]));
}

/** A row with series that are there from the start. */
type RowOf<Values> = MetricRow & { series?: readonly Values[] };

/** `Values` are those of the labels. */
function counter<Values extends [first?: string | undefined, second?: string]>(row: RowOf<Values>) {
  return {
    ...row,
    type: 'counter',
    open(metrics: WriteMetric[]): (...values: Values) => void {
      const countOf = createSeries('counter', row, metrics, CountedSeries);
      return (first?: string, second?: string) => countOf(first, second).inc();
    },
  };
}

/** A counter of several at once. With 0, a series begins. */
function sum<Values extends [first: string, second?: string]>(row: RowOf<Values>) {
  return {
    ...row,
    type: 'counter',
    open(metrics: WriteMetric[]): (...given: [...values: Values, count: number]) => void {
      const countOf = createSeries('counter', row, metrics, CountedSeries);
      return (...given) => {
        const count = given.pop() as number; // Cast: it is the last one.
        countOf(...(given as unknown as Values)).inc(count);
      };
    },
  };
}

/** `Values` are those of the two labels. */
function histogram<Values extends [first: string | number, second: string]>(row: RowOf<Values>) {
  return {
    ...row,
    type: 'histogram',
    open(
      metrics: WriteMetric[],
    ): (first: Values[0], second: Values[1], durationMs: number) => void {
      const seriesOf = createSeries('histogram', row, metrics, ObservedSeries);
      return (first, second, durationMs) => seriesOf(first, second).observe(durationMs / 1000);
    },
  };
}

/** A gauge by one label, of the highest value in the last minute or two. */
function peak(row: MetricRow) {
  return { ...row, type: 'gauge', open: (metrics: WriteMetric[]) => createPeaks(row, metrics) };
}

function gauge(row: MetricRow) {
  return { ...row, type: 'gauge', open: (metrics: WriteMetric[]) => createGauge(row, metrics) };
}
