// Keeps the results of each part, and writes RESULTS.md and the chart from all that are kept.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawChart } from './chart.ts';
import { FIGURES, type FigureName, type FigureRow, keeps } from './figures.ts';
import type { Outcome, Table } from './parts/part.ts';
import { shown, shownSpread } from './statistics.ts';

export type Result = Outcome & {
  part: string;
  title: string;
  /** The version of Node measured. */
  node: string;
  date: string;
  command: string;
  machine: string;
  /** Versions of the peers, and the load generator. */
  versions: string;
};

const FOLDER = join(import.meta.dirname, 'results');

/** Keeps a result in the place of the earlier one of the same part and major version of Node. */
export function keep(result: Result): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(
    join(FOLDER, `${result.part}.node${majorOf(result)}.json`),
    `${JSON.stringify(result, null, 2)}\n`,
  );
}

/** Writes bench/RESULTS.md and bench/results.svg from what is kept; `parts` gives the order. */
export function writeReport(parts: readonly string[]): void {
  const results = (existsSync(FOLDER) ? readdirSync(FOLDER) : [])
    .filter((name) => name.endsWith('.json'))
    .map((name): Result => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')))
    .sort((a, b) => parts.indexOf(a.part) - parts.indexOf(b.part) || a.node.localeCompare(b.node));
  const lines = [
    '# Results',
    '',
    '<!-- Written by `npm run bench`; edits are lost. -->',
    '',
    'What is measured and how: [README.md](README.md). Medians, with the least and the greatest round in brackets. Ratios are taken round by round, of one run.',
    '',
    '## The figures to reach',
    '',
    figuresTable(results),
    '',
    ...results.flatMap(section),
  ];
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), `${lines.join('\n').trimEnd()}\n`);
  writeFileSync(
    join(import.meta.dirname, 'results.svg'),
    drawChart(results.filter(({ bars }) => bars !== undefined)),
  );
}

/** A result for a terminal. */
export function printed({ tables, figures, notes }: Outcome): string {
  const rows = entries(figures).map(([name, value]) => [
    FIGURES[name].meaning,
    goalOf(name),
    shownSpread(value),
    verdict(name, value.median),
  ]);
  const all: Table[] = [
    ...tables,
    ...(rows.length > 0 ? [{ title: 'Figures', columns: ['', 'goal', 'measured', ''], rows }] : []),
  ];
  return [
    ...all.map((table) => `${table.title}\n${aligned([table.columns, ...table.rows])}\n`),
    ...notes,
  ].join('\n');
}

function section(result: Result): string[] {
  const { title, node, date, command, machine, versions, tables, notes } = result;
  return [
    `## ${title}, Node ${node}`,
    '',
    `\`${command}\`, ${date}, ${machine}. ${versions}.`,
    '',
    ...tables.flatMap((table) => [`${table.title}:`, '', markdown(table.columns, table.rows), '']),
    ...notes.flatMap((note) => [note, '']),
  ];
}

function figuresTable(results: readonly Result[]): string {
  const majors = [...new Set(results.map(majorOf))].sort();
  const rows = FIGURE_NAMES.map((name) => [
    FIGURES[name].meaning,
    goalOf(name),
    ...majors.map((major) => {
      const value = results.find(
        (result) => majorOf(result) === major && result.figures[name] !== undefined,
      )?.figures[name];
      return value === undefined
        ? 'not measured'
        : `${shownSpread(value)} ${verdict(name, value.median)}`.trim();
    }),
  ]);
  return markdown(['', 'goal', ...majors.map((major) => `Node ${major}`)], rows);
}

function goalOf(name: FigureName): string {
  const { atLeast, atMost }: FigureRow = FIGURES[name];
  if (atLeast !== undefined) return `at least ${shown(atLeast)}`;
  return atMost === undefined ? 'stated' : `at most ${shown(atMost)}`;
}

function verdict(name: FigureName, value: number): string {
  const kept = keeps(name, value);
  return kept === undefined ? '' : kept ? '✓' : '✗';
}

const majorOf = ({ node }: Result): string => node.split('.')[0] ?? node;

// Casts: the keys of an object typed with these keys.
const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];
const entries = <V>(row: Partial<Record<FigureName, V>>) =>
  Object.entries(row) as [FigureName, V][];

function markdown(columns: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map((_, index) => (index === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

function aligned(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join('  ')).join('\n');
}
