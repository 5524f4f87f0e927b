// Checks PromQL expressions against the metrics that the service has.
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { createMetrics, METRICS } from '@partner-loyalty/runtime/observe/metrics.ts';

export type Selector = {
  metric: string;
  /** The values of each label that the expression compares with: `a` and `b` of `=~"a|b"`. */
  labels: Record<string, string[]>;
};

/** Words that are neither metrics nor labels, as far as our expressions use them. */
const WORDS = new Set([
  ...['and', 'or', 'unless', 'on', 'ignoring', 'bool', 'offset', 'by', 'without', 'group_left'],
  ...['sum', 'max', 'min', 'avg', 'count', 'group', 'topk', 'count_values', 'quantile'],
  ...[
    'rate',
    'increase',
    'changes',
    'histogram_quantile',
    'max_over_time',
    'min_over_time',
    'time',
  ],
]);
const SELECTOR = /([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g;
/** `by (a, b)`, and the like. */
const GROUPING = /\b(?:by|without|on|ignoring|group_left)\s*\(([^)]*)\)/g;
const DURATION = /\[[^\]]*\]|\boffset\s+\w+/g;

export function selectorsOf(expression: string): Selector[] {
  const bare = expression.replace(GROUPING, ' ').replace(DURATION, ' ');
  return [...bare.matchAll(SELECTOR)]
    .filter(([, metric = '']) => !WORDS.has(metric))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: Object.fromEntries(
        [...matchers.matchAll(MATCHER)].map(([, label = '', values = '']) => [
          label,
          values.split('|'),
        ]),
      ),
    }));
}

/** The labels by which an expression groups. */
export function groupingOf(expression: string): string[] {
  return [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
}

/** What deploy/prometheus/prometheus.yaml adds to each series. */
const TARGET_LABELS = ['job', 'environment', 'service', 'instance'];
const SERVICES = ['gateway', 'members', 'standings'];

type Row = { name: string; labels: readonly string[]; meaning: string };

const rows = new Map<string, Row>(Object.values(METRICS).map((row) => [row.name, row]));

/** The names of this project's metrics and of those of the process. */
const names = createMetrics()
  .text()
  .then((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));

/**
 * What an expression names that does not exist: metrics, labels, and values of labels. `recorded`
 * are the names of rules.
 */
export async function unknownIn(
  expression: string,
  recorded: readonly string[] = [],
): Promise<string[]> {
  const selectors = selectorsOf(expression).filter(({ metric }) => !recorded.includes(metric));
  const exposed = await names;
  const labels = selectors.flatMap(({ metric }) => labelsOf(metric, exposed) ?? []);
  return [
    ...selectors.flatMap((selector) => unknownInSelector(selector, exposed)),
    ...groupingOf(expression).filter((label) => ![...TARGET_LABELS, ...labels].includes(label)),
  ];
}

function unknownInSelector({ metric, labels }: Selector, exposed: readonly string[]): string[] {
  const allowed = labelsOf(metric, exposed);
  if (allowed === undefined) return [metric];
  return Object.entries(labels).flatMap(([label, values]) => [
    ...(allowed.includes(label) || TARGET_LABELS.includes(label) ? [] : [`${metric}{${label}}`]),
    ...values
      .filter((value) => !isValue(metric, label, value))
      .map((value) => `${metric}{${label}="${value}"}`),
  ]);
}

function rowOf(metric: string): Row | undefined {
  return rows.get(metric) ?? rows.get(metric.replace(/_(bucket|sum|count)$/, ''));
}

/** The labels of a metric of this project, of the process or of Prometheus itself. */
function labelsOf(metric: string, exposed: readonly string[]): string[] | undefined {
  const row = rowOf(metric);
  if (row === undefined) return metric === 'up' || exposed.includes(metric) ? [] : undefined;
  return [...row.labels, ...(metric.endsWith('_bucket') ? ['le'] : [])];
}

/** The meaning of a metric names the values of its outcomes. */
function isValue(metric: string, label: string, value: string): boolean {
  if (label === 'service') return SERVICES.includes(value);
  if (label === 'code') return value === 'OK' || value in ERRORS;
  if (label === 'outcome') return rowOf(metric)?.meaning.includes(`\`${value}\``) === true;
  return true;
}
