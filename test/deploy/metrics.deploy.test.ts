// What deploy/prometheus and deploy/grafana promise: alerts that work, and panels of what exists.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { createMetrics, METRICS } from '@partner-loyalty/runtime/observe/metrics.ts';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/folder.ts';

// What PromQL expressions name, checked against the metrics that the service has.

type Selector = {
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

function selectorsOf(expression: string): Selector[] {
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
function groupingOf(expression: string): string[] {
  return [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
}

/** What deploy/prometheus/prometheus.yaml adds to each series. */
const TARGET_LABELS = ['job', 'environment', 'service', 'instance'];
const SERVICES = ['gateway', 'members', 'standings'];

const rows = new Map<string, { labels: readonly string[]; meaning: string }>(
  Object.values(METRICS).map((row) => [row.name, row]),
);

/** The names of this project's metrics and of those of the process. */
const exposedNames = createMetrics()
  .text()
  .then((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));

/**
 * What an expression names that does not exist: metrics, labels, and values of labels. `recorded`
 * are the names of rules.
 */
async function unknownIn(expression: string, recorded: readonly string[] = []): Promise<string[]> {
  const selectors = selectorsOf(expression).filter(({ metric }) => !recorded.includes(metric));
  const exposed = await exposedNames;
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

function rowOf(metric: string) {
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

// The alerts.

type Rule = {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
};
type AlertTest = { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] };

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/prometheus');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { groups }: { groups: { rules: Rule[] }[] } = parse(read('deploy/prometheus/alerts.yaml'));
const rules = groups.flatMap((group) => group.rules);
const recorded = rules.flatMap(({ record }) => record ?? []);
const alerts = rules.flatMap((rule) => (rule.alert ? [{ ...rule, alert: rule.alert }] : []));
const { tests }: { tests: AlertTest[] } = parse(read('deploy/prometheus/alerts.test.yaml'));
const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
const RUNBOOK = read('docs/operators/runbook.md');

test('promtool accepts the alerts, and each fires for its fault and for nothing else', () => {
  promtool('check', 'rules', join(FOLDER, 'alerts.yaml'));
  promtool('test', 'rules', join(FOLDER, 'alerts.test.yaml'));
});

test('promtool accepts the sample configuration', () => {
  const { scrape_configs: jobs, ...rest } = parse(read('deploy/prometheus/prometheus.yaml'));
  // Debian's promtool is built without the discovery of pods.
  for (const job of jobs) {
    expect(job.kubernetes_sd_configs).toHaveLength(1);
    delete job.kubernetes_sd_configs;
  }
  promtoolOf('config', { ...rest, scrape_configs: jobs });
});

test.each(alerts)(
  '$alert has a test in which it fires and one in which it does not',
  ({ alert }) => {
    const own = cases.filter(({ alertname }) => alertname === alert);
    expect(own.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true);
    expect(own.some(({ exp_alerts }) => exp_alerts.length === 0)).toBe(true);
  },
);

test.each(rules.map((rule) => ({ name: rule.alert ?? rule.record, ...rule })))(
  '$name names metrics and labels that exist',
  async ({ expr }) => {
    expect(await unknownIn(expr, recorded)).toEqual([]);
  },
);

test('a metric, label or value that does not exist is found', async () => {
  const expression = 'sum by (partner) (loyalty_mail_total{kind="x",outcome="lost"}) or nodejs_lag';
  expect(await unknownIn(expression)).toEqual([
    ...['loyalty_mail_total{kind}', 'loyalty_mail_total{outcome="lost"}', 'nodejs_lag', 'partner'],
  ]);
});

test.each(alerts)('$alert says how urgent it is, what is wrong and where to read on', (rule) => {
  expect(rule.labels?.severity).toMatch(/^(page|ticket)$/);
  expect(rule.annotations).toEqual({
    summary: expect.stringMatching(/^\{\{ \$labels\.environment \}\}: \S/),
    runbook: `docs/operators/runbook.md#${rule.alert.toLowerCase()}`,
  });
});

test('the runbook has a section for each alert, and no other', () => {
  const sections = [...RUNBOOK.matchAll(/^### (Loyalty\w+)$/gm)].map(([, name]) => name);
  expect(sections.sort()).toEqual(alerts.map(({ alert }) => alert).sort());
});

function promtool(...args: string[]): void {
  execFileSync('promtool', args, { encoding: 'utf8' });
}

/** Lets promtool check a file with this content, beside the alerts. */
function promtoolOf(what: 'rules' | 'config', content: object): void {
  const folder = temporaryFolder();
  try {
    copyFileSync(join(FOLDER, 'alerts.yaml'), join(folder.path, 'alerts.yaml'));
    const path = join(folder.path, 'checked.yaml');
    // JSON is YAML.
    writeFileSync(path, JSON.stringify(content));
    promtool('check', what, path);
  } finally {
    folder.remove();
  }
}

// The dashboard.

type Panel = {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { uid: string };
  targets?: { refId: string; expr: string; legendFormat: string }[];
};

const { panels }: { panels: Panel[] } = JSON.parse(read('deploy/grafana/partner-loyalty.json'));
const charts = panels.filter(({ type }) => type !== 'row');
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana.
const DATASOURCE = '${datasource}';
/** With the variables of Grafana replaced as it would. */
const expressions = charts.flatMap(({ title, targets = [] }) =>
  targets.map(({ refId, expr }) => ({
    name: `${title} ${refId}`,
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$environment', 'production'),
  })),
);

test.each(expressions)('$name shows metrics and labels that exist', async ({ expr }) => {
  expect(await unknownIn(expr, recorded)).toEqual([]);
});

test('Prometheus can evaluate every expression', () => {
  const rules = expressions.map(({ expr }, place) => ({ record: `expression_${place}`, expr }));
  promtoolOf('rules', { groups: [{ name: 'dashboard', rules }] });
});

test('every chart is of one environment, from the source that the reader chooses', () => {
  expect(charts.length).toBeGreaterThan(10);
  for (const { datasource, targets = [] } of charts) {
    expect(datasource?.uid).toBe(DATASOURCE);
    expect(targets).not.toEqual([]);
    for (const { expr, legendFormat } of targets) {
      for (const [selector] of expr.matchAll(/\{[^}]*\}/g))
        expect(selector).toContain('environment="$environment"');
      expect(legendFormat).not.toBe('');
    }
  }
});

test('what an on-call person asks first comes first: who, which operation, stores, queues', () => {
  const rows = panels.flatMap(({ type }, place) => (type === 'row' ? [place] : []));
  const first = panels.slice(rows[0], rows[1]);
  const shown = JSON.stringify(first.map(({ targets }) => targets));
  for (const metric of [
    'loyalty_partner_requests_total',
    'loyalty_operation_duration_seconds',
    'dependency_up',
    'loyalty_store_room_bytes',
    'loyalty_mail_oldest_seconds',
    'loyalty_event_backlog_seconds',
    'loyalty_webhook_oldest_seconds',
  ])
    expect(shown).toContain(metric);
});

test('failures are those with a status of 500 or more', () => {
  const expr = charts.find(({ title }) => title === 'Failures by partner')?.targets?.[0]?.expr;
  const [, codes = ''] = /code=~"([^"]*)"/.exec(expr ?? '') ?? [];
  const failures = Object.entries(ERRORS).filter(([, { status }]) => status >= 500);
  expect(codes.split('|').sort()).toEqual(failures.map(([code]) => code).sort());
});

test('panels have IDs of their own and do not overlap', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false]);
        taken.add(`${x} ${y}`);
      }
  }
});
