// What deploy/prometheus promises: the alerts work, and the runbook explains each of them.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/folder.ts';
import { unknownIn } from './metrics.ts';

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
  const folder = temporaryFolder();
  try {
    const { scrape_configs: jobs, ...rest } = parse(read('deploy/prometheus/prometheus.yaml'));
    // Debian's promtool is built without the discovery of pods.
    for (const job of jobs) {
      expect(job.kubernetes_sd_configs).toHaveLength(1);
      delete job.kubernetes_sd_configs;
    }
    const path = join(folder.path, 'prometheus.yaml');
    // JSON is YAML.
    writeFileSync(path, JSON.stringify({ ...rest, scrape_configs: jobs }));
    copyFileSync(join(FOLDER, 'alerts.yaml'), join(folder.path, 'alerts.yaml'));
    promtool('check', 'config', path);
  } finally {
    folder.remove();
  }
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
  expect(await unknownIn('rate(loyalty_requests_total[5m]) > 0')).toEqual([
    'loyalty_requests_total',
  ]);
  expect(await unknownIn('sum by (partner) (up{service="gateway"})')).toEqual(['partner']);
  expect(await unknownIn('loyalty_mail_total{kind="x",outcome="lost"}')).toEqual([
    'loyalty_mail_total{kind}',
    'loyalty_mail_total{outcome="lost"}',
  ]);
  expect(await unknownIn('sum(up{service="proxy"}) or nodejs_lag')).toEqual([
    'up{service="proxy"}',
    'nodejs_lag',
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
