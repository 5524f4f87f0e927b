// What deploy/grafana promises: the dashboard shows metrics that exist, in panels that fit.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/folder.ts';
import { unknownIn } from './metrics.ts';

type Panel = {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { uid: string };
  targets?: { refId: string; expr: string; legendFormat: string }[];
};

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { panels }: { panels: Panel[] } = JSON.parse(read('deploy/grafana/partner-loyalty.json'));
const charts = panels.filter(({ type }) => type !== 'row');
const { groups }: { groups: { rules: { record?: string }[] }[] } = parse(
  read('deploy/prometheus/alerts.yaml'),
);
const recorded = groups.flatMap(({ rules }) => rules.flatMap(({ record }) => record ?? []));
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
  const folder = temporaryFolder();
  try {
    const path = join(folder.path, 'expressions.yaml');
    const rules = expressions.map(({ expr }, place) => ({ record: `expression_${place}`, expr }));
    // JSON is YAML.
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    execFileSync('promtool', ['check', 'rules', path], { encoding: 'utf8' });
  } finally {
    folder.remove();
  }
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
